// The part of the pages that Sphinx does not have: progress, answers that open folds, a search by
// sections, links from verdicts to lessons. All of it works from a disk.

(() => {
  /** @typedef {import("../../widgets/page/shell.js").Model} Model */
  /** @typedef {[page: string, anchor: string, heading: string, text: string]} Section */

  /**
   * The data of the site, which site-data.js has put on the page before: how many cards and goals
   * each page has, which of them are essential, the minutes of each path, the lesson and the section
   * that explain each verdict, and all sections.
   * @typedef {object} SiteData
   * @property {Record<string, number>} parts
   * @property {Record<string, string[]>} essentials
   * @property {Record<string, number>} minutes
   * @property {Record<string, [lesson: string, section: string]>} places
   * @property {Section[]} sections
   */

  /** @type {SiteData} */
  const { parts, essentials, minutes, places, sections } = /** @type {any} */ (globalThis)
    .stridekitSite;

  /**
   * @param {string} selector
   * @returns {any[]}
   */
  const all = (selector) => [...document.querySelectorAll(selector)];

  /**
   * @template {keyof HTMLElementTagNameMap} Tag
   * @param {Tag} tag
   * @param {Record<string, any>} props
   * @param {(Node | string)[]} children
   */
  function make(tag, props, ...children) {
    const node = Object.assign(document.createElement(tag), props);
    node.append(...children);
    return node;
  }

  // The theme of the page is that of its widgets --------------------------------------------------

  const root = document.documentElement;

  function followTheme() {
    root.dataset.jpThemeLight = String(root.dataset.theme !== "dark");
  }

  new MutationObserver(followTheme).observe(root, { attributeFilter: ["data-theme"] });
  followTheme();

  // Progress is kept in this browser alone --------------------------------------------------------

  /**
   * The key of a page is its address, because an origin can hold many sites.
   * @param {string} address
   */
  function keyOf(address) {
    const { pathname } = new URL(address, location.href);
    return `stridekit ${decodeURIComponent(pathname).replace(/\.html$/, "")}`;
  }

  /**
   * The progress on a page, by the names of its parts; null if the page was never visited.
   * @param {string} key
   */
  function read(key) {
    try {
      return JSON.parse(localStorage.getItem(key) ?? "null");
    } catch {
      return null;
    }
  }

  /**
   * Add to the progress on this page; a part whose value is undefined is forgotten.
   * @param {Record<string, any>} progress
   */
  function keep(progress = {}) {
    const key = keyOf(location.href);
    keepAt(key, { ...read(key), ...progress });
    showMarks();
  }

  /** @type {(key: string, value: any) => void} */
  function keepAt(key, value) {
    try {
      localStorage.setItem(key, JSON.stringify(value));
    } catch {
      // forbidden or full
    }
  }

  /**
   * Give a card its kept answer, keep the answers from now on, and open the folds that give the
   * answer away.
   * @param {HTMLElement} card
   * @param {Model} model
   */
  function keepAnswer(card, model) {
    // An answer to another question, or among other choices, says nothing about this question.
    const { kind, question, choices } = model.get("_problem");
    const name = [kind, question, ...choices].join(" | ");
    const { day, ...kept } = read(keyOf(location.href))?.[name] ?? {};
    if (kept.shown === true) model.set("_state", kept);

    function openFolds() {
      for (const fold of foldsBelow(card)) fold.open = model.get("_state").shown;
    }

    model.on("change:_state", () => {
      const state = model.get("_state");
      keep({ [name]: state.shown ? { ...state, day: today() } : undefined });
      openFolds();
    });
    setTimeout(openFolds); // the folds end at the next card, which has to be marked first
  }

  /**
   * The folds between a card and the next one.
   * @param {HTMLElement} card
   */
  function foldsBelow(card) {
    const marks = all("[data-widget], details.sk-behind, details.hide:not(.above-input)");
    const below = marks.slice(marks.indexOf(card) + 1);
    const next = below.findIndex((node) => node.matches("[data-asks]"));
    const between = next < 0 ? below : below.slice(0, next);
    return between.filter((node) => node.matches("details"));
  }

  /**
   * The same for the goals of an explorer, which are indices in the model and texts in the browser.
   * @param {Model} model
   */
  function keepGoals(model) {
    /** @type {string[]} */
    const texts = model.get("_goals").map((/** @type {{ text: string }} */ goal) => goal.text);
    const kept = read(keyOf(location.href)) ?? {};
    const done = model.get("_done") ?? [];
    const indices = [...texts.keys()];
    model.set(
      "_done",
      indices.filter((k) => done.includes(k) || kept[texts[k]] === true),
    );
    model.on("change:_done", () => {
      /** @type {Record<string, boolean>} */
      const reached = {};
      for (const k of model.get("_done")) reached[texts[k]] = true;
      keep(reached);
    });
  }

  const MOST_ANSWERS = 300; // of drills

  /**
   * Let a drill go on from the answers to all drills of the site, with other questions than last
   * time, and keep its answers with their days.
   * @param {Model} model
   */
  function keepDrill(model) {
    const key = keyOf("drill");
    const answers = read(key)?.answers ?? [];
    const state = model.get("_state");
    model.set("_before", { today: today(), answers });
    model.set("_state", { ...state, seed: Math.floor(Math.random() * 2 ** 32) });
    let count = 0;
    model.on("change:_state", () => {
      const { answers: given } = model.get("_state");
      const added = given
        .slice(count)
        .map((/** @type {string[]} */ answer) => [...answer, today()]);
      count = given.length;
      const kept = [...(read(key)?.answers ?? []), ...added];
      if (added.length) keepAt(key, { answers: kept.slice(-MOST_ANSWERS) });
    });
  }

  /** @param {string} pathname */
  const fileOf = (pathname) => pathname.slice(pathname.lastIndexOf("/") + 1);

  /** Show beside each link to a lesson how much of it is done, and offer to forget it. */
  function showMarks() {
    for (const mark of all(".sk-done")) mark.remove();
    for (const link of all(".bd-links a, .bd-article table a, .sk-tile a")) {
      const page = decodeURIComponent(fileOf(new URL(link.href).pathname));
      if (minutes.essentials && essentials[page]?.length === 0) link.dataset.further = "";
      const progress = parts[page] && read(keyOf(link.href));
      const [count, total] = progress ? countOf(page, progress) : [0, 0];
      if (total) link.after(markOf(count, total));
    }
    showProgress();
    const hasProgress = document.querySelector(".sk-done") !== null;
    for (const button of all(".sk-forget")) button.hidden = !hasProgress;
  }

  /** Show at the head of a lesson how much of it is done. */
  function showProgress() {
    const page = decodeURIComponent(fileOf(location.pathname));
    const heading = document.querySelector(".bd-article h1");
    if (!parts[page] || !heading) return;
    for (const line of all(".sk-progress")) line.remove();
    const [kept, total] = countOf(page, read(keyOf(location.href)) ?? {});
    if (!total) return;
    const count = Math.min(kept, total);
    const words = `${count} of ${total} cards and goals done`;
    const bar = make("progress", { value: count, max: total, ariaLabel: words });
    heading.after(make("p", { className: "sk-progress" }, bar, words));
  }

  /**
   * How many parts of a page are done, and how many there are on the chosen path.
   * @type {(page: string, progress: Record<string, any>) => [count: number, total: number]}
   */
  function countOf(page, progress) {
    const names = Object.keys(progress);
    if (chosenPath() === "everything") return [names.length, parts[page]];
    const done = essentials[page].filter((part) =>
      names.some((name) => name === part || questionOf(name) === part),
    );
    return [done.length, essentials[page].length];
  }

  /** The question in the name of a card. */
  const questionOf = (/** @type {string} */ name) => name.split(" | ")[1];

  /** @type {(kept: number, total: number) => HTMLElement} */
  function markOf(kept, total) {
    const count = Math.min(kept, total); // answers to earlier questions may be kept, too
    const title = `${count} of ${total} cards and goals done`;
    const text = count === total ? "✓" : `${count}/${total}`;
    return make("span", { className: "sk-done", title, role: "img", ariaLabel: title }, text);
  }

  document.addEventListener("stridekit-model", (event) => {
    const card = /** @type {HTMLElement} */ (event.target);
    /** @type {Model} */
    const model = /** @type {CustomEvent} */ (event).detail;
    if (model.get("_goals")?.length) keepGoals(model);
    if (model.get("_before")) keepDrill(model);
    if (card.dataset.card) {
      keepReview(card, model);
    } else if (model.get("_problem")) {
      card.dataset.asks = "";
      keepAnswer(card, model);
    }
    const query = new URLSearchParams(location.search).get("q");
    const isDiagnose = Object.keys(model.get("_state")).join() === "text";
    if (query && isDiagnose) model.set("_state", { text: query });
  });

  // The path that the reader has chosen: everything, or the essentials ----------------------------

  const PATH_KEY = keyOf("path");
  const PATHS = { essentials: "The essentials", everything: "Everything" };

  // A site of other notebooks has no essentials.
  const chosenPath = () =>
    minutes.essentials && read(PATH_KEY) === "essentials" ? "essentials" : "everything";
  root.dataset.path = chosenPath(); // before anything is drawn

  function followPath() {
    root.dataset.path = chosenPath();
    for (const input of all(".sk-paths input")) input.checked = input.value === chosenPath();
    showMarks();
  }

  /** Follow what another tab, or a page before this one, has changed. */
  function followRecord() {
    followPath();
    reviewAfterAll();
  }

  /** Two buttons that choose the path, with the minutes of each. */
  function createPaths() {
    const options = Object.entries(PATHS).map(([path, title]) => {
      const input = make("input", { type: "radio", name: "sk-path", value: path });
      input.onchange = () => {
        keepAt(PATH_KEY, path);
        followPath();
      };
      return make("label", {}, input, ` ${title}, ${minutes[path]} minutes`);
    });
    const legend = make("legend", {}, "Your path");
    return make("fieldset", { className: "sk-paths" }, legend, ...options);
  }

  /** On the essentials, a further section is folded until a button or a link opens it. */
  function foldFurther() {
    for (const mark of all("section section > .sk-path-mark[data-mark=further]")) {
      const section = mark.parentElement;
      const button = make("button", { type: "button", className: "sk-show" });
      button.onclick = () => open(!section.classList.contains("sk-open"));
      section.classList.add("sk-further");
      mark.append(button);
      open(false);

      /** @param {boolean} isOpen */
      function open(isOpen) {
        section.classList.toggle("sk-open", isOpen);
        button.ariaExpanded = String(isOpen);
        button.textContent = isOpen ? "hide" : "show";
      }
    }
    openTarget();
  }

  /** Open the folded sections around the place that a link leads to. */
  function openTarget() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    let section = target?.closest(".sk-further");
    while (section) {
      if (!section.classList.contains("sk-open"))
        /** @type {HTMLElement} */ (section.querySelector(".sk-show")).click();
      section = section.parentElement?.closest(".sk-further");
    }
    if (target?.closest(".sk-open")) target.scrollIntoView();
  }

  // A review asks again what was wrong or seen long ago ------------------------------------------

  const MOST_CARDS = 10;

  /** The day as "2026-11-29", where the reader is. */
  function today() {
    const now = new Date();
    const digits = [now.getFullYear(), now.getMonth() + 1, now.getDate()];
    return digits.map((number) => String(number).padStart(2, "0")).join("-");
  }

  /**
   * Whether the last answer to a card was right at once, and its day, "" in old entries; null if
   * there is none.
   * @param {DOMStringMap} card
   * @returns {{ isRight: boolean, day: string } | null}
   */
  function lastAnswer({ page = "", name = "" }) {
    const state = read(keyOf(page))?.[name];
    const reviewed = read(keyOf("review"))?.[name];
    if (reviewed && reviewed.day >= (state?.day ?? "")) return reviewed;
    if (!state?.shown) return null;
    const { first = null, said, day = "" } = state;
    return { isRight: first === null && said !== null, day };
  }

  /** The nodes of the cards to ask: wrong ones first, then those seen on the earliest day. */
  function dueCards() {
    /** @type {Map<string, HTMLElement[]>} */
    const nodesByName = new Map(); // a card, and the same with new numbers
    for (const node of all("#sk-review > [data-card]")) {
      const { name } = node.dataset;
      nodesByName.set(name, [...(nodesByName.get(name) ?? []), node]);
    }
    const seen = [...nodesByName.values()].flatMap((nodes) => {
      const last = lastAnswer(nodes[0].dataset);
      return last ? [{ nodes, ...last }] : [];
    });
    seen.sort((a, b) => a.day.localeCompare(b.day));
    const wrong = seen.filter(({ isRight }) => !isRight);
    const earlier = seen.filter(({ isRight, day }) => isRight && day !== today());
    const due = [...wrong, ...earlier].slice(0, MOST_CARDS).map(({ nodes }) => oneOf(nodes));
    return { due, hasSeen: seen.length > 0 };
  }

  /**
   * One of the nodes of a card: with new numbers, if it has them.
   * @param {HTMLElement[]} nodes
   */
  function oneOf(nodes) {
    const [original, ...anew] = nodes;
    return anew[Math.floor(Math.random() * anew.length)] ?? original;
  }

  /** Leave only the cards that are due on the page of the review, before they come to life. */
  function startReview() {
    const box = document.querySelector("#sk-review");
    if (!box) return;
    const { due, hasSeen } = dueCards();
    for (const node of due) node.dataset.widget = node.dataset.card;
    if (due.length) {
      const cards = due.flatMap((node) => [
        make("p", { className: "sk-aside" }, linkOf(node)),
        node,
      ]);
      box.replaceChildren(...cards, make("div", { className: "sk-summary", role: "status" }));
      showSummary();
    } else if (hasSeen) {
      const praise = "Nothing to review today: your last answers were all right.";
      box.append(make("p", {}, praise));
    } else {
      const link = make("a", { href: "lessons.html" }, "a lesson");
      const words = ["Nothing to review yet: answer some cards in ", link, " first."];
      box.append(make("p", {}, ...words));
    }
  }

  /**
   * A link to the section that a card is from.
   * @param {HTMLElement} card
   */
  function linkOf({ dataset: { page, anchor, lesson = "", section } }) {
    const text = section ? `${lesson}: ${section}` : lesson;
    return make("a", { href: `${page}#${anchor}` }, text);
  }

  /**
   * Keep the first answer to a card of the review.
   * @param {HTMLElement} card
   * @param {Model} model
   */
  function keepReview(card, model) {
    model.on("change:_state", () => {
      const { first = null, said, shown } = model.get("_state");
      const isOpen = first === null && !shown;
      if (isOpen || card.dataset.right) return;
      const isRight = first === null && said !== null;
      card.dataset.right = String(isRight);
      keep({ [card.dataset.name ?? ""]: { isRight, day: today() } });
      showSummary();
    });
  }

  /** Say below the cards how many were right at once, and which sections to read again. */
  function showSummary() {
    const cards = all("#sk-review > [data-widget]");
    const answered = cards.filter(({ dataset }) => dataset.right);
    const wrong = answered.filter(({ dataset }) => dataset.right === "false");
    const rightCount = answered.length - wrong.length;
    const count = `${answered.length} of ${cards.length} answered, ${rightCount} right at once.`;
    /** @type {Map<string, HTMLElement>} */
    const places = new Map();
    for (const node of wrong) places.set(linkOf(node).href, make("li", {}, linkOf(node)));
    const links = [...places.values()];
    /** @type {HTMLElement[]} */
    const parts = [make("p", {}, count)];
    if (links.length) parts.push(make("p", {}, "Read again:"), make("ul", {}, ...links));
    document.querySelector("#sk-review > .sk-summary")?.replaceChildren(...parts);
  }

  // Modules bring the cards to life right after this event.
  document.addEventListener("readystatechange", () => {
    if (document.readyState === "interactive") startReview();
  });

  /**
   * Begin a review that found nothing, if there is something to ask by now. The cards are drawn in
   * place, because Chromium may show a page that is loaded again what it kept before the answer.
   */
  function reviewAfterAll() {
    const isIdle = !document.querySelector("#sk-review > .sk-summary");
    if (!isIdle || !dueCards().due.length) return;
    startReview();
    for (const card of all("#sk-review > [data-widget]"))
      card.dispatchEvent(new Event("stridekit-draw", { bubbles: true }));
  }

  // The list of messages, filtered as one types ---------------------------------------------------

  /** Show the messages that have all words of the filter, and the headings above them. */
  function filterFamilies() {
    const filter = /** @type {HTMLInputElement} */ (document.querySelector("#sk-filter"));
    const words = filter.value.toLowerCase().split(/\s+/);
    const items = all(".sk-families li");
    for (const item of items) {
      const text = `${item.textContent} ${item.dataset.more}`.toLowerCase();
      item.hidden = !words.every((word) => text.includes(word));
    }
    for (const section of all(".sk-families section"))
      section.hidden = !section.querySelector("li:not([hidden])");
    const shown = items.filter((item) => !item.hidden).length;
    const status = /** @type {HTMLElement} */ (document.querySelector(".sk-filter [role=status]"));
    status.textContent = `${shown} of ${items.length}`;
  }

  // Search: sections that have most of the words; words that few sections have count more ---------

  /**
   * @param {string} text
   * @returns {string[]}
   */
  const wordsOf = (text) => text.toLowerCase().match(/[\p{L}_]{2,}/gu) ?? [];

  // Words for one thing: a section that has one of them has them all.
  const SYNONYMS = [
    ["stride", "strides", "step", "steps", "pitch"],
    ["channels-last", "channels_last", "channels last", "nhwc"],
    ["channels-first", "channels first", "nchw"],
    ["contiguous", "non-contiguous", "noncontiguous", "contiguity", "row-major", "row major"],
    ["column-major", "column major", "fortran order", "f-order"],
    ["dim", "dimension", "axis", "axes"],
    ["storage_offset", "storage offset"],
    ["copy", "copies", "clone", "duplicate"],
    ["view", "alias", "aliasing", "shares memory"],
    ["reshape", "resize"],
    ["permute", "reorder", "rearrange"],
    ["inplace", "in-place", "in place"],
    ["broadcast", "broadcasting", "expand"],
    ["overlap", "overlapping", "single memory location"],
    ["kv cache", "kv-cache", "key-value cache"],
    ["ndarray", "numpy array"],
    ["sdpa", "scaled_dot_product_attention", "flash attention"],
  ];

  /** @typedef {{ word: string, forms: string[] }} Term a word of a question, and its synonyms */

  /**
   * The terms of a question that have synonyms, and the question without them.
   * @param {string} question
   */
  function synonymsIn(question) {
    let rest = question.toLowerCase();
    /** @type {Term[]} */
    const terms = [];
    for (const forms of SYNONYMS) {
      const longestFirst = forms.toSorted((a, b) => b.length - a.length);
      const pattern = new RegExp(`(?<![\\w-])(?:${longestFirst.join("|")})(?![\\w-])`, "g");
      const [word] = rest.match(pattern) ?? [];
      if (word) terms.push({ word, forms });
      rest = rest.replaceAll(pattern, " ");
    }
    return { terms, rest };
  }

  /**
   * How many letters only one of two words has: swapped letters count nothing.
   * @type {(a: string, b: string) => number}
   */
  function distance(a, b) {
    let rest = b;
    for (const letter of a) rest = rest.replace(letter, "");
    return a.length - b.length + 2 * rest.length;
  }

  /**
   * The words of a question. A word that no text has becomes the nearest word that some text has.
   * @type {(question: string, texts: string[]) => string[]}
   */
  function spelledWords(question, texts) {
    const vocabulary = [...new Set(texts.flatMap(wordsOf))];
    return wordsOf(question).map((word) => {
      if (word.length < 5 || texts.some((text) => text.includes(word))) return word;
      const most = word.length > 6 ? 2 : 1; // letters
      const near = vocabulary.filter(
        (candidate) => candidate[0] === word[0] && distance(word, candidate) <= most,
      );
      near.sort((a, b) => distance(word, a) - distance(word, b));
      return near[0] ?? word;
    });
  }

  /**
   * The terms of a question, and the sections that fit it, best first.
   * @param {string} question
   */
  function find(question) {
    const texts = sections.map(([, , heading, text]) => `${heading} ${text}`.toLowerCase());
    const { terms, rest } = synonymsIn(question);
    for (const word of spelledWords(rest, texts)) terms.push({ word, forms: [word] });

    /** @type {(text: string, term: Term) => boolean} */
    const has = (text, { forms }) => forms.some((form) => text.includes(form));

    const weights = terms.map((term) => {
      const count = texts.filter((text) => has(text, term)).length;
      return count ? Math.log(1 + texts.length / count) : 0;
    });
    const most = weights.reduce((sum, weight) => sum + weight, 0);

    /** @param {string} text */
    function weightIn(text) {
      let weight = 0;
      for (const [k, term] of terms.entries()) if (has(text, term)) weight += weights[k];
      return weight;
    }

    const rows = sections.map(([page, anchor, heading, text], k) => {
      const forQuestion = texts[k].includes(question.toLowerCase()) ? 4 : 0;
      const score = weightIn(texts[k]) + weightIn(heading.toLowerCase()) + forQuestion;
      const count = terms.filter((term) => has(texts[k], term)).length;
      const hasMost = 2 * count >= terms.length && 2 * score >= most;
      return { page, anchor, heading, text, hasMost, score };
    });
    const fitting = rows.filter(({ hasMost }) => hasMost && question);
    return { terms, fitting: fitting.sort((a, b) => b.score - a.score) };
  }

  /**
   * The text around a position.
   * @type {(text: string, position: number) => string}
   */
  function excerpt(text, position) {
    const start = text.indexOf(" ", position);
    const end = Math.max(0, position) + 240;
    return `${position > 0 ? "… " : ""}${text.slice(start, end)} …`;
  }

  function showResults() {
    const question = (new URLSearchParams(location.search).get("q") ?? "").trim();
    const { terms, fitting } = find(question);
    const words = terms.map(({ word }) => word);
    const read = words.join(" ");
    const isMisspelt = !words.every((word) => question.toLowerCase().includes(word));
    const titles = new Map(sections.toReversed().map(([page, , heading]) => [page, heading]));
    const items = fitting.slice(0, 50).map(({ page, anchor, heading, text }) => {
      const href = `${page}.html?highlight=${encodeURIComponent(read)}#${anchor}`;
      const forms = terms[0]?.forms ?? [];
      const positions = forms.map((form) => text.toLowerCase().indexOf(form));
      const position = Math.min(...positions.filter((place) => place >= 0)) - 60;
      return make(
        "li",
        {},
        make("a", { href }, heading),
        " ",
        make("small", {}, titles.get(page) ?? ""),
        make("p", { className: "sk-aside" }, excerpt(text, position)),
      );
    });
    const count = `${fitting.length} ${fitting.length === 1 ? "place" : "places"}`;
    const result = isMisspelt ? `${count} for “${read}”` : count;
    const message = fitting.length ? result : "Nothing has these words.";
    const status = make("p", { role: "status" }, question && message);
    const list = make("ol", { className: "sk-results list-unstyled" }, ...items);
    document.querySelector("#search-results")?.replaceChildren(status, list);
    const offer = /** @type {HTMLElement} */ (document.querySelector(".sk-offer"));
    offer.hidden = fitting.length > 0 && words.length < 4;
    if (!fitting.length) status.after(offer);
  }

  // A verdict of Diagnose leads to the section of a lesson that explains it -----------------------

  /**
   * Turn the lesson that a row of Diagnose names into a link.
   * @param {Element} row
   */
  function linkLesson(row) {
    const [label, words] = row.children;
    if (label.textContent !== "lesson") return;
    const verdict = row.closest(".sk-paste")?.querySelector(".sk-title")?.textContent ?? "";
    const [lesson, section] = places[verdict] ?? ["", ""];
    const present = /** @type {any} */ (words.firstChild);
    if (!parts[`${lesson}.html`] || present?.verdict === verdict) return;
    const title = sections.find(([page]) => page === lesson)?.[2];
    const href = `${lesson}.html#${section.replaceAll(" ", "-")}`;
    words.replaceChildren(make("a", { href, verdict }, `${title}: ${section}`));
  }

  /**
   * Turn the section that a drill names below a wrong answer into a link.
   * @param {Element} node
   */
  function linkSection(node) {
    const [, lesson, section] = /^lesson (\w+): (.*)$/.exec(node.textContent) ?? [];
    if (!parts[`${lesson}.html`] || node.querySelector("a")) return;
    const title = sections.find(([page]) => page === lesson)?.[2];
    const href = `${lesson}.html#${section.replaceAll(" ", "-")}`;
    node.replaceChildren(make("a", { href }, `lesson ${title}: ${section}`));
  }

  new MutationObserver(() => {
    for (const row of all(".sk-paste dl > div")) linkLesson(row);
    for (const node of all(".sk-drill .sk-section")) linkSection(node);
  }).observe(document, { subtree: true, childList: true, characterData: true });

  /** A button that forgets the answers on all pages of the site. */
  function createForget() {
    const title = "They are kept in this browser, and nowhere else.";
    const className = "sk-forget my-3 btn btn-sm border sk-aside";
    const button = make("button", { type: "button", className, title }, "Forget my answers");
    button.onclick = () => {
      if (!confirm("Forget all answers on these pages?")) return;
      for (const key of Object.keys(localStorage))
        if (key.startsWith(keyOf("."))) localStorage.removeItem(key);
      location.reload();
    };
    return button;
  }

  addEventListener("DOMContentLoaded", () => {
    for (const aside of all(".bd-sidebar-primary"))
      Object.assign(aside, { role: "complementary", ariaLabel: "Contents" });
    document.querySelector(".bd-links, .bd-article table, .sk-tiles")?.after(createForget());
    const list = document.querySelector(".sk-lessons") ?? document.querySelector(".bd-links");
    if (minutes.essentials) list?.before(createPaths());
    foldFurther();
    followPath();
    if (fileOf(location.pathname) in parts) keep();
    else showMarks();
    for (const event of ["storage", "pageshow"]) addEventListener(event, followRecord);
    addEventListener("hashchange", openTarget);
    const filter = /** @type {HTMLElement | null} */ (document.querySelector("#sk-filter"));
    if (filter) {
      filter.oninput = filterFamilies;
      filterFamilies();
    }
    if (document.querySelector("#search-results")) {
      // biome-ignore lint/correctness/noUndeclaredVariables: Sphinx's searchtools.js declares it
      Search.performSearch = () => {};
      showResults();
    }
  });
})();
