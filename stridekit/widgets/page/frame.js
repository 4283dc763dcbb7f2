// The corner of a widget: undo, redo, reset, replay, share and full width; one tab stop, after the
// panes.

import { button, h, neighbour, s, set, setAll, show } from "./dom.js";
import { copyText } from "./panels.js";
import { createReplay } from "./replay.js";
import { drawingOf } from "./vector.js";

/** @import { Motion } from "./motion.js" */
/** @import { Model } from "./shell.js" */

// The label, the title, and the paths of the icon in a square of 16.
const TOOLS = {
  undo: ["undo", "undo (Ctrl+Z)", "M6 2.5 2.5 6 6 9.5M3 6h6.5a3.75 3.75 0 0 1 0 7.5H6"],
  redo: ["redo", "redo (Ctrl+Shift+Z)", "M10 2.5 13.5 6 10 9.5M13 6H6.5a3.75 3.75 0 0 0 0 7.5H10"],
  reset: ["reset", "back to the start", "M3 2.5v4h4M3.4 6.3A5.25 5.25 0 1 1 3 9.5"],
  replay: ["replay", "the last step again, slowly", "M8 2.5A5.5 5.5 0 1 1 3 5.7M6.5 5.5v5l4-2.5z"],
  share: ["share", "code, link, picture", "M8 10V2M5 4.5 8 1.5l3 3M5 7H3v7h10V7h-2"],
  wide: [
    "full width",
    "full width (Esc leaves)",
    "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10M2.5 2.5 6.5 6.5M13.5 13.5 9.5 9.5",
  ],
};
const ALONE = 960; // px: a drawing of the usual width,
const BESIDE = 1200; // and with the controls beside it
const TYPED = "textarea, input:not([type=range], [type=checkbox], [type=radio])";
/** @type {Record<string, number>} */
const ACROSS = { ArrowLeft: -1, ArrowRight: 1 };
/** @type {Record<string, number>} */
const DOWN = { ArrowUp: -1, ArrowDown: 1 };

/** @typedef {keyof typeof TOOLS} Tool */
/** @typedef {"undo" | "redo" | "reset"} HistoryTool */

/**
 * `name` is the name of a file with the picture, and `code()` returns the source that reproduces
 * it. `restoring()`, which only notebooks have, returns Python that makes the widget again, as it
 * is. `change(state)` shows another state on behalf of a hand; `onReset` is called before a reset.
 * Widgets without `motion` have no step to show again.
 * @typedef {object} FrameOptions
 * @property {string} id
 * @property {string} name
 * @property {() => string} code
 * @property {() => string} [restoring]
 * @property {(state: any) => void} change
 * @property {() => void} onReset
 * @property {Motion | null} motion
 * @property {AbortSignal} signal
 */

/**
 * @param {Model} model
 * @param {HTMLElement} root
 * @param {FrameOptions} options
 */
