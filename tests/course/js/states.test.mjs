// All that the scripts of widgets compute and say of many states. states.json has a digest of each
// widget's (record.mjs). Whether it is true, other tests ask torch; these notice any change.

import { readFileSync } from "node:fs";
import test from "node:test";

import * as flow from "../../../stridekit/widgets/attention_explorer/flow.js";
import * as growth from "../../../stridekit/widgets/cache_explorer/growth.js";
import * as formats from "../../../stridekit/widgets/channels_last_explorer/formats.js";
import { diagnose } from "../../../stridekit/widgets/diagnose/diagnose.js";
import * as layouts from "../../../stridekit/widgets/page/layout.js";
import * as verdict from "../../../stridekit/widgets/predict/verdict.js";
import * as stepper from "../../../stridekit/widgets/reshape_stepper/steps.js";
import * as chain from "../../../stridekit/widgets/stride_explorer/chain.js";
import * as traversal from "../../../stridekit/widgets/traversal_explorer/traversal.js";
import { openRecord } from "./record.mjs";

const { range, tried } = layouts;
const assertSame = openRecord("states.json");

/**
 * All states that take one of some values in each part.
 * @param {Record<string, any[]>} choices
 * @returns {any[]}
 */
function combined(choices) {
  let states = [{}];
  for (const [name, values] of Object.entries(choices))
    states = states.flatMap((state) => values.map((value) => ({ ...state, [name]: value })));
  return states;
}

test("the attention explorer", () => {
  const choices = {
    ...flow.CHOICES,
    batch: [2],
    tokens: [1, 3],
    heads: [1, 2, 4],
    kv_heads: [1, 2, 4],
  };
  for (const packing of flow.PACKINGS) {
    const states = combined({ ...choices, packing: [packing] });
    const possible = states.filter(({ heads, kv_heads }) =>
      flow.kvChoices(heads, packing).includes(kv_heads),
    );
    const said = possible.map((state, k) => {
      const part = "qkv"[k % 3];
      const followed = flow.inside(state, [part, 1, k % 4, k % 3, 1]);
      const whole = { ...state, followed };
      const shown = flow.memories(whole, part);
      const boxes = Object.entries(shown).map(([name, tensors]) => {
        const cells = flow.cells(tensors);
        return [cells, flow.labels(name, cells)];
      });
      const orders = flow.steps(whole).flatMap(({ tensors }) => Object.values(tensors));
      const four = orders.filter(({ shape }) => shape.length === 4);
      return [
        flow.told(whole),
        flow.code(whole),
        flow.facts(whole),
        boxes,
        four.map((x) => flow.order(/** @type {any} */ (x))),
      ];
    });
    assertSame(`attention, packed as ${packing}`, said);
  }
});

test("the cache explorer", () => {
  const { tokens, batch, heads, ...others } = growth.CHOICES;
  const sizes = { tokens: [0, 1, 2, 5, 8], batch: [1, 2], heads: [1, 3] };
  const said = combined({ ...sizes, ...others }).map((state, k) => {
    const ways = growth.WAYS.map((way) => {
      const boxes = growth.boxes(state, way);
      const places = boxes.filter(Boolean).map((box) => growth.place(state, box));
      return [boxes.map(growth.label), places, growth.rowOf(state, way), growth.stepOf(state, way)];
    });
    const curves = k % 15 ? [] : growth.whole(growth.curves(state));
    return [growth.told(state), growth.code(state), growth.facts(state), ways, curves];
  });
  assertSame("caches", said);
});

test("the channels_last explorer", () => {
  const shapes = combined({ n: [1, 3], c: [1, 2, 4], h: [1, 3], w: [1, 2, 5] });
  const said = shapes.flatMap(({ n, c, h, w }) => {
    const shape = [n, c, h, w];
    return formats.CHOICES.highlight.flatMap((highlight) =>
      [shape.map(() => 0), shape.map((size) => size - 1)].map((index) => {
        const state = { shape, index, highlight };
        const across = formats.largestDivisor(c, 3);
        const places = [formats.orders(shape), formats.planes(shape, across)];
        return [formats.told(state), formats.facts(state), formats.code(state), places];
      }),
    );
  });
  assertSame("channels", said);
});

test("the reshape stepper", () => {
  const starts = stepper.PRESETS.map(({ layout }) => layout);
  const shapes = [[], [0, 3], [1, 6], [4, 6], [2, 3, 4], [2, 1, 3]];
  const own = shapes.flatMap((shape) => [
    layouts.rowMajor(shape, 4),
    { ...layouts.rowMajor(shape, 4), stride: shape.map((_, d) => 1 + 5 * d), storage_offset: 3 },
  ]);
  for (const [k, layout] of [...starts, ...own].entries()) {
    const targets = [
      ...stepper.targetsOf(layout.shape),
      [...layout.shape, 1],
      [...layout.shape].reverse(),
    ];
    const said = targets.map((target) => {
      const state = { ...layout, target, step: 0, flat: 0 };
      const count = stepper.count(state);
      const steps = range(count).map((step) => {
        const now = { ...state, step, flat: Math.max(layouts.numel(layout) - 1, 0) };
        return [stepper.viewOf(now), stepper.facts(now)];
      });
      const places = [200, 500, 900].map((width) => stepper.perRow(layout, 40, width));
      const followed = [null, true, false].map((isCopied) =>
        stepper.followed(7, ["x[1]", "y[2]"], 3, isCopied),
      );
      return [stepper.told(state), stepper.code(state, []), steps, places, followed];
    });
    const preset = [stepper.ownPreset(layout), stepper.whyNotShown(layout), stepper.spanOf(layout)];
    assertSame(`reshape ${k}`, [said, preset]);
  }
});

