// The share menu: the code, the link and the picture of what a widget shows.

import { button, h, neighbour, s, set, setAll, show } from "./dom.js";
import { copyText } from "./panels.js";

/** `link(state)`, where the page has one, is the address of a state; `opener` is the button of the menu. */
export function createShare(root, { id, name, code, link, opener }) {
  const said = h("p", { class: "sk-copied", role: "status" });
  const text = h("code");
  const items = [
    ["copy code", () => copy(code(), "the code")],
    ...(link ? [["copy link", () => copy(link(), "the address of this state")]] : []),
    ["save PNG", () => save("png")],
    ["save SVG", () => save("svg")],
  ];
  const node = h("div", { class: "sk-menu", id: `${id}-menu`, role: "group", "aria-label": "share", hidden: "", onkeydown: keyed },
    ...items.map(([label, act]) => button(label, act)), said, text);
  setAll(opener, { "aria-expanded": "false", "aria-controls": node.id });

  const isOpen = () => opener.getAttribute("aria-expanded") === "true";

  function toggle(open = !isOpen()) {
    set(opener, "aria-expanded", String(open));
    show(node, open);
    document[open ? "addEventListener" : "removeEventListener"]("pointerdown", leave);
    if (!open) return;
    for (const part of [said, text]) set(part, "text", "");
    node.querySelector("button").focus();
  }

  const leave = ({ target }) => node.contains(target) || opener.contains(target) || toggle(false);

  function keyed(event) {
    const next = neighbour([...node.querySelectorAll("button")], { ArrowUp: -1, ArrowDown: 1 }[event.key]);
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
      const href = URL.createObjectURL(kind === "svg" ? new Blob([picture.svg], { type: "image/svg+xml" }) : await rastered(picture));
      h("a", { href, download: `${name}.${kind}` }).click();
      setTimeout(() => URL.revokeObjectURL(href), 1000);
      set(said, "text", `${name}.${kind} is saved`);
    } catch {
      set(said, "text", "this browser does not draw it: save the SVG");
    }
    set(text, "text", "");
  }

  return { node, toggle, close: () => toggle(false) };
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
  // The text of the style sheet: rules read back from a sheet lose what has variables in it.
  const worn = [...document.querySelectorAll("style")].map((node) => node.textContent);
  const sheet = worn.find((text) => text.includes(`.stridekit.${root.classList[1]}:is(`)) ?? "";
  const seen = getComputedStyle(root);
  const dark = seen.colorScheme === "light dark" ? matchMedia("(prefers-color-scheme: dark)").matches : seen.colorScheme === "dark";
  const themed = [...new Set(sheet.match(/--jp-[\w-]+/g))].filter((variable) => seen.getPropertyValue(variable));
  const variables = themed.map((variable) => `${variable}:${seen.getPropertyValue(variable)}`);
  copy.setAttribute("style", [...variables, `color-scheme:${dark ? "dark" : "light"}`, "background:var(--paper)",
    "box-sizing:border-box", `width:${width}px`, `height:${height}px`, "max-width:none", "margin:0",
    `padding:${seen.padding}`, "overflow:hidden"].join(";"));
  const inside = s("foreignObject", { width, height }, h("style", { text: sheet }), copy);
  const svg = s("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, inside);
  return { svg: new XMLSerializer().serializeToString(svg), width, height };
}

/** What a copy of a node would lose: where it was scrolled to, what was typed, chosen and drawn. */
function freeze(root, copy) {
  const copies = copy.querySelectorAll("*");
  root.querySelectorAll("*").forEach((node, k) => {
    const [twin, { localName, checked, value, selectedIndex, scrollLeft, scrollTop }] = [copies[k], node];
    if (scrollLeft || scrollTop) {
      twin.style.overflow = "hidden";
      for (const child of twin.children) child.style.translate = `${-scrollLeft}px ${-scrollTop}px`;
    }
    if (localName === "input") twin.setAttribute("value", value);
    if (localName === "input") twin.toggleAttribute("checked", checked);
    if (localName === "textarea") twin.textContent = value;
    if (localName === "select") twin.options[selectedIndex]?.setAttribute("selected", "");
    if (localName === "canvas") twin.replaceWith(h("img", { src: node.toDataURL(), alt: "", class: twin.className, style: twin.style.cssText }));
  });
}

async function rastered({ svg, width, height }) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`; // a blob would taint the canvas
  await image.decode();
  const canvas = h("canvas", { width: Math.ceil(2 * width), height: Math.ceil(2 * height) });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, fail) => canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("nothing drawn")))));
}