export function createFrame(model, root, options) {
  const { id, name, code, restoring, change, onReset, motion, signal } = options;
  const history = historyOf(model);
  const tools = {
    undo: createTool("undo"),
    redo: createTool("redo"),
    reset: createTool("reset"),
    replay: createTool("replay"),
    share: createTool("share"),
    wide: createTool("wide"),
  };
  const { link } = model;
  const share = createShare(root, { id, name, code, restoring, link, opener: tools.share, signal });
  const bar = h(
    "div",
    { class: "sk-tools", role: "toolbar", "aria-label": "the picture", onkeydown: moveFocus },
    ...Object.values(tools),
  );
  const replay = motion ? createReplay(motion, { id, opener: tools.replay }) : null;
  const node = h("div", { class: "sk-frame" }, bar, share.node);
  if (replay) bar.after(replay.node);
  else tools.replay.remove();
  makeTabStop(tools.undo);
  if (!root.showPopover) tools.wide.remove();
  root.addEventListener("keydown", pressByKey);
  document.addEventListener("keydown", leaveByEscape, { signal });
  document.addEventListener("focusin", leaveWithFocus, { signal });
  addEventListener("resize", scaleToWindow, { signal });

  /** @param {Tool} tool */
  function createTool(tool) {
    const [label, title, d] = TOOLS[tool];
    const icon = s("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, s("path", { d }));
    return button("", () => press(tool), { "aria-label": label, title, tabindex: "-1" }, icon);
  }

  /** @param {Tool} tool */
  function press(tool) {
    makeTabStop(tools[tool]);
    if (tool === "share") share.toggle();
    else if (tool === "replay") replay?.toggle();
    else if (tool === "wide") widen(!isWide());
    else step(tool);
  }

  /** @param {HistoryTool} tool */
  function step(tool) {
    if (history.ahead()[tool] === undefined) return;
    if (tool === "reset") onReset();
    change(history.take(tool));
  }

  /** @param {Element} stop */
  function makeTabStop(stop) {
    for (const tool of Object.values(tools)) set(tool, "tabindex", tool === stop ? null : "-1");
  }

  /** @param {KeyboardEvent} event */
  function moveFocus(event) {
    const buttons = /** @type {HTMLElement[]} */ ([...bar.children]);
    const next = neighbour(buttons, ACROSS[event.key]);
    if (!next) return;
    event.preventDefault();
    makeTabStop(next);
    next.focus();
  }

  /** @param {KeyboardEvent} event */
  function pressByKey(event) {
    if (event.defaultPrevented || event.altKey || !(event.ctrlKey || event.metaKey)) return;
    const target = /** @type {HTMLInputElement} */ (event.target);
    if (target.value && target.matches(TYPED)) return; // the text has its own undo
    const tool = toolOf(event);
    if (!tool) return;
    event.preventDefault();
    step(tool);
  }

  // Full width: the widget lies over the page, where nothing cuts it off; the shell keeps its place.

  const isWide = () => root.hasAttribute("popover");

  /** @param {boolean} wide */
  function widen(wide) {
    if (wide === isWide()) return;
    if (wide) {
      root.setAttribute("popover", "manual");
      root.showPopover();
    } else {
      root.removeAttribute("popover");
    }
    scaleToWindow();
    set(tools.wide, "aria-pressed", String(wide));
  }

  /**
   * At full width the drawing is as large as the window allows, and the controls stand beside it. A
   * larger scale lets the widget be less wide, and so perhaps less high: the second look counts.
   */
  function scaleToWindow() {
    set(root, "data-beside", null);
    set(root, "style", null);
    if (!isWide() || innerWidth < BESIDE) return;
    if (hasControls()) set(root, "data-beside", "");
    setScale(innerWidth / usualWidth());
    requestAnimationFrame(() => setTimeout(fitHeight));
  }

  /** A question or a label without controls stays over what it is about. */
  const hasControls = () => root.querySelector(".sk-side :is(button, input, select, ul)") !== null;
  const usualWidth = () => (hasControls() ? BESIDE : ALONE);

  function fitHeight() {
    if (!isWide() || !root.scrollHeight) return;
    const fitting = root.clientHeight / root.scrollHeight;
    if (fitting < 1) setScale(Math.max(1, (innerWidth / usualWidth()) * fitting));
  }

  /** @param {number} scale */
  function setScale(scale) {
    set(root, "style", `zoom:${scale}`);
  }

  /** @param {KeyboardEvent} event */
  function leaveByEscape({ key, defaultPrevented }) {
    if (key === "Escape" && !defaultPrevented) widen(false);
  }

  /**
   * The focus has gone to the page that the widget covers.
   * @param {FocusEvent} event
   */
  function leaveWithFocus(event) {
    if (!isInside(event, root)) widen(false);
  }

  function draw() {
    history.keep(model.get("_state"));
    const { undo, redo, reset } = history.ahead();
    set(tools.undo, "aria-disabled", String(undo === undefined));
    set(tools.redo, "aria-disabled", String(redo === undefined));
    set(tools.reset, "aria-disabled", String(reset === undefined));
  }

  return { node, draw };
}

/**
 * True if an event, seen from the document, happened inside of a node. In a shadow root, its target
 * would be the host.
 * @type {(event: Event, node: Node) => boolean}
 */
const isInside = (event, node) => event.composedPath().includes(node);

/**
 * The tool of a key that is pressed with Ctrl; undefined for other keys.
 * @param {KeyboardEvent} event
 * @returns {HistoryTool | undefined}
 */
function toolOf({ key, shiftKey }) {
  const letter = key.toLowerCase();
  if (letter === "y") return "redo";
  if (letter !== "z") return undefined;
  return shiftKey ? "redo" : "undo";
}

// Undo, redo and reset: the states that a model has had, as steps of a hand -----------------------

const POINTED = ["index", "flat", "followed", "window"]; // where a hand points is no step of its own
const RESTS = 400; // ms without a change end a step: a drag is one, and so is what a cell does
// A line or a card is a step, however fast the next one comes.
const LINES = ["chain", "steps", "moves"];
const MOST = 200; // steps

/** @typedef {ReturnType<typeof createHistory>} History */

// Each view has a model of its own over Jupyter's. All of them have in common the value of a trait
// that never changes.
/** @type {WeakMap<object, History>} */
const histories = new WeakMap();

/**
 * The history of a model, for all of its views.
 * @param {Pick<Model, "get">} model
 */
export function historyOf(model) {
  const key = model.get("_page") ?? model;
  let history = histories.get(key);
  if (!history) {
    const state = model.get("_state");
    const start = model.get("_start") ?? {};
    history = createHistory(state, Object.keys(start).length ? start : state);
    histories.set(key, history);
  }
  return history;
}

/**
 * A history that begins with a state, and whose reset leads to `start`.
 * @param {any} state
 * @param {any} start
 */
export function createHistory(state, start = state, clock = () => performance.now()) {
  let current = state;
  /** @type {any[]} */
  let past = [];
  /** @type {any[]} */
  let future = [];
  let changed = -Infinity; // the time of the last change in ms
  let isReset = false; // whether the next state to keep is that of a reset

  /**
   * @param {any[]} from
   * @param {any[]} to
   */
  function go(from, to) {
    to.push(current);
    changed = -Infinity;
    current = from.pop();
    return current;
  }

  return {
    /** The states that the tools lead to, by their names; undefined for a tool that is disabled. */
    ahead: () => ({
      undo: past.at(-1),
      redo: future.at(-1),
      reset: isSame(current, start) ? undefined : start,
    }),

    /**
     * Use a tool, and return the state to show.
     * @param {HistoryTool} tool
     */
    take(tool) {
      if (tool === "undo") return go(past, future);
      if (tool === "redo") return go(future, past);
      isReset = true;
      return start;
    },

    /**
     * Remember the state on screen.
     * @param {any} next
     */
    keep(next) {
      const before = current;
      current = next;
      if (isSame(before, next)) return;
      future = [];
      const goesOn = !isReset && clock() - changed < RESTS && isEqual(before, next, LINES);
      changed = isReset ? -Infinity : clock();
      isReset = false;
      if (!goesOn) {
        past = [...past.slice(1 - MOST), before];
      } else if (isSame(past.at(-1), next)) {
        past.pop(); // a step that ended where it began
        changed = -Infinity;
      }
    },
  };
}

/** @type {(a: any, b: any, keys: string[]) => boolean} */
const isEqual = (a, b, keys) =>
  keys.every((key) => JSON.stringify(a[key]) === JSON.stringify(b[key]));

/**
 * True if two states differ only in where they point.
 * @type {(a: any, b: any) => boolean}
 */
function isSame(a, b) {
  const keys = Object.keys({ ...a, ...b });
  return isEqual(
    a,
    b,
    keys.filter((key) => !POINTED.includes(key)),
  );
}

// The share menu: the code, the link and the picture of the state on screen -----------------------

/**
 * `link()`, which only exported pages have, returns the address of the state on screen. `opener` is
 * the button of the menu.
 * @typedef {object} ShareOptions
 * @property {string} id
 * @property {string} name
 * @property {() => string} code
 * @property {() => string} [restoring]
 * @property {() => string} [link]
 * @property {HTMLElement} opener
 * @property {AbortSignal} signal
 */

/**
 * @param {HTMLElement} root
 * @param {ShareOptions} options
 */
export function createShare(root, { id, name, code, restoring, link, opener, signal }) {
  const message = h("p", { class: "sk-copied", role: "status" });
  const text = h("code");
  const items = [button("copy code", () => copy(code(), "the code"))];
  if (link) items.push(button("copy link", () => copy(link(), "the address of this state")));
  else if (restoring)
    items.push(button("copy this state", () => copy(restoring(), "a cell with this picture")));
  items.push(button("save PNG", () => save("png")));
  items.push(button("save SVG", () => save("svg")));
  const node = h(
    "div",
    {
      class: "sk-menu",
      id: `${id}-menu`,
      role: "group",
      "aria-label": "share",
      hidden: "",
      onkeydown: pressKey,
    },
    ...items,
    message,
    text,
  );
  setAll(opener, { "aria-expanded": "false", "aria-controls": node.id });
  document.addEventListener("pointerdown", leave, { signal });

  const isOpen = () => opener.getAttribute("aria-expanded") === "true";

  function toggle(open = !isOpen()) {
    set(opener, "aria-expanded", String(open));
    show(node, open);
    if (!open) return;
    set(message, "text", "");
    set(text, "text", "");
    items[0].focus();
  }

  /** @param {PointerEvent} event */
  function leave(event) {
    if (!isInside(event, node) && !isInside(event, opener)) toggle(false);
  }

  /** @param {KeyboardEvent} event */
  function pressKey(event) {
    const next = neighbour(items, DOWN[event.key]);
    if (next) {
      next.focus();
    } else if (event.key === "Escape") {
      toggle(false);
      opener.focus();
    } else {
      return;
    }
    event.preventDefault();
  }

  /** @type {(source: string, called: string) => Promise<void>} */
  async function copy(source, called) {
    set(text, "text", source);
    const isCopied = await copyText(text);
    set(message, "text", isCopied ? `${called} is copied:` : `press Ctrl+C to copy ${called}:`);
  }

  /** @param {"png" | "svg"} kind */
  async function save(kind) {
    const corner = /** @type {HTMLElement} */ (node.parentNode);
    try {
      const blob =
        kind === "svg" ? vectorOf(root, corner) : await rastered(pictureOf(root, corner));
      const href = URL.createObjectURL(blob);
      h("a", { href, download: `${name}.${kind}` }).click();
      setTimeout(() => URL.revokeObjectURL(href), 1000);
      set(message, "text", `${name}.${kind} is saved`);
    } catch {
      set(message, "text", "this browser does not draw it: save the SVG");
    }
    set(text, "text", "");
  }

  return { node, toggle };
}

/**
 * The code of a widget for a cell of any notebook. A comment says which names it `reads`.
 * @param {string} className
 * @param {string} code
 * @param {string} [reads]
 */
export function importing(className, code, reads) {
  const comment = reads ? `# ${reads}\n` : "";
  return `from stridekit.widgets import ${className}\n\n${comment}${code}`;
}

/**
 * Python that makes a widget as it is on screen, for a cell of any notebook.
 * @param {string} className
 * @param {Model} model
 */
export function restoring(className, model) {
  const parts = [pythonOf(model.get("_state"))];
  const size = model.get("storage_size");
  if (size !== undefined) parts.push(`storage_size=${size}`);
  return importing(className, `${className}.restored(${parts.join(", ")})`);
}

/**
 * A value as Python writes it.
 * @param {any} value
 * @returns {string}
 */
export function pythonOf(value) {
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (Array.isArray(value)) return `[${value.map(pythonOf).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  const items = Object.entries(value).map(([key, item]) => `"${key}": ${pythonOf(item)}`);
  return `{${items.join(", ")}}`;
}

// A widget as a picture: an SVG of shapes and text, and a PNG, which the browser itself draws from
// an SVG that holds the nodes that are on screen.

/**
 * @param {HTMLElement} root
 * @param {HTMLElement} corner
 */
function vectorOf(root, corner) {
  set(corner, "hidden", "");
  const drawing = drawingOf(root, (node) => node === corner || node.matches(".sk-trails"));
  set(corner, "hidden", null);
  return new Blob([new XMLSerializer().serializeToString(drawing)], { type: "image/svg+xml" });
}

/** @typedef {{ svg: string, width: number, height: number }} Picture */

/**
 * A copy of the widget's nodes without its corner, with the style sheets that they use.
 * @param {HTMLElement} root
 * @param {Element} corner
 * @returns {Picture}
 */
function pictureOf(root, corner) {
  set(corner, "hidden", "");
  const { width, height } = root.getBoundingClientRect();
  set(corner, "hidden", null);
  const copy = /** @type {HTMLElement} */ (root.cloneNode(true));
  freeze(root, copy);
  for (const node of copy.querySelectorAll(".sk-frame, .sk-trails")) node.remove();
  copy.removeAttribute("popover");
  const sheet = sheetOf(root);
  copy.setAttribute("style", styleOf(root, sheet, width, height));
  const content = s("foreignObject", { width, height }, h("style", { text: sheet }), copy);
  const svg = s("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, content);
  return { svg: new XMLSerializer().serializeToString(svg), width, height };
}

/**
 * The texts of the style sheets of a widget, from an exported page or from code.js: rules read back
 * from a sheet lose what has variables in it.
 * @param {Element} root
 */
function sheetOf(root) {
  const [, kind] = root.classList;
  const written = [...document.querySelectorAll("style")].map((node) => node.textContent);
  const texts = [...written, ...Object.keys(globalThis.stridekitStyles ?? {})];
  const own = texts.filter(
    (text) => text.includes("#sk-host, .stridekit)") || text.includes(`.stridekit.${kind}:is(`),
  );
  return own.join("\n");
}

/**
 * The style of a copy that stands alone: the size, the theme and the variables of the original.
 * @type {(root: Element, sheet: string, width: number, height: number) => string}
 */
function styleOf(root, sheet, width, height) {
  const computed = getComputedStyle(root);
  const names = new Set(sheet.match(/--jp-[\w-]+/g));
  const themed = [...names].filter((variable) => computed.getPropertyValue(variable));
  return [
    ...themed.map((variable) => `${variable}:${computed.getPropertyValue(variable)}`),
    `color-scheme:${isDark(computed) ? "dark" : "light"}`,
    "background:var(--paper)",
    "box-sizing:border-box",
    `width:${width}px`,
    `height:${height}px`,
    "max-width:none",
    "margin:0",
    `padding:${computed.padding}`,
    "overflow:hidden",
  ].join(";");
}

/** @param {CSSStyleDeclaration} style */
function isDark({ colorScheme }) {
  if (colorScheme === "light dark") return matchMedia("(prefers-color-scheme: dark)").matches;
  return colorScheme === "dark";
}

/**
 * Keep all that a copy of a node would lose: where it was scrolled to, where a motion is stopped,
 * and all that was typed, chosen and drawn.
 * @param {Element} root
 * @param {Element} copy
 */
function freeze(root, copy) {
  const all = [...root.querySelectorAll("*")];
  const twins = copy.querySelectorAll("*");
  for (const [k, node] of all.entries()) {
    const twin = /** @type {any} */ (twins[k]);
    const { scrollLeft, scrollTop } = node;
    if (scrollLeft || scrollTop) {
      twin.style.overflow = "hidden";
      for (const child of twin.children) child.style.translate = `${-scrollLeft}px ${-scrollTop}px`;
    }
    freezeContent(/** @type {any} */ (node), twin);
  }
  for (const { effect } of root.getAnimations({ subtree: true })) {
    const { target, pseudoElement } = /** @type {KeyframeEffect} */ (effect);
    if (!target || target === root || pseudoElement) continue;
    const twin = /** @type {HTMLElement} */ (twins[all.indexOf(target)]);
    const { transform, opacity } = getComputedStyle(target);
    Object.assign(twin.style, { transform, opacity });
  }
}

/**
 * @param {any} node
 * @param {any} twin
 */
function freezeContent(node, twin) {
  switch (node.localName) {
    case "input":
      twin.setAttribute("value", node.value);
      twin.toggleAttribute("checked", node.checked);
      break;
    case "textarea":
      twin.textContent = node.value;
      break;
    case "select":
      twin.options[node.selectedIndex]?.setAttribute("selected", "");
      break;
    case "canvas": {
      const { className, style } = twin;
      const src = node.toDataURL();
      twin.replaceWith(h("img", { src, alt: "", class: className, style: style.cssText }));
    }
  }
}

/**
 * A picture as a PNG.
 * @param {Picture} picture
 * @returns {Promise<Blob>}
 */
async function rastered({ svg, width, height }) {
  const image = new Image();
  // A blob would taint the canvas.
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = h("canvas", { width: Math.ceil(2 * width), height: Math.ceil(2 * height) });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => {
      if (blob) resolve(blob);
      else reject(new Error("nothing drawn"));
    });
  });
}
