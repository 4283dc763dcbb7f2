// What tests/course/browser/test_looks.py asks of a page that shows widgets.

globalThis.looks = {
  /**
   * The properties of nodes that differ without the style sheets of the host page. A host gives a widget its
   * width and the variables of its theme: both stay as they are.
   */
  async changedByHost() {
    const roots = [...document.querySelectorAll(".stridekit")];
    const isOwn = ({ ownerNode }) => ownerNode.textContent.includes("#sk-host");
    const all = [...document.styleSheets];
    const variables = all
      .filter(isOwn)
      .flatMap(({ ownerNode }) => ownerNode.textContent.match(/--jp-[\w-]+/g));
    for (const root of roots) {
      const seen = getComputedStyle(root);
      const themed = [...new Set(variables)].filter((name) => seen.getPropertyValue(name));
      const kept = themed.map((name) => `${name}:${seen.getPropertyValue(name)}`);
      const size = `position:absolute; left:0; top:0; width:${root.parentNode.clientWidth}px; font-size:10px`;
      root.parentNode.setAttribute("style", [...kept, size].join(";"));
    }
    const every = roots.flatMap((root) => [root, ...root.querySelectorAll("*")]);
    const nodes = [...new Map(every.map((node) => [kindOf(node), node])).values()]; // one of each kind
    const before = await stylesOf(nodes);
    for (const sheet of all) sheet.disabled = !isOwn(sheet);
    const after = await stylesOf(nodes);
    for (const sheet of all) sheet.disabled = false;
    for (const root of roots) root.parentNode.removeAttribute("style");
    const differences = nodes.flatMap((node, k) => {
      if (before[k] === after[k]) return [];
      const [hosted, alone] = [before[k], after[k]].map((text) => text.split("; "));
      return [`${nameOf(node)}: ${hosted.filter((part) => !alone.includes(part)).slice(0, 4)}`];
    });
    return { nodes: nodes.length, differences: differences.slice(0, 20) };
  },

  /** The texts that are stacked, cut off or covered. What is typed on, and what scrolls, may hold more than it shows. */
  unreadable() {
    const style = document.head.appendChild(document.createElement("style"));
    style.textContent = ".stridekit * { pointer-events: auto !important; }"; // elementsFromPoint sees no other nodes
    const texts = [...document.querySelectorAll(".stridekit")].flatMap(textsOf);
    const unreadable = texts.flatMap((text) => {
      const boxes = boxesOf(text);
      const why = boxes.length
        ? isStacked(text, boxes) || isCut(text, boxes) || isCovered(text, boxes)
        : "";
      return why ? [`${nameOf(text.parentElement)} is ${why}`] : [];
    });
    style.remove();
    return { texts: texts.length, unreadable: [...new Set(unreadable)] };
  },
};

const nameOf = (node) =>
  `${node.closest(".stridekit").className} ${node.localName}.${node.getAttribute("class")} “${node.textContent.slice(0, 40)}”`;

/** What selectors know a node and its parent by. */
const kindOf = (node) =>
  [node.closest(".stridekit"), node.parentNode, node]
    .map(
      (each) =>
        ["localName", "type", "disabled"].map((name) => each[name]) +
        each.getAttribute("class") +
        each.role,
    )
    .join();

async function stylesOf(nodes) {
  for (let k = 0; k < 3 || document.querySelector("[data-moving]"); k++)
    await new Promise(requestAnimationFrame);
  return nodes.map((node) => {
    const style = getComputedStyle(node); // its cssText is empty
    return [...style]
      .filter((name) => !name.startsWith("--"))
      .map((name) => `${name}: ${style.getPropertyValue(name)}`)
      .join("; ");
  });
}

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

function boxesOf(text) {
  const range = document.createRange();
  range.selectNodeContents(text);
  return [...range.getClientRects()].filter(({ width, height }) => width && height);
}

/** One word on more than two lines. */
function isStacked(text, boxes) {
  const word = text.data.trim();
  const lines = new Set(boxes.map(({ top }) => Math.round(top)));
  return word.length < 24 && !/\s/.test(word) && lines.size > 2 ? "stacked" : "";
}

/** Outside of what clips it, or beyond the ends of the widget. */
function isCut(text, boxes) {
  const root = text.parentElement.closest(".stridekit");
  for (let above = text.parentElement; above !== root.parentElement; above = above.parentElement) {
    const { overflowX, overflowY } = getComputedStyle(above);
    if (/auto|scroll/.test(overflowX + overflowY)) return "";
    if (above !== root && !/hidden|clip/.test(overflowX)) continue;
    const { left, right, top, bottom } = above.getBoundingClientRect();
    const isOutside = (box) =>
      box.right > right + 1 || box.left < left - 1 || box.bottom > bottom + 3 || box.top < top - 3;
    if (boxes.some(isOutside)) return `cut off by ${nameOf(above)}`;
  }
  return "";
}

/** Something with a background lies over the middle of its first line. */
function isCovered({ parentElement: node }, [{ left, top, width, height }]) {
  const stack = document.elementsFromPoint(left + width / 2, top + height / 2);
  const end = stack.findIndex((over) => over.contains(node) || node.contains(over));
  const over = stack
    .slice(0, Math.max(end, 0))
    .find((each) => node.closest(".stridekit").contains(each) && isPainted(each));
  return over ? `covered by ${nameOf(over)}` : "";
}

function isPainted(node) {
  const { backgroundColor, backgroundImage, opacity } = getComputedStyle(node);
  return (
    opacity !== "0" && (backgroundImage !== "none" || !/, 0\)$|transparent/.test(backgroundColor))
  );
}
