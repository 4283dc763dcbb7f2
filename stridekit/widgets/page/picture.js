// A widget as a picture: the nodes that are on screen in an SVG, and the same drawn as a PNG.

import { h, s, set } from "./dom.js";

const LIVE = "input, textarea, select, canvas";

/** {svg, width, height}: a copy of the widget's nodes without its corner, and the style sheets that it wears. */
export function pictureOf(root, corner) {
  set(corner, "hidden", "");
  const { width, height } = root.getBoundingClientRect();
  set(corner, "hidden", null);
  const copy = root.cloneNode(true);
  copy.querySelector(".sk-frame").remove();
  copy.removeAttribute("popover");
  freeze(root, copy, corner);
  const sheet = sheetOf(root);
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
function freeze(root, copy, corner) {
  const nodesOf = (selector) => [...root.querySelectorAll(selector)].filter((node) => !corner.contains(node));
  const copies = copy.querySelectorAll("*");
  nodesOf("*").forEach(({ scrollLeft, scrollTop }, k) => {
    if (!scrollLeft && !scrollTop) return;
    copies[k].style.overflow = "hidden";
    for (const child of copies[k].children) child.style.translate = `${-scrollLeft}px ${-scrollTop}px`;
  });
  const live = nodesOf(LIVE);
  copy.querySelectorAll(LIVE).forEach((node, k) => {
    const { localName, checked, value, selectedIndex } = live[k];
    if (localName === "input") {
      node.setAttribute("value", value);
      node.toggleAttribute("checked", checked);
    } else if (localName === "textarea") node.textContent = value;
    else if (localName === "select") node.options[selectedIndex]?.setAttribute("selected", "");
    else node.replaceWith(Object.assign(h("img", { src: live[k].toDataURL(), alt: "" }), { className: node.className, style: node.style.cssText }));
  });
}

/** The text of the style sheet that a widget wears: rules read back from a sheet lose what has variables in it. */
function sheetOf(root) {
  const worn = [...document.querySelectorAll("style")].map((node) => node.textContent);
  return worn.find((text) => text.includes(`.stridekit.${root.classList[1]}:is(`)) ?? "";
}

/** The picture as a PNG, with two pixels for each of CSS. */
export async function rastered({ svg, width, height }) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`; // a blob would taint the canvas
  await image.decode();
  const canvas = h("canvas", { width: Math.ceil(2 * width), height: Math.ceil(2 * height) });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, fail) => canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("nothing drawn")))));
}
