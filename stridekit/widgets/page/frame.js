// The corner of a widget: undo, redo, reset, share and full width; one tab stop, after the panes.

import { button, h, neighbour, s, set, setAll, show } from "./dom.js";
import { copyText } from "./panels.js";

// The label, the title, and the paths of the icon in a square of 16.
const TOOLS = {
  undo: ["undo", "undo (Ctrl+Z)", "M6 2.5 2.5 6 6 9.5M3 6h6.5a3.75 3.75 0 0 1 0 7.5H6"],
  redo: ["redo", "redo (Ctrl+Shift+Z)", "M10 2.5 13.5 6 10 9.5M13 6H6.5a3.75 3.75 0 0 0 0 7.5H10"],
  reset: ["reset", "back to the start", "M3 2.5v4h4M3.4 6.3A5.25 5.25 0 1 1 3 9.5"],
  share: ["share", "code, link, picture", "M8 10V2M5 4.5 8 1.5l3 3M5 7H3v7h10V7h-2"],
  wide: [
    "full width",
    "full width (Esc leaves)",
    "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10M2.5 2.5 6.5 6.5M13.5 13.5 9.5 9.5",
  ],
};
const TYPED = "textarea, input:not([type=range], [type=checkbox], [type=radio])";

// `change(state)` shows another state on behalf of a hand, `code()` is what reproduces the picture, and `name` what a
// file of it is called.
export function createFrame(model, root, { id, name, code, change, signal }) {
  const history = historyOf(model);
  const tools = Object.fromEntries(
    Object.entries(TOOLS).map(([what, [label, title, d]]) => {
      const icon = s("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, s("path", { d }));
      return [
        what,
        button("", () => press(what), { "aria-label": label, title, tabindex: "-1" }, icon),
      ];
    }),
  );
  const share = createShare(root, {
    id,
    name,
    code,
    link: model.link,
    opener: tools.share,
    signal,
  });
  const bar = h(
    "div",
    {
      class: "sk-tools",
      role: "toolbar",
      "aria-label": "the picture",
      onkeydown(event) {
        const next = neighbour([...bar.children], { ArrowLeft: -1, ArrowRight: 1 }[event.key]);
        if (!next) return;
        event.preventDefault();
        reach(next);
        next.focus();
      },
    },
    ...Object.values(tools),
  );
  const node = h("div", { class: "sk-frame" }, bar, share.node);
  reach(tools.undo);
  if (!root.showPopover) tools.wide.remove();
  root.addEventListener("keydown", keyed);
  document.addEventListener(
    "keydown",
    ({ key, defaultPrevented }) => key === "Escape" && !defaultPrevented && widen(false),
    { signal },
  );
  document.addEventListener("focusin", ({ target }) => root.contains(target) || widen(false), {
    signal,
  }); // gone to what it covers

  function press(what) {
    reach(tools[what]);
    if (what === "share") share.toggle();
    else if (what === "wide") widen(!isWide());
    else step(what);
  }

  const step = (what) => history.ahead()[what] !== undefined && change(history.take(what));

  function reach(tool) {
    for (const each of Object.values(tools)) set(each, "tabindex", each === tool ? null : "-1");
  }

  function keyed(event) {
    if (event.defaultPrevented || event.altKey || !(event.ctrlKey || event.metaKey)) return;
    if (event.target.value && event.target.matches(TYPED)) return; // the text's own
    const what = { z: event.shiftKey ? "redo" : "undo", y: "redo" }[event.key.toLowerCase()];
    if (!what) return;
    event.preventDefault();
    step(what);
  }

  // Full width: the widget lies over the page, where nothing cuts it off, and its place is kept.

  const isWide = () => root.hasAttribute("popover");

  function widen(wide) {
    if (wide === isWide()) return;
    set(
      root.parentNode,
      "style",
      wide ? `min-height:${root.getBoundingClientRect().height}px` : null,
    );
    if (wide) {
      root.setAttribute("popover", "manual");
      root.showPopover();
    } else root.removeAttribute("popover");
    set(tools.wide, "aria-pressed", String(wide));
  }

  return {
    node,
    draw() {
      history.keep(model.get("_state"));
      const ahead = history.ahead();
      for (const what of Object.keys(ahead))
        set(tools[what], "aria-disabled", String(ahead[what] === undefined));
    },
  };
}

// Undo, redo and reset: the states that a model has had, as steps of a hand ---------------------------

const POINTED = ["index", "flat", "followed"]; // where a hand points is no step of its own
const RESTS = 400; // ms without a change end a step: a drag is one, and so is what a cell does
const LINES = ["chain", "steps", "moves"]; // a line or a card is a step, however fast the next one comes
const MOST = 200; // steps

// Each view has a model of its own over Jupyter's. What all of them have in common is the value of a trait that
// never changes.
const histories = new WeakMap();

/** The history of a model, for all of its views. */
export function historyOf(model) {
  const key = model.get("_page") ?? model;
  if (!histories.has(key)) {
    const [start, now] = [model.get("_start"), model.get("_state")];
    histories.set(key, createHistory(now, Object.keys(start ?? {}).length ? start : now));
  }
  return histories.get(key);
}

/** A history that begins now, and whose reset leads to `start`. */
export function createHistory(now, start = now, clock = () => performance.now()) {
  let [past, future, changed] = [[], [], -Infinity];

  function go(from, to) {
    to.push(now);
    changed = -Infinity;
    return (now = from.pop());
  }

  return {
    /** The states that the tools lead to, by their names; undefined where one can do nothing. */
    ahead: () => ({
      undo: past.at(-1),
      redo: future.at(-1),
      reset: isSame(now, start) ? undefined : start,
    }),
    take: (tool) =>
      tool === "undo" ? go(past, future) : tool === "redo" ? go(future, past) : start,
    keep(state) {
      const before = now;
      now = state;
      if (isSame(before, state)) return;
      future = [];
      const goesOn = clock() - changed < RESTS && isEqual(before, state, LINES);
      changed = clock();
      if (!goesOn) past = [...past.slice(1 - MOST), before];
      else if (isSame(past.at(-1), state)) {
        past.pop(); // a step that ended where it began
        changed = -Infinity;
      }
    },
  };
}

const isEqual = (a, b, keys) =>
  keys.every((key) => JSON.stringify(a[key]) === JSON.stringify(b[key]));
/** True if two states differ only in where they point. */
const isSame = (a, b) =>
  isEqual(
    a,
    b,
    Object.keys({ ...a, ...b }).filter((key) => !POINTED.includes(key)),
  );

// The share menu: the code, the link and the picture of what a widget shows -----------------------

/** `link(state)`, where the page has one, is the address of a state; `opener` is the button of the menu. */
export function createShare(root, { id, name, code, link, opener, signal }) {
  const said = h("p", { class: "sk-copied", role: "status" });
  const text = h("code");
  const items = [
    ["copy code", () => copy(code(), "the code")],
    ...(link ? [["copy link", () => copy(link(), "the address of this state")]] : []),
    ["save PNG", () => save("png")],
    ["save SVG", () => save("svg")],
  ];
  const node = h(
    "div",
    {
      class: "sk-menu",
      id: `${id}-menu`,
      role: "group",
      "aria-label": "share",
      hidden: "",
      onkeydown: keyed,
    },
    ...items.map(([label, act]) => button(label, act)),
    said,
    text,
  );
  setAll(opener, { "aria-expanded": "false", "aria-controls": node.id });
  document.addEventListener("pointerdown", leave, { signal });

  const isOpen = () => opener.getAttribute("aria-expanded") === "true";

  function toggle(open = !isOpen()) {
    set(opener, "aria-expanded", String(open));
    show(node, open);
    if (!open) return;
    for (const part of [said, text]) set(part, "text", "");
    node.querySelector("button").focus();
  }

  function leave({ target }) {
    if (![node, opener].some((part) => part.contains(target))) toggle(false);
  }

  function keyed(event) {
    const next = neighbour(
      [...node.querySelectorAll("button")],
      { ArrowUp: -1, ArrowDown: 1 }[event.key],
    );
    if (next) next.focus();
    else if (event.key === "Escape") {
      toggle(false);
      opener.focus();
    } else return;
    event.preventDefault();
  }

  async function copy(what, called) {
    set(text, "text", what);
    const copied = await copyText(text);
    set(said, "text", copied ? `${called} is copied:` : `press Ctrl+C to copy ${called}:`);
  }

  async function save(kind) {
    const picture = pictureOf(root, node.parentNode);
    try {
      const href = URL.createObjectURL(
        kind === "svg"
          ? new Blob([picture.svg], { type: "image/svg+xml" })
          : await rastered(picture),
      );
      h("a", { href, download: `${name}.${kind}` }).click();
      setTimeout(() => URL.revokeObjectURL(href), 1000);
      set(said, "text", `${name}.${kind} is saved`);
    } catch {
      set(said, "text", "this browser does not draw it: save the SVG");
    }
    set(text, "text", "");
  }

  return { node, toggle };
}

// A widget as a picture: the nodes that are on screen in an SVG, and the same drawn as a PNG.

/** {svg, width, height}: a copy of the widget's nodes without its corner, and the style sheets that it wears. */
function pictureOf(root, corner) {
  set(corner, "hidden", "");
  const { width, height } = root.getBoundingClientRect();
  set(corner, "hidden", null);
  const copy = root.cloneNode(true);
  freeze(root, copy);
  copy.querySelector(".sk-frame").remove();
  copy.removeAttribute("popover");
  // The texts of the style sheets: rules read back from a sheet lose what has variables in it.
  const isOwn = (text) =>
    text.includes("#sk-host, .stridekit)") || text.includes(`.stridekit.${root.classList[1]}:is(`);
  const sheet = [...document.querySelectorAll("style")]
    .map((node) => node.textContent)
    .filter(isOwn)
    .join("\n");
  const seen = getComputedStyle(root);
  const dark =
    seen.colorScheme === "light dark"
      ? matchMedia("(prefers-color-scheme: dark)").matches
      : seen.colorScheme === "dark";
  const themed = [...new Set(sheet.match(/--jp-[\w-]+/g))].filter((variable) =>
    seen.getPropertyValue(variable),
  );
  const variables = themed.map((variable) => `${variable}:${seen.getPropertyValue(variable)}`);
  copy.setAttribute(
    "style",
    [
      ...variables,
      `color-scheme:${dark ? "dark" : "light"}`,
      "background:var(--paper)",
      "box-sizing:border-box",
      `width:${width}px`,
      `height:${height}px`,
      "max-width:none",
      "margin:0",
      `padding:${seen.padding}`,
      "overflow:hidden",
    ].join(";"),
  );
  const inside = s("foreignObject", { width, height }, h("style", { text: sheet }), copy);
  const svg = s("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, inside);
  return { svg: new XMLSerializer().serializeToString(svg), width, height };
}

/** What a copy of a node would lose: where it was scrolled to, what was typed, chosen and drawn. */
function freeze(root, copy) {
  const copies = copy.querySelectorAll("*");
  root.querySelectorAll("*").forEach((node, k) => {
    const [twin, { localName, checked, value, selectedIndex, scrollLeft, scrollTop }] = [
      copies[k],
      node,
    ];
    if (scrollLeft || scrollTop) {
      twin.style.overflow = "hidden";
      for (const child of twin.children) child.style.translate = `${-scrollLeft}px ${-scrollTop}px`;
    }
    if (localName === "input") twin.setAttribute("value", value);
    if (localName === "input") twin.toggleAttribute("checked", checked);
    if (localName === "textarea") twin.textContent = value;
    if (localName === "select") twin.options[selectedIndex]?.setAttribute("selected", "");
    if (localName === "canvas")
      twin.replaceWith(
        h("img", {
          src: node.toDataURL(),
          alt: "",
          class: twin.className,
          style: twin.style.cssText,
        }),
      );
  });
}

async function rastered({ svg, width, height }) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`; // a blob would taint the canvas
  await image.decode();
  const canvas = h("canvas", { width: Math.ceil(2 * width), height: Math.ceil(2 * height) });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, fail) =>
    canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("nothing drawn")))),
  );
}
