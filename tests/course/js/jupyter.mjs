// A stub of a page, and as much of ipywidgets' model, of its wires and of a kernel as a state meets
// on its way. Nothing moves by itself: a test decides when a frame is painted, and when a message
// arrives.

/** @import { Model as PageModel, Spec, View } from "../../../stridekit/widgets/page/shell.js" */

/** @type {any} */
const page = globalThis;

class StubNode {
  style = {};
  /** @type {Record<string, any>} */
  attributes = {};
  /** @type {any[]} */
  children = [];
  /** @type {Record<string, (event: any) => void>} */
  listeners = {};
  addEventListener(kind, listener) {
    const before = this.listeners[kind] ?? (() => {});
    this.listeners[kind] = (event) => {
      before(event);
      listener(event);
    };
  }
  setAttribute(name, value) {
    this.attributes[name] = value;
  }
  removeAttribute(name) {
    delete this.attributes[name];
  }
  hasAttribute = (name) => name in this.attributes;
  append(...nodes) {
    this.children.push(...nodes);
  }
  prepend() {}
  remove() {}
  closest = () => null;
}
page.document = { createElement: () => new StubNode() };
/** @type {((entries: any[]) => void)[]} */
const observers = [];
page.ResizeObserver = class {
  constructor(callback) {
    observers.push(callback);
  }
  observe() {}
  disconnect() {}
};
/** Give the newest shell another width. */
export const resize = (width) => observers.at(-1)?.([{ contentRect: { width } }]);
/** @type {(() => void)[]} */
let frames = [];
page.requestAnimationFrame = (/** @type {() => void} */ callback) => frames.push(callback);

/**
 * A view of a model on the stub of a page.
 * @param {PageModel} model
 * @returns {View}
 */
export const viewOf = (model) => ({ model, el: newNode() });

/** @returns {any} */
export const newNode = () => new StubNode();

/** A widget with no picture of its own. */
export const SPEC = { label: "a", kind: "b", draw() {} };

/** Paint a frame: run all that waits for it, then `before`, then all that was to come after it. */
export function paint(before = () => {}) {
  const waiting = frames;
  frames = [];
  /** @type {(() => void)[]} */
  const timeouts = [];
  const timer = page.setTimeout;
  page.setTimeout = (/** @type {() => void} */ callback) => timeouts.push(callback);
  for (const frame of waiting) frame();
  page.setTimeout = timer;
  before();
  for (const callback of timeouts) callback();
}
export const toPaint = () => frames.length;
export function forgetFrames() {
  frames = [];
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** @typedef {Record<string, any>} State */

/**
 * The model of @jupyter-widgets/base, as it sets, saves and throttles: one message at a time is on
 * its way, and states that are saved meanwhile are put together. `wire` takes a state to the kernel.
 */
export class Model {
  /** @type {[event: string, handler: () => void][]} */
  handlers = [];
  /** @type {State} */
  #unsaved = {};
  /** @type {State} */
  #lock = {};
  /** @type {State | null} */
  #before = null;
  /** @type {State | null} */
  #buffer = null;
  #pending = 0;

  /**
   * @param {State} state
   * @param {(state: State) => void} wire
   */
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

  /**
   * A message from the kernel: an update of the state, or that it has done its work.
   * @param {{ state?: State, idle?: boolean }} message
   */
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

  /** Set all values at once, then emit the events. A value is new if it differs from `#before`. */
  #setAll(state) {
    const isOutermost = this.#before === null;
    this.#before ??= { ...this.attributes };
    const before = this.#before;
    const changed = Object.keys(state).filter((name) => !same(this.attributes[name], state[name]));
    Object.assign(this.attributes, state);
    for (const name of changed) this.#emit(`change:${name}`);
    for (const [name, value] of Object.entries(this.attributes))
      if (!same(value, before[name]) && this.#lock[name] !== value) this.#unsaved[name] = value;
    if (isOutermost) this.#before = null;
  }

  #emit(event) {
    for (const [name, handler] of [...this.handlers]) if (name === event) handler();
  }
}

/** @typedef {{ model: Model, news: { state?: State, idle?: boolean }[] }} Page */

/**
 * The kernel's half of the state, as base.py has it: it takes one message after the other, and
 * answers.
 */
export class Kernel {
  /** @type {[page: Page, message: State][]} */
  inbox = [];
  /** @type {any[]} */
  held = [];
  seen = 0;
  /** @type {Page[]} */
  pages = [];
  refusals = 0;

  /**
   * @param {any} scene
   * @param {(scene: any) => boolean} refuses
   */
  constructor(scene, refuses = () => false) {
    this.held.push(scene); // all that it ever held, in order
    this.refuses = refuses;
  }
  get scene() {
    return this.held.at(-1);
  }
  /** The model of a page that shows its widget, and the messages that are on their way there. */
  page() {
    const state = { _state: this.scene, _change_id: 0, _answered_id: this.seen, _note: "" };
    const model = new Model(state, (message) => this.inbox.push([page, message]));
    /** @type {Page} */
    const page = { model, news: [] };
    this.pages.push(page);
    return page;
  }
  change(scene) {
    this.held.push(scene);
    this.tell({ _state: scene });
  }
  take() {
    const first = this.inbox.shift();
    if (!first) return;
    const [page, { _state, _change_id }] = first;
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
