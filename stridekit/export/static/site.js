// What the lessons add to Sphinx's pages: progress, answers that open folds, a search by sections, links of verdicts.
// site-data.js comes first: globalThis.stridekitSite = {parts, places, sections}. All of it works from a disk.

(() => {
  const { parts, places, sections } = globalThis.stridekitSite;
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const make = (tag, props, ...children) => {
    const node = Object.assign(document.createElement(tag), props);
    node.append(...children);
    return node;
  };

  // The theme of the page is that of its widgets --------------------------------------------------------------------

  const root = document.documentElement;
  const follow = () => (root.dataset.jpThemeLight = String(root.dataset.theme !== "dark"));
  new MutationObserver(follow).observe(root, { attributeFilter: ["data-theme"] });
  follow();

  // Progress: kept in this browser alone; the key of a page is its address, because an origin can hold many sites ---

  const keyOf = (address) =>
    `stridekit ${decodeURIComponent(new URL(address, location.href).pathname).replace(/\.html$/, "")}`;

  /** What is kept of a page, by the names of its parts; null if it was never visited. */
  function read(key) {
    try {
      return JSON.parse(localStorage.getItem(key));
    } catch {
      return null;
    }
  }

  /** Keep some more of this page; a part without a value is forgotten. */
  function keep(kept = {}) {
    const key = keyOf(location.href);
    try {
      localStorage.setItem(key, JSON.stringify({ ...read(key), ...kept }));
    } catch {
      // forbidden or full
    }
    showMarks();
  }

  /** Give a card its kept answer, keep what is answered from now on, and open what gives its answer away. */
  function keepAnswer(card, model) {
    // An answer to another question, or among other choices, says nothing about this one.
    const { kind, question, choices } = model.get("_problem");
    const name = [kind, question, ...choices].join(" | ");
    const kept = read(keyOf(location.href))?.[name];
    if (kept?.shown === true) model.set("_state", kept);
    const tell = () => {
      const state = model.get("_state");
      keep({ [name]: state.shown ? state : undefined });
      const marks = all("[data-widget], details.sk-behind, details.hide:not(.above-input)");
      const below = marks.slice(marks.indexOf(card) + 1);
      const next = below.findIndex((node) => node.matches("[data-asks]"));
      for (const node of below.slice(0, next < 0 ? undefined : next))
        if (node.matches("details")) node.open = state.shown;
    };
    model.on("change:_state", tell);
    setTimeout(tell); // the cards below are told apart once they have begun, too
  }

  /** The same for the goals of an explorer: numbers in the model, texts in the browser. */
  function keepGoals(model) {
    const texts = model.get("_goals").map(({ text }) => text);
    const kept = read(keyOf(location.href)) ?? {};
    const done = model.get("_done") ?? [];
    model.set(
      "_done",
      [...texts.keys()].filter((k) => done.includes(k) || kept[texts[k]] === true),
    );
    model.on("change:_done", () =>
      keep(Object.fromEntries(model.get("_done").map((k) => [texts[k], true]))),
    );
  }

  /** Say beside each link to a lesson how much of it is done, and offer to forget it. */
  function showMarks() {
    for (const mark of all(".sk-done")) mark.remove();
    for (const link of all(".bd-links a, .bd-article table a")) {
      const most = parts[decodeURIComponent(new URL(link.href).pathname.split("/").at(-1))];
      const kept = most && read(keyOf(link.href));
      if (!kept) continue;
      const count = Math.min(Object.keys(kept).length, most);
      const said = `${count} of ${most} cards and goals done`;
      link.after(
        make(
          "span",
          { className: "sk-done", title: said, role: "img", ariaLabel: said },
          count === most ? "✓" : `${count}/${most}`,
        ),
      );
    }
    for (const button of all(".sk-forget")) button.hidden = !all(".sk-done").length;
  }

  document.addEventListener("stridekit-model", ({ target, detail: model }) => {
    if (model.get("_goals")?.length) keepGoals(model);
    if (model.get("_problem")) {
      target.dataset.asks = "";
      keepAnswer(target, model);
    }
    const asked = new URLSearchParams(location.search).get("q");
    if (asked && Object.keys(model.get("_state")).join() === "text")
      model.set("_state", { text: asked });
  });

  // Search: sections that have most of the words, those that few sections have before others ----------------------------

  const wordsOf = (text) => text.toLowerCase().match(/[\p{L}_]{2,}/gu) ?? [];

  /** How many letters only one of two words has: swapped letters count nothing. */
  const distance = (a, b) =>
    a.length - b.length + 2 * [...a].reduce((rest, letter) => rest.replace(letter, ""), b).length;

  /** The words of a question, misspelt ones as the nearest that is known, and its places on the pages, best first. */
  function find(question) {
    const texts = sections.map(([, , heading, text]) => `${heading} ${text}`.toLowerCase());
    const known = [...new Set(texts.flatMap(wordsOf))];
    const words = wordsOf(question).map((word) => {
      if (word.length < 5 || texts.some((text) => text.includes(word))) return word;
      const near = known.filter(
        (other) => other[0] === word[0] && distance(word, other) <= 1 + (word.length > 6),
      );
      return near.sort((a, b) => distance(word, a) - distance(word, b))[0] ?? word;
    });
    const has = (text) => words.map((word) => text.includes(word));
    const counts = words.map((word) => texts.filter((text) => text.includes(word)).length);
    const fit = (text) =>
      has(text).reduce(
        (sum, is, k) => sum + (is && counts[k] ? Math.log(1 + texts.length / counts[k]) : 0),
        0,
      );
    const every = sections.map(([page, anchor, heading, text], k) => {
      const whole = texts[k].includes(question.toLowerCase()) ? 4 : 0;
      const score = fit(texts[k]) + fit(heading.toLowerCase()) + whole;
      const isMost =
        2 * has(texts[k]).filter(Boolean).length >= words.length &&
        2 * score >= fit(words.join(" "));
      return { page, anchor, heading, text, isMost, score };
    });
    return { words, every: every.sort((a, b) => b.score - a.score) };
  }

  function showResults() {
    const question = (new URLSearchParams(location.search).get("q") ?? "").trim();
    const { words, every } = find(question);
    const fitting = every.filter(({ isMost }) => isMost && question);
    const said = words.join(" ");
    const misspelt = words.every((word) => question.toLowerCase().includes(word))
      ? ""
      : ` for “${said}”`;
    const titles = new Map(sections.toReversed().map(([page, , heading]) => [page, heading]));
    const around = (text, at) =>
      `${at > 0 ? "… " : ""}${text.slice(text.indexOf(" ", at), Math.max(0, at) + 240)} …`;
    const list = fitting
      .slice(0, 50)
      .map(({ page, anchor, heading, text }) =>
        make(
          "li",
          {},
          make(
            "a",
            { href: `${page}.html?highlight=${encodeURIComponent(said)}#${anchor}` },
            heading,
          ),
          " ",
          make("small", {}, titles.get(page)),
          make(
            "p",
            { className: "sk-aside" },
            around(text, text.toLowerCase().indexOf(words[0]) - 60),
          ),
        ),
      );
    const count = fitting.length
      ? `${fitting.length} ${fitting.length === 1 ? "place" : "places"}${misspelt}`
      : "Nothing has these words.";
    const status = make("p", { role: "status" }, question && count);
    document
      .querySelector("#search-results")
      .replaceChildren(status, make("ol", { className: "sk-results list-unstyled" }, ...list));
    const offer = document.querySelector(".sk-offer");
    offer.hidden = fitting.length > 0 && words.length < 4;
    if (!fitting.length) status.after(offer);
  }

  // A verdict of Diagnose leads to the section of a lesson that explains it ---------------------------------------------

  new MutationObserver(() => {
    for (const row of all(".sk-paste dl > div")) {
      const [label, words] = row.children;
      const verdict = row.closest(".sk-paste").querySelector(".sk-title").textContent;
      const [lesson, section] = places[verdict] ?? [];
      if (
        label.textContent !== "lesson" ||
        !parts[`${lesson}.html`] ||
        words.firstChild.verdict === verdict
      )
        continue;
      const [, , title] = sections.find(([page]) => page === lesson);
      const href = `${lesson}.html#${section.replaceAll(" ", "-")}`;
      words.replaceChildren(make("a", { href, verdict }, `${title}: ${section}`));
    }
  }).observe(document, { subtree: true, childList: true, characterData: true });

  addEventListener("DOMContentLoaded", () => {
    for (const aside of all(".bd-sidebar-primary"))
      Object.assign(aside, { role: "complementary", ariaLabel: "Contents" });
    const title = "They are kept in this browser, and nowhere else.";
    const button = make(
      "button",
      { type: "button", className: "sk-forget my-3 btn btn-sm border sk-aside", title },
      "Forget my answers",
    );
    document.querySelector(".bd-links, .bd-article table")?.after(button);
    button.onclick = () => {
      if (!confirm("Forget all answers on these pages?")) return;
      for (const key of Object.keys(localStorage))
        if (key.startsWith(keyOf("."))) localStorage.removeItem(key);
      location.reload();
    };
    location.pathname.split("/").at(-1) in parts ? keep() : showMarks();
    for (const event of ["storage", "pageshow"]) addEventListener(event, showMarks);
    if (document.querySelector("#search-results")) {
      Search.performSearch = () => {};
      showResults();
    }
  });
})();
