// A hand that plays all that a widget offers, for tests/course/browser/test_stillness.py: it finds
// the controls on the page, so that new ones are played, too. Returns what it did, with the heights
// of the widget and of its place on the page after each.
async (root) => {
  const played = [];

  async function note(what) {
    for (let k = 0; k < 3; k++) await new Promise(requestAnimationFrame); // words come a frame later
    played.push([what, root.offsetHeight, root.parentNode.offsetHeight]);
  }

  const nameOf = (node) => {
    const group = node.closest("[role=group], [role=toolbar]")?.ariaLabel;
    const text = node.ariaLabel ?? node.labels?.[0]?.textContent ?? node.textContent;
    return `${group}: ${text} (${node.type ?? node.role})`;
  };

  async function turn(control, property, value, event) {
    control[property] = value;
    control.dispatchEvent(new Event(event, { bubbles: true }));
    await note(`${nameOf(control)} at ${value}`);
  }

  async function play(control) {
    if (control.type === "range") {
      for (const end of ["min", "max"]) await turn(control, "value", control[end], "input");
    } else if (control.matches("select")) {
      for (let k = 0; k < control.length; k++) await turn(control, "selectedIndex", k, "change");
    } else if (control.matches("textarea")) {
      await turn(control, "value", "", "input");
    } else {
      control.click();
      await note(nameOf(control));
    }
  }

  const OFFERED =
    "button, input:is([type=range], [type=checkbox], [type=radio]), select, textarea, [role=option]";
  const isOffered = (node) =>
    node.checkVisibility() && !node.disabled && !node.closest(".sk-frame, .sk-code");
  const seen = new Set();
  await note("as it begins");
  for (;;) {
    const controls = [...root.querySelectorAll(OFFERED)].filter(isOffered);
    const next = controls.find((node) => !seen.has(nameOf(node)));
    if (!next) return played;
    seen.add(nameOf(next));
    await play(next);
    if (next.type === "checkbox") await play(next);
  }
};
