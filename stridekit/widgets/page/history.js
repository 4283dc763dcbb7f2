// Undo, redo and reset: the states that a model has had, as steps of a hand.

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
    ahead: () => ({ undo: past.at(-1), redo: future.at(-1), reset: isSame(now, start) ? undefined : start }),
    take: (tool) => (tool === "undo" ? go(past, future) : tool === "redo" ? go(future, past) : start),
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

const isEqual = (a, b, keys) => keys.every((key) => JSON.stringify(a[key]) === JSON.stringify(b[key]));
/** True if two states differ only in where they point. */
const isSame = (a, b) => isEqual(a, b, Object.keys({ ...a, ...b }).filter((key) => !POINTED.includes(key)));
