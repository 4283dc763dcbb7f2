// What a reader has done, kept in this browser alone: lessons visited, cards answered, goals reached. Where storage is
// forbidden, all else works. The key of a page is its address: an origin can hold many sites.

const PREFIX = "stridekit ";

/** The key of the page at an address, with or without .html at its end. */
export const keyOf = (address) => PREFIX + decodeURIComponent(new URL(address).pathname).replace(/\.html$/, "");

/** What is kept of a page, by the names of its parts; null if it was never visited. */
export function read(key) {
  try {
    const kept = JSON.parse(localStorage.getItem(key));
    return kept && { ...kept };
  } catch {
    return null;
  }
}

/** Keep some more of a page; a part without a value is forgotten. */
export function write(key, parts = {}) {
  try {
    localStorage.setItem(key, JSON.stringify({ ...read(key), ...parts }));
  } catch {
    // forbidden or full
  }
}

/** Forget all pages in the folder of an address. */
export function forget(address) {
  try {
    const folder = keyOf(new URL(".", address));
    for (const key of Object.keys(localStorage)) if (key.startsWith(folder)) localStorage.removeItem(key);
  } catch {
    // forbidden: nothing was kept
  }
}

/** Give a card the answer that was kept, and keep what is answered from now on; `tell` hears of each change. */
export function keepAnswer(key, model, tell) {
  // An answer to another question, or among other choices, says nothing about this one.
  const { kind, question, choices } = model.get("_problem");
  const name = [kind, question, ...choices].join(" | ");
  const kept = read(key)?.[name];
  if (kept?.shown === true) model.set("_state", kept);
  model.on("change:_state", () => {
    const state = model.get("_state");
    write(key, { [name]: state.shown ? state : undefined });
    tell(state.shown);
  });
  tell(model.get("_state").shown);
}

/** The same for the goals of an explorer: numbers in the model, texts in the browser. */
export function keepGoals(key, model, tell) {
  const texts = model.get("_goals").map(({ text }) => text);
  const kept = read(key) ?? {};
  const done = model.get("_done") ?? [];
  model.set("_done", [...texts.keys()].filter((k) => done.includes(k) || kept[texts[k]] === true));
  model.on("change:_done", () => {
    write(key, Object.fromEntries(model.get("_done").map((k) => [texts[k], true])));
    tell();
  });
}

/** How much of a page is done, as a mark and in words. */
export function mark(kept, parts) {
  if (!kept) return ["", ""];
  const count = Math.min(Object.keys(kept).length, parts);
  return [count === parts ? "✓" : `${count}/${parts}`, `${count} of ${parts} cards and goals done`];
}

function showMarks() {
  let isAny = false;
  for (const node of document.querySelectorAll(".sk-done")) {
    const [sign, words] = mark(read(keyOf(new URL(node.dataset.page, location.href))), Number(node.dataset.parts));
    node.textContent = sign;
    node.title = words;
    if (sign) Object.assign(node, { role: "img", ariaLabel: words });
    isAny ||= sign !== "";
  }
  for (const button of document.querySelectorAll(".sk-forget")) button.hidden = !isAny;
}

function createForget() {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "sk-forget", textContent: "Forget my answers" });
  button.title = "They are kept in this browser, and nowhere else.";
  button.onclick = () => {
    if (!confirm("Forget all answers on these pages?")) return;
    forget(location.href);
    location.reload();
  };
  return button;
}

function begin() {
  const here = keyOf(location.href);
  const isLesson = document.querySelector("[data-widget]") !== null;
  document.addEventListener("stridekit-model", ({ target, detail: model }) => {
    if (model.get("_goals")?.length) keepGoals(here, model, showMarks);
    if (!model.get("_problem")) return;
    const behind = target.closest(".jp-Cell")?.nextElementSibling;
    keepAnswer(here, model, (shown) => {
      if (behind?.matches(".sk-behind")) behind.open = shown;
      showMarks();
    });
  });
  if (isLesson) write(here);
  document.querySelector(".sk-contents summary ~ :last-child, .sk-lessons")?.after(createForget());
  showMarks();
  addEventListener("storage", showMarks);
  addEventListener("pageshow", showMarks);
}

if (globalThis.document) begin();
