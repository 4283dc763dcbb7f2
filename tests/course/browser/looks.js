// The questions of tests/course/browser/test_looks.py to a page that shows widgets.

globalThis.looks = {
  /**
   * The properties of nodes that differ without the style sheets of the host page. A host gives a
   * widget its width and the variables of its theme: both stay as they are.
   */
  async changedByHost() {
    const roots = [...document.querySelectorAll(".stridekit")];
    // A page without a kernel has the sheets of widgets in its text; code.js adopts them elsewhere.
    const sheets = [...document.styleSheets];
    const isOwn = ({ ownerNode }) => ownerNode.textContent.includes("#sk-host");
    const ownTexts = sheets.filter(isOwn).map(({ ownerNode }) => ownerNode.textContent);
    const ownText = [...ownTexts, ...Object.keys(globalThis.stridekitStyles ?? {})].join("\n");
    const variables = [...new Set(ownText.match(/--jp-[\w-]+/g))];
    for (const root of roots) keepTheme(root, variables);
    const nodes = oneOfEachKind(roots);
    const hosted = await stylesOf(nodes);
    for (const sheet of sheets) sheet.disabled = !isOwn(sheet);
    const alone = await stylesOf(nodes);
    for (const sheet of sheets) sheet.disabled = false;
    for (const root of roots) root.parentNode.removeAttribute("style");
    const differences = [];
    for (const [k, node] of nodes.entries()) {
      if (String(hosted[k]) === String(alone[k])) continue;
      const changed = hosted[k].filter((property) => !alone[k].includes(property));
      differences.push(`${nameOf(node)}: ${changed.slice(0, 4)}`);
    }
    return { nodes: nodes.length, differences: differences.slice(0, 20) };
  },

  /**
   * The texts that are stacked, cut off or covered. A box to type on, or one that scrolls, may hold
   * more than it shows.
   */
  unreadable() {
    const style = document.head.appendChild(document.createElement("style"));
    // elementsFromPoint sees no other nodes.
    style.textContent = ".stridekit * { pointer-events: auto !important; }";
    const texts = [...document.querySelectorAll(".stridekit")].flatMap(textsOf);
    const unreadable = new Set();
    for (const text of texts) {
      const problem = problemOf(text);
      if (problem) unreadable.add(`${nameOf(text.parentElement)} is ${problem}`);
    }
    style.remove();
    return { texts: texts.length, unreadable: [...unreadable] };
  },
};

/** Give a widget's parent the variables and the width that the host gives it now. */
function keepTheme(root, variables) {
  const { parentNode } = root;
  const style = getComputedStyle(root);
  const themed = variables.filter((name) => style.getPropertyValue(name));
  const kept = themed.map((name) => `${name}:${style.getPropertyValue(name)}`);
  const width = `width:${parentNode.clientWidth}px`;
  const fixed = ["position:absolute", "left:0", "top:0", width, "font-size:10px"];
  parentNode.setAttribute("style", [...kept, ...fixed].join(";"));
}

/** The last node of each kind in the widgets. */
function oneOfEachKind(roots) {
  const nodes = new Map();
  for (const root of roots)
    for (const node of [root, ...root.querySelectorAll("*")]) nodes.set(kindOf(node), node);
  return [...nodes.values()];
}

function nameOf(node) {
  const { className } = node.closest(".stridekit");
  const text = node.textContent.slice(0, 40);
  return `${className} ${node.localName}.${node.getAttribute("class")} “${text}”`;
}

/** The attributes by which selectors know a node and its parent. */
function kindOf(node) {
  const path = [node.closest(".stridekit"), node.parentNode, node];
  const attributes = path.flatMap((part) => [
    part.localName,
    part.type,
    part.disabled,
    part.getAttribute("class"),
    part.role,
  ]);
  return attributes.join();
}

/** The properties of each node, once nothing moves. */
async function stylesOf(nodes) {
  for (let k = 0; k < 3 || document.querySelector("[data-moving]"); k++)
    await new Promise(requestAnimationFrame);
  // The computed style of each node has the same names, but for variables; its cssText is empty.
  const names = [...getComputedStyle(nodes[0])].filter((name) => !name.startsWith("--"));
  return nodes.map((node) => {
    const style = getComputedStyle(node);
    return names.map((name) => `${name}: ${style.getPropertyValue(name)}`);
  });
}

/** The texts of a widget that are on screen. */
function textsOf(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  return texts.filter(
    ({ data, parentElement }) =>
      data.trim() &&
      !parentElement.closest(".sk-spoken, .sk-told, select, textarea") &&
      parentElement.checkVisibility({ visibilityProperty: true }),
  );
}

/** The reason why a text cannot be read; "" if it can. */
function problemOf(text) {
  const boxes = boxesOf(text);
  if (!boxes.length) return "";
  if (isStacked(text, boxes)) return "stacked";
  const clipping = clippingNode(text, boxes);
  if (clipping) return `cut off by ${nameOf(clipping)}`;
  const covering = coveringNode(text, boxes);
  return covering ? `covered by ${nameOf(covering)}` : "";
}

function boxesOf(text) {
  const range = document.createRange();
  range.selectNodeContents(text);
  return [...range.getClientRects()].filter(({ width, height }) => width && height);
}

/** True for one word on more than two lines. */
function isStacked(text, boxes) {
  const word = text.data.trim();
  const lines = new Set(boxes.map(({ top }) => Math.round(top)));
  return word.length < 24 && !/\s/.test(word) && lines.size > 2;
}

/** The node that clips a text, or the widget beyond whose ends the text lies; or null. */
function clippingNode(text, boxes) {
  const root = text.parentElement.closest(".stridekit");
  for (let node = text.parentElement; node !== root.parentElement; node = node.parentElement) {
    const { overflowX, overflowY } = getComputedStyle(node);
    if (/auto|scroll/.test(overflowX + overflowY)) return null;
    if (node !== root && !/hidden|clip/.test(overflowX)) continue;
    const { left, right, top, bottom } = node.getBoundingClientRect();
    const isOutside = (box) =>
      box.right > right + 1 || box.left < left - 1 || box.bottom > bottom + 3 || box.top < top - 3;
    if (boxes.some(isOutside)) return node;
  }
  return null;
}

/** A node with a background over the middle of a text's first line; or undefined. */
function coveringNode({ parentElement: node }, [{ left, top, width, height }]) {
  const stack = document.elementsFromPoint(left + width / 2, top + height / 2);
  const end = stack.findIndex((over) => over.contains(node) || node.contains(over));
  const above = stack.slice(0, Math.max(end, 0));
  const root = node.closest(".stridekit");
  return above.find((over) => root.contains(over) && isPainted(over));
}

function isPainted(node) {
  const { backgroundColor, backgroundImage, opacity } = getComputedStyle(node);
  const hasBackground = backgroundImage !== "none" || !/, 0\)$|transparent/.test(backgroundColor);
  return opacity !== "0" && hasBackground;
}
