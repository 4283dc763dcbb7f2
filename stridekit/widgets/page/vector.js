// A widget as SVG of shapes and text, which any program draws: what a browser has laid out is read
// from the page, box by box. Each box gives its background, its borders, its outline and its words.

import { s, scaleOf } from "./dom.js";

/** @typedef {{ left: number, top: number, width: number, height: number }} Box */
/** @typedef {[shown: string, opacity: string]} Paint */

const SHAPES = ["path", "line", "rect", "circle", "ellipse", "polyline", "polygon", "text"];
const STROKES = ["stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin"];
const SIDES = ["top", "right", "bottom", "left"];
const TEXT_NODE = 3;
const ELEMENT_NODE = 1;
const THUMB = 18; // px of a slider, as in base.css
const TRACK = 6;
const HATCH = 8; // px from line to line
const COLOUR = /(?:rgba?|color|oklch|oklab)\([^()]*\)/g;
const TICK = "M3 6.5 5.5 9 10 3.5"; // in a square of 13

/**
 * A drawing of all that is on screen of a widget, but for what `isLeftOut` names.
 * @param {Element} root
 * @param {(node: Element) => boolean} isLeftOut
 * @returns {SVGSVGElement}
 */
export function drawingOf(root, isLeftOut) {
  const whole = root.getBoundingClientRect();
  const zoom = scaleOf(root);
  const width = whole.width / zoom;
  const height = whole.height / zoom;
  const colours = createColours();
  let clips = 0;
  const svg = s("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
  const paper = colours.paint(getComputedStyle(root).getPropertyValue("--paper"), root);
  svg.append(s("rect", { width, height, ...filled(paper) }));
  drawChildren(root, svg);
  return svg;

  /**
   * @param {DOMRect} rect
   * @returns {Box}
   */
  function placeOf(rect) {
    return {
      left: (rect.left - whole.left) / zoom,
      top: (rect.top - whole.top) / zoom,
      width: rect.width / zoom,
      height: rect.height / zoom,
    };
  }

  /**
   * Draw what is inside a node, in the order in which a browser paints it.
   * @param {Element} node
   * @param {Element} group
   */
  function drawChildren(node, group) {
    drawPseudo(node, "::before", group);
    const children = [...node.childNodes].map((child) => ({ child, level: levelOf(child) }));
    children.sort((a, b) => a.level - b.level);
    for (const { child } of children) {
      if (child.nodeType === TEXT_NODE) drawText(/** @type {Text} */ (child), group);
      else if (child.nodeType === ELEMENT_NODE) drawNode(/** @type {Element} */ (child), group);
    }
    drawPseudo(node, "::after", group);
  }

  /**
   * @param {Element} node
   * @param {Element} parent
   */
  function drawNode(node, parent) {
    const style = getComputedStyle(node);
    if (isLeftOut(node) || isHidden(style)) return;
    if (node.localName === "svg") {
      drawShapes(node, parent);
      return;
    }
    const group = style.opacity === "1" ? parent : s("g", { opacity: style.opacity });
    if (group !== parent) parent.append(group);
    if (style.display === "contents") {
      drawChildren(node, group);
      return;
    }
    const box = placeOf(node.getBoundingClientRect());
    if (node.localName === "canvas") {
      const href = /** @type {HTMLCanvasElement} */ (node).toDataURL();
      const { left: x, top: y, width: w, height: h } = box;
      group.append(s("image", { href, x, y, width: w, height: h }));
      return;
    }
    if (isSlider(node)) {
      drawSlider(/** @type {HTMLInputElement} */ (node), box, group);
      return;
    }
    drawBox(box, style, group);
    const inside = clipped(box, style, node, group);
    if (isField(node)) drawField(/** @type {HTMLInputElement} */ (node), box, style, inside);
    else drawChildren(node, inside);
  }

  /**
   * The group for what is inside of a box, which is cut off where the box hides or scrolls it.
   * @param {Box} box
   * @param {CSSStyleDeclaration} style
   * @param {Element} node
   * @param {Element} group
   */
  function clipped(box, style, node, group) {
    const isCut = node.scrollWidth > node.clientWidth || node.scrollHeight > node.clientHeight;
    if (!isCut || style.overflow === "visible" || !box.width) return group;
    clips += 1;
    const id = `cut${clips}`;
    const { left: x, top: y, width: w, height: h } = box;
    const clip = s("clipPath", { id }, s("rect", { x, y, width: w, height: h }));
    const inside = s("g", { "clip-path": `url(#${id})` });
    group.append(clip, inside);
    return inside;
  }

  /**
   * The background, the borders, a ring inside and the outline of a box.
   * @param {Box} box
   * @param {CSSStyleDeclaration} style
   * @param {Element} group
   */
  function drawBox(box, style, group) {
    const radius = Number.parseFloat(style.borderTopLeftRadius);
    const background = colours.paint(style.backgroundColor);
    if (background[1] !== "0") group.append(frame(box, 0, radius, filled(background)));
    for (const layer of layersOf(box, style)) drawLayer(layer, radius, group);
    drawBorders(box, style, radius, group);
    const ring = /^(.*) 0px 0px 0px ([\d.]+)px inset$/.exec(style.boxShadow);
    if (ring) {
      const width = Number(ring[2]);
      group.append(frame(box, width / 2, radius, stroked(colours.paint(ring[1]), width)));
    }
    const outline = Number.parseFloat(style.outlineWidth);
    if (outline && style.outlineStyle !== "none") {
      const inset = -Number.parseFloat(style.outlineOffset) - outline / 2;
      const line = stroked(colours.paint(style.outlineColor), outline, style.outlineStyle);
      group.append(frame(box, inset, radius, line));
    }
  }

  /**
   * A gradient of the look: one colour, and lines of a second one over it.
   * @param {Layer} layer
   * @param {number} radius
   * @param {Element} group
   */
  function drawLayer({ box, image }, radius, group) {
    const stops = [...image.matchAll(COLOUR)].map(([colour]) => colours.paint(colour));
    if (!stops.length) return;
    const [ground] = stops;
    const line = stops[stops.length - 1];
    const lowRadius = Math.min(radius, box.height / 4);
    if (!image.startsWith("repeating") || line[1] !== "0")
      group.append(frame(box, 0, lowRadius, filled(ground)));
    if (!image.startsWith("repeating")) return;
    const stroke = stroked(line[1] === "0" ? ground : line, 1.5);
    const d = hatchOf(box, image.includes("90deg"));
    group.append(s("path", { d, fill: "none", ...stroke }));
  }

  /**
   * @param {Box} box
   * @param {any} style
   * @param {number} radius
   * @param {Element} group
   */
  function drawBorders(box, style, radius, group) {
    const lines = SIDES.map((side) => {
      const kind = style.getPropertyValue(`border-${side}-style`);
      const colour = style.getPropertyValue(`border-${side}-color`);
      const width = Number.parseFloat(style.getPropertyValue(`border-${side}-width`));
      return { kind, colour, width: kind === "none" || kind === "hidden" ? 0 : width };
    });
    const [first] = lines;
    if (lines.every((line) => JSON.stringify(line) === JSON.stringify(first))) {
      if (!first.width) return;
      const line = stroked(colours.paint(first.colour), first.width, first.kind);
      group.append(frame(box, first.width / 2, radius, line));
      return;
    }
    const { left, top } = box;
    const right = left + box.width;
    const bottom = top + box.height;
    for (const [k, { kind, colour, width }] of lines.entries()) {
      if (!width) continue;
      const half = width / 2;
      const ends = [
        { x1: left, y1: top + half, x2: right, y2: top + half },
        { x1: right - half, y1: top, x2: right - half, y2: bottom },
        { x1: left, y1: bottom - half, x2: right, y2: bottom - half },
        { x1: left + half, y1: top, x2: left + half, y2: bottom },
      ][k];
      group.append(s("line", { ...ends, ...stroked(colours.paint(colour), width, kind) }));
    }
  }

  /**
   * The words of a text, line by line, as the browser has broken them.
   * @param {Text} text
   * @param {Element} group
   */
  function drawText(text, group) {
    const parent = text.parentElement;
    if (!parent || !text.data.trim()) return;
    const style = getComputedStyle(parent);
    for (const { words, box } of linesOf(text)) {
      const place = placeOf(box);
      if (place.width) drawWords(words, place, style, group);
    }
  }

  /**
   * @param {string} words
   * @param {Box} box
   * @param {CSSStyleDeclaration} style
   * @param {Element} group
   */
  function drawWords(words, box, style, group) {
    const shown = style.textTransform === "uppercase" ? words.toUpperCase() : words;
    const isUpright = style.writingMode === "horizontal-tb";
    const length = isUpright ? box.width : box.height;
    const middle = box.left + box.width / 2;
    const centre = box.top + box.height / 2;
    const [ascent, descent] = colours.extent(style);
    const turn = isUpright
      ? null
      : `rotate(${style.rotate === "none" ? 90 : -90} ${middle} ${centre})`;
    const text = s("text", {
      x: middle - length / 2,
      y: centre + (ascent - descent) / 2,
      textLength: length,
      transform: turn,
      "font-family": familyOf(style),
      "font-size": style.fontSize,
      "font-weight": style.fontWeight,
      ...filled(colours.paint(style.color)),
    });
    if (style.textDecorationLine !== "none") text.setAttribute("text-decoration", "underline");
    if (style.fontStyle !== "normal") text.setAttribute("font-style", style.fontStyle);
    text.textContent = shown;
    group.append(text);
  }

  /**
   * What a style sheet puts before or after the content of a node.
   * @param {Element} node
   * @param {string} name
   * @param {Element} group
   */
  function drawPseudo(node, name, group) {
    const style = getComputedStyle(node, name);
    if (!/["(]/.test(style.content) || isHidden(style)) return;
    const words = wordsOf(style.content, node);
    const around = placeOf(node.getBoundingClientRect());
    const isPlaced = style.position === "absolute";
    const { e: right, f: down } = new DOMMatrix(style.transform); // of a motion that is stopped
    const place = isPlaced ? placedIn(around, style) : besideText(node, name, words, style);
    const box = { ...place, left: place.left + right, top: place.top + down };
    const isTurned = isPlaced && style.rotate !== "none";
    const middle = `${box.left + box.width / 2} ${box.top + box.height / 2}`;
    const turn = isTurned ? `rotate(${Number.parseFloat(style.rotate)} ${middle})` : null;
    const own = s("g", { transform: turn });
    group.append(own);
    drawBox(box, style, own);
    drawLines(words.trim(), box, style, own);
  }

  /**
   * @param {string} words
   * @param {Box} box
   * @param {CSSStyleDeclaration} style
   * @param {Element} group
   */
  function drawLines(words, box, style, group) {
    const lines = words.split("\n");
    const height = box.height / lines.length;
    for (const [k, line] of lines.entries()) {
      const place = { ...box, top: box.top + k * height, height };
      if (line) drawWords(line, fitted(place, line, style), style, group);
    }
  }

  /**
   * The place of words that stand before or behind the text of a node.
   * @param {Element} node
   * @param {string} name
   * @param {string} words
   * @param {CSSStyleDeclaration} style
   * @returns {Box}
   */
  function besideText(node, name, words, style) {
    const range = document.createRange();
    range.selectNodeContents(node);
    const rects = [...range.getClientRects()];
    const width = colours.measure(words, style);
    const present = name === "::before" ? rects[0] : rects.at(-1);
    if (!present) return placeOf(node.getBoundingClientRect());
    const text = placeOf(/** @type {DOMRect} */ (present));
    const left = name === "::before" ? text.left - width : text.left + text.width;
    return { ...text, left, width };
  }

  /**
   * A box as wide as its words: centred, or at the left.
   * @param {Box} box
   * @param {string} words
   * @param {CSSStyleDeclaration} style
   * @returns {Box}
   */
  function fitted(box, words, style) {
    const width = colours.measure(words, style);
    const isCentred = style.textAlign === "center" && style.position === "absolute";
    return { ...box, left: isCentred ? box.left + (box.width - width) / 2 : box.left, width };
  }

  /**
   * A slider: its track, filled up to the thumb, dotted where a limit closes it.
   * @param {HTMLInputElement} input
   * @param {Box} box
   * @param {Element} group
   */
  function drawSlider(input, box, group) {
    const hue = colours.paint("var(--of)", input);
    const line = colours.paint("var(--sk-line)", input);
    const paper = colours.paint("var(--paper)", input);
    const room = box.width - THUMB;
    const start = box.left + THUMB / 2;
    const y = box.top + box.height / 2;
    const { style } = input;
    const at = start + room * Number(style.getPropertyValue("--at"));
    const limit = Number(style.getPropertyValue("--to") || Infinity);
    const open = limit < 1 ? start + room * limit : box.left + box.width;
    const end = box.left + box.width;
    const track = { y1: y, y2: y };
    const round = { "stroke-linecap": "round" };
    group.append(
      s("line", {
        x1: open,
        x2: end,
        ...track,
        ...stroked(line, TRACK),
        "stroke-dasharray": "2 4",
      }),
      s("line", { x1: box.left + 3, x2: open, ...track, ...stroked(line, TRACK), ...round }),
      s("line", { x1: box.left + 3, x2: at, ...track, ...stroked(hue, TRACK), ...round }),
      s("circle", { cx: at, cy: y, r: THUMB / 2 - 1.5, ...filled(paper), ...stroked(hue, 3) }),
    );
  }

  /**
   * What stands in a field, or the tick of a box.
   * @param {HTMLInputElement} field
   * @param {Box} box
   * @param {CSSStyleDeclaration} style
   * @param {Element} group
   */
  function drawField(field, box, style, group) {
    if (["checkbox", "radio"].includes(field.type)) {
      drawMark(field, box, style, group);
      return;
    }
    const words = field.value || field.placeholder;
    const shown = field.localName === "select" ? chosenIn(field) : words;
    const [ascent, descent] = colours.extent(style);
    const height = Number.parseFloat(style.lineHeight) || 1.4 * (ascent + descent);
    const isLong = field.localName === "textarea";
    const first = isLong ? box.top + Number.parseFloat(style.paddingTop) : box.top;
    for (const [k, line] of shown.split("\n").entries()) {
      const left = box.left + Number.parseFloat(style.paddingLeft) + 1;
      const top = first + k * height;
      const place = { left, top, width: 0, height: isLong ? height : box.height };
      const look = field.value ? style : getComputedStyle(field, "::placeholder");
      if (line) drawWords(line, fitted(place, line, style), look, group);
    }
  }

  /**
   * @param {HTMLInputElement} field
   * @param {Box} box
   * @param {CSSStyleDeclaration} style
   * @param {Element} group
   */
  function drawMark(field, box, style, group) {
    const ink = colours.paint(style.color);
    const radius = field.type === "radio" ? box.width / 2 : 2;
    group.append(frame(box, 0.5, radius, stroked(ink, 1)));
    if (!field.checked) return;
    const place = `translate(${box.left} ${box.top}) scale(${box.width / 13})`;
    group.append(s("path", { d: TICK, transform: place, fill: "none", ...stroked(ink, 2) }));
  }

  /**
   * The shapes of a drawing in the page, each with its colours and its place.
   * @param {Element} drawing
   * @param {Element} group
   */
  function drawShapes(drawing, group) {
    for (const node of drawing.querySelectorAll(SHAPES.join())) {
      const style = getComputedStyle(node);
      const matrix = /** @type {SVGGraphicsElement} */ (node).getScreenCTM();
      if (isHidden(style) || !matrix || node.closest("defs")) continue;
      const { a, b, c, d, e, f } = matrix;
      const scale = [a, b, c, d].map((number) => number / zoom);
      const shift = [(e - whole.left) / zoom, (f - whole.top) / zoom];
      const copy = /** @type {Element} */ (node.cloneNode(true));
      for (const name of ["class", "style"]) copy.removeAttribute(name);
      copy.setAttribute("transform", `matrix(${[...scale, ...shift].join(" ")})`);
      const paints = { ...filled(colours.paint(style.fill)), ...outlined(style) };
      for (const [name, value] of Object.entries(paints)) copy.setAttribute(name, value);
      copy.setAttribute("opacity", style.opacity);
      if (node.localName === "text") nameFont(copy, style);
      group.append(copy);
    }
  }

  /** @param {CSSStyleDeclaration} style */
  function outlined(style) {
    const [stroke, opacity] = colours.paint(style.stroke);
    /** @type {Record<string, string>} */
    const attributes = { stroke, "stroke-opacity": opacity };
    for (const name of STROKES) {
      attributes[name] = style.getPropertyValue(name).replaceAll("px", "");
    }
    return attributes;
  }
}

/**
 * Where a node is painted among its siblings: what has a place of its own comes later.
 * @param {Node} node
 */
function levelOf(node) {
  if (node.nodeType !== ELEMENT_NODE) return 0;
  const { position, zIndex } = getComputedStyle(/** @type {Element} */ (node));
  if (position === "static") return 0;
  return Number(zIndex) || 0.5; // also for "auto"
}

/** @param {CSSStyleDeclaration} style */
const isHidden = ({ display, visibility, opacity, clipPath }) =>
  display === "none" || visibility !== "visible" || opacity === "0" || clipPath === "inset(50%)";

/**
 * The words that a style sheet adds to a node: strings, and the number of a line.
 * @param {string} content
 * @param {Element} node
 */
function wordsOf(content, node) {
  const number = [...(node.parentNode?.children ?? [])].indexOf(node) + 1;
  const parts = content.matchAll(/"((?:[^"\\]|\\.)*)"|counter\([^)]*\)/g);
  /** @param {string} words */
  const unescaped = (words) => words.replace(/\\a /gi, "\n").replace(/\\(.)/g, "$1");
  return [...parts].map(([, words]) => (words === undefined ? number : unescaped(words))).join("");
}

/** @param {Element} node */
const isSlider = (node) => node.matches("input[type=range]");

/** @param {Element} node */
const isField = (node) => node.matches("input, select, textarea");

/** @param {any} select */
const chosenIn = (select) => select.selectedOptions[0]?.text ?? "";

/** @typedef {{ box: Box, image: string }} Layer */

/**
 * The gradients of a background with their boxes, the lowest first.
 * @param {Box} box
 * @param {CSSStyleDeclaration} style
 * @returns {Layer[]}
 */
function layersOf(box, { backgroundImage, backgroundSize, backgroundPosition }) {
  const sizes = backgroundSize.split(", ");
  const positions = backgroundPosition.split(", ");
  const images = backgroundImage.split(/, (?=none|[a-z-]*gradient)/);
  const layers = images.map((image, k) => {
    const [across = "auto", down = "auto"] = sizes[k % sizes.length].split(" ");
    const width = lengthIn(across, box.width);
    const height = lengthIn(down, box.height);
    const [x, y] = positions[k % positions.length].split(" ");
    const left = box.left + lengthIn(x, box.width - width);
    const top = box.top + lengthIn(y, box.height - height);
    return { image, box: { left, top, width, height } };
  });
  return layers.filter(({ image }) => image !== "none").reverse();
}

/** @type {(length: string, whole: number) => number} */
function lengthIn(length, whole) {
  if (length === "auto") return whole;
  const number = Number.parseFloat(length);
  return length.endsWith("%") ? (number / 100) * whole : number;
}

/** @type {(box: Box, isUpright: boolean) => string} */
function hatchOf({ left, top, width, height }, isUpright) {
  const lines = [];
  for (let x = left + HATCH / 2; x < left + width; x += HATCH) {
    const rise = Math.min(height, left + width - x);
    lines.push(isUpright ? `M${x} ${top}v${height}` : `M${x} ${top + height}l${rise} ${-rise}`);
  }
  return lines.join("");
}

/**
 * The box of what a style sheet has placed inside of a node.
 * @param {Box} around
 * @param {any} style
 * @returns {Box}
 */
function placedIn(around, style) {
  const sizes = [style.left, style.top, style.width, style.height];
  const [left, top, width, height] = sizes.map((px) => Number.parseFloat(px));
  return { left: around.left + left, top: around.top + top, width, height };
}

/** @type {(box: Box, inset: number, radius: number, paint: Record<string, string>) => Element} */
function frame({ left, top, width, height }, inset, radius, paint) {
  const w = Math.max(width - 2 * inset, 0);
  const h = Math.max(height - 2 * inset, 0);
  const rx = Math.max(Math.min(radius - inset, w / 2, h / 2), 0);
  return s("rect", {
    x: left + inset,
    y: top + inset,
    width: w,
    height: h,
    rx,
    fill: "none",
    ...paint,
  });
}

/**
 * A family that each program has: most take no second one where the first is missing.
 * @param {CSSStyleDeclaration} style
 */
const familyOf = ({ fontFamily }) => (/mono/i.test(fontFamily) ? "monospace" : "sans-serif");

/** @type {(paint: Paint) => Record<string, string>} */
const filled = ([fill, opacity]) => ({ fill, "fill-opacity": opacity });

/** @type {(paint: Paint, width: number, kind?: string) => Record<string, string>} */
function stroked([stroke, opacity], width, kind = "solid") {
  const line = { stroke, "stroke-opacity": opacity, "stroke-width": String(width) };
  if (kind === "dashed") return { ...line, "stroke-dasharray": `${3 * width} ${2 * width}` };
  if (kind === "dotted") return { ...line, "stroke-dasharray": `${width} ${width}` };
  return line;
}

/**
 * @param {Element} text
 * @param {CSSStyleDeclaration} style
 */
function nameFont(text, style) {
  text.setAttribute("font-family", familyOf(style));
  text.setAttribute("font-size", style.fontSize);
  text.setAttribute("font-weight", style.fontWeight);
  text.setAttribute("text-anchor", style.textAnchor);
}

/**
 * The lines of a text on screen, with the box of each.
 * @param {Text} text
 * @returns {{ words: string, box: DOMRect }[]}
 */
function linesOf(text) {
  const range = document.createRange();
  /** @type {{ start: number, end: number, top: number }[]} */
  const spans = [];
  for (const { index, 0: word } of text.data.matchAll(/\S+/g)) {
    range.setStart(text, index);
    range.setEnd(text, index + word.length);
    const { top } = range.getBoundingClientRect();
    const last = spans.at(-1);
    if (last && Math.abs(last.top - top) < 2) last.end = index + word.length;
    else spans.push({ start: index, end: index + word.length, top });
  }
  return spans.map(({ start, end }) => {
    range.setStart(text, start);
    range.setEnd(text, end);
    return { words: text.data.slice(start, end), box: range.getBoundingClientRect() };
  });
}

/** Colours as SVG names them, and the sizes of words, measured on a canvas. */
function createColours() {
  const canvas = document.createElement("canvas");
  canvas.width = 1;
  canvas.height = 1;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  /** @type {Map<string, Paint>} */
  const known = new Map();

  /**
   * A colour of CSS; one with variables in it is that of a node.
   * @type {(colour: string, node?: Element) => Paint}
   */
  function paint(colour, node) {
    if (node) return paint(resolved(colour, node));
    if (colour === "none" || !context) return ["none", "0"];
    const present = known.get(colour);
    if (present) return present;
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data;
    const digits = [red, green, blue].map((part) => part.toString(16).padStart(2, "0"));
    /** @type {Paint} */
    const shown = [`#${digits.join("")}`, String(Number((alpha / 255).toFixed(3)))];
    known.set(colour, shown);
    return shown;
  }

  /** @type {(colour: string, node: Element) => string} */
  function resolved(colour, node) {
    const probe = document.createElement("i");
    probe.style.color = colour;
    // An input has no children that a browser styles, but a slider's hue is that of its row.
    const parent = /** @type {Element} */ (isField(node) ? node.parentNode : node);
    const own = getComputedStyle(node).getPropertyValue("--of");
    probe.style.setProperty("--of", own);
    parent.append(probe);
    const shown = getComputedStyle(probe).color;
    probe.remove();
    return shown;
  }

  /** @param {CSSStyleDeclaration} style */
  function useFont({ fontStyle, fontWeight, fontSize, fontFamily }) {
    if (context) context.font = `${fontStyle} ${fontWeight} ${fontSize} ${fontFamily}`;
  }

  return {
    paint,

    /** @type {(words: string, style: CSSStyleDeclaration) => number} */
    measure(words, style) {
      useFont(style);
      return context?.measureText(words).width ?? 0;
    },

    /** @type {(style: CSSStyleDeclaration) => number[]} the ascent and the descent of a font in px */
    extent(style) {
      useFont(style);
      const { fontBoundingBoxAscent = 0, fontBoundingBoxDescent = 0 } =
        context?.measureText("x") ?? {};
      return [fontBoundingBoxAscent, fontBoundingBoxDescent];
    },
  };
}