test("the traversal explorer", () => {
  const said = traversal.PRESETS.flatMap(({ walks }) =>
    combined({ cache_lines: [1, 4], alignment: [0, 24], visit: [0, 1, 9, 48] }).map((numbers) => {
      const state = { ...numbers, walks, warp: null };
      const counts = traversal.countsOfAll(state);
      const words = counts.map(traversal.countsSentence);
      const [walk] = walks;
      const visits = traversal.visitsOf(walk, numbers.cache_lines, numbers.alignment);
      words.push(traversal.visitSentence(walk, visits, numbers.visit));
      if (counts[1]) words.push(traversal.comparison(counts[0], counts[1]));
      return [
        traversal.told(state, "a note"),
        traversal.facts(state),
        traversal.code(state),
        words,
      ];
    }),
  );
  assertSame("walks", said);
  const warps = combined({ itemsize: [1, 4, 16], stride: [0, 1, 2, 3, 32], offset: [0, 1, 8] });
  const { walks } = traversal.PRESETS[0];
  const shown = warps.map((warp) => {
    const state = { walks, visit: 0, cache_lines: 4, alignment: 0, warp };
    return [traversal.warpSentence(warp), traversal.sectorsOf(warp), traversal.code(state)];
  });
  assertSame("warps", shown);
  const orders = [[], [0], [1, 0], [0, 1], [2, 0, 1]].map(traversal.orderName);
  assertSame("orders", orders);
});

test("answers to predictions", () => {
  const numbers = [0, 1, -1, 0.5, 1e-4, 9.9e-5, -2.5e-7, 1e-10, 123456];
  assertSame("numbers", numbers.map(verdict.number));
  const problem = { kind: "choice", choices: ["a", "b"], quoted: [true, false], answer: 1 };
  const states = combined({ first: [null, 0], said: [null, 0, 1], shown: [false, true] });
  /** @type {any} */
  const whole = { ...problem, question: "Q", why: "W", experiment: "E", output: "1\n2" };
  /** @type {any[]} */
  const remarks = [[0, "zero"]];
  const said = states.map((state) => [
    verdict.verdict({ ...whole, remarks }, state),
    verdict.told(state, { ...whole, remarks }),
  ]);
  assertSame("predictions", said);
});

const SHAPES = [
  [],
  [1],
  [5],
  [4, 6],
  [1, 8],
  [3, 1],
  [2, 3, 4],
  [2, 3, 4, 4],
  [2, 1, 2, 3, 2],
  [3, 0],
];

test("the chain of the stride explorer", () => {
  for (const shape of SHAPES) {
    const start = layouts.rowMajor(shape, 4);
    const stages = (...steps) => chain.stagesOf({ source: "x", start, steps }, 60, "x");
    const [first] = stages();
    const offers = chain.suggestions(first);
    const said = offers.map(({ text, copied }) => {
      const after = stages(text);
      const flats = shape.map((size) => Math.max(size - 1, 0));
      const end = chain.endOf(after);
      return [
        text,
        copied,
        end,
        chain.memoryOf(end, first),
        chain.followed(first, end, shape.includes(0) ? null : flats),
        chain.sourcesOf(after, range(8)),
        chain.suggestions(end).map((offer) => offer.text),
      ];
    });
    assertSame(`chain from ${JSON.stringify(shape)}`, said);
  }
});

test("questions about layouts", () => {
  const said = SHAPES.flatMap((shape) => {
    const row = layouts.rowMajor(shape, 4);
    const turned = { ...row, stride: [...row.stride].reverse() };
    const even = { ...row, stride: row.stride.map((step) => 2 * step), storage_offset: 3 };
    const flat = { ...row, stride: row.stride.map(() => 0) };
    const inFormats = ["channels_last", "channels_last_3d"].map((format) => {
      const [outcome] = tried(() => layouts.apply(row, { name: "clone", args: [format] }));
      return outcome?.layout ?? row;
    });
    return [row, turned, even, flat, ...inFormats].map((layout) => [
      layouts.dimOrder(layout),
      layouts.suggestedFormat(layout),
      layouts.isDense(layout),
      layouts.extent(layout),
      layouts.lastOf(layout),
      layouts.whyNotContiguous(layout),
      layouts.chunksOf(layout.shape, layout.stride),
      tried(() => layouts.elementwise(layout, row)),
    ]);
  });
  assertSame("layouts", said);
});

// The message at the head of each family's page, with other numbers.
const HEADS = new URL("../../../stridekit/export/messages.json", import.meta.url);
const MESSAGES = Object.values(JSON.parse(readFileSync(HEADS, "utf-8")));

test("messages with other numbers", () => {
  const changes = [(n) => n, (n) => n + 1n, () => 1n, () => 0n, (n) => 2n * n, (n) => -n];
  for (const [k, change] of changes.entries()) {
    const withOthers = (digits) => String(change(BigInt(digits)));
    const said = MESSAGES.map((text) => diagnose(text.replace(/\b\d+\b/g, withOthers)));
    assertSame(`messages ${k}`, said);
  }
});
