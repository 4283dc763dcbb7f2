// A stub of a page, and as much of ipywidgets' model, of its wires and of a kernel as a state meets
// on its way. Nothing moves by itself: a test says what is painted, taken and heard, and when.

export class Node {
  addEventListener() {}
  setAttribute() {}
  append() {}
  prepend() {}
  remove() {
    this.removed = (this.removed ?? 0) + 1;
  }
}
globalThis.document = { createElement: () => new Node() };
globalThis.ResizeObserver = class {
  observe() {}
  disconnect() {}
};
let frames = [];
globalThis.requestAnimationFrame = (callback) => frames.push(callback);

/** A frame is painted: what waits for it is done, and once it is there what was to come after it. */
export function paint(before = () => {}) {
  const [now, later, timer] = [frames, [], globalThis.setTimeout];
  frames = [];
  globalThis.setTimeout = (callback) => later.push(callback);
  for (const frame of now) frame();
  globalThis.setTimeout = timer;
  before();
  for (const callback of later) callback();
}
export const toPaint = () => frames.length;
export const forgetFrames = () => (frames = []);

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/**
 * The model of @jupyter-widgets/base, as it sets, saves and throttles: one message at a time is on its way, and
 * what is saved meanwhile is put together. `wire(state)` takes a message to the kernel.
 */
export class Model {
  handlers = [];
  #unsaved = {};
  #lock = {};
  #before = null;
  #buffer = null;
  #pending = 0;

  constructor(state, wire = () => {}) {
    this.attributes = { ...state };
    this.wire = wire;
  }
  get = (name) => this.attributes[name];
  set = (name, value) => this.#setAll({ [name]: value });
  on = (event, handler) => this.handlers.push([event, handler]);
  off = (event, handler) => {
    this.handlers = this.handlers.filter(([name, other]) => name !== event || other !== handler);
  };
  save_changes = () => {
    const state = this.#unsaved;
    this.#unsaved = {};
    this.#setAll(state);
    this.#unsaved = {};
    if (!Object.keys(state).length) return;
    if (this.#pending) this.#buffer = { ...this.#buffer, ...state };
    else this.#send(state);
  };

  /** A message from the kernel: an update of the state, or that it has done what was sent. */
  hear({ state, idle }) {
    this.#lock = state ?? {};
    if (state) this.#setAll(state);
    this.#lock = {};
    if (!idle) return;
    this.#pending -= 1;
    if (!this.#buffer) return;
    const buffered = this.#buffer;
    this.#buffer = null;
    this.#send(buffered);
  }

  #send(state) {
    this.#pending += 1;
    this.wire(structuredClone(state));
  }

  /** All at once, and then the events; within an event what is new is measured by what was before it. */
  #setAll(state) {
    const outermost = this.#before === null;
    if (outermost) this.#before = { ...this.attributes };
    const changed = Object.keys(state).filter((name) => !same(this.attributes[name], state[name]));
    Object.assign(this.attributes, state);
    for (const name of changed)
      for (const [event, handler] of [...this.handlers]) if (event === `change:${name}`) handler();
    for (const [name, value] of Object.entries(this.attributes))
      if (!same(value, this.#before[name]) && this.#lock[name] !== value)
        this.#unsaved[name] = value;
    if (outermost) this.#before = null;
  }
}

/** The kernel's half of the state, as base.py has it: it takes one message after the other, and answers. */
export class Kernel {
  inbox = [];
  held = [];
  seen = 0;
  pages = [];
  refusals = 0;

  constructor(scene, refuses = () => false) {
    this.held.push(scene); // all that it ever held, in order
    this.refuses = refuses;
  }
  get scene() {
    return this.held.at(-1);
  }
  /** The model of a page that shows its widget, and what is on the way there. */
  page() {
    const page = { news: [] };
    const state = { _state: this.scene, _change_id: 0, _answered_id: this.seen, _note: "" };
    page.model = new Model(state, (message) => this.inbox.push([page, message]));
    this.pages.push(page);
    return page;
  }
  change(scene) {
    this.held.push(scene);
    this.tell({ _state: scene });
  }
  take() {
    const [page, { _state, _change_id }] = this.inbox.shift();
    if (_state !== undefined && this.refuses(_state)) this.refusals += 1;
    else if (_state !== undefined) this.held.push(_state);
    this.seen = _change_id ?? this.seen;
    this.tell({ _state: this.scene, _answered_id: this.seen });
    page.news.push({ idle: true });
  }
  tell(state) {
    for (const { news } of this.pages) news.push({ state: structuredClone(state) });
  }
}
