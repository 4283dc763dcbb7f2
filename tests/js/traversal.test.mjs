// traversal.js against the answers of Python: visits, caches, counts, torch's order, warps, sentences.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import * as traversal from "../../stridekit/widgets/traversal_explorer/traversal.js";

const { walks, warps } = JSON.parse(readFileSync(new URL("../fixtures/traversal.json", import.meta.url)));

test("every walk visits, hits and counts as Python says", () => {
  for (const wanted of walks) {
    const { walk, cache_lines, alignment, upto } = wanted;
    const visits = traversal.visitsOf(walk, cache_lines, alignment);
    assert.deepEqual(visits.map(({ element }) => element), wanted.elements);
    assert.deepEqual(visits.map(({ line }) => line), wanted.lines);
    assert.equal(visits.map(({ hit }) => Number(hit)).join(""), wanted.hits);
    assert.deepEqual(traversal.countsOf(visits, walk.itemsize, upto), wanted.counts);
    assert.deepEqual(traversal.countsOf(visits, walk.itemsize), wanted.whole);
  }
});

test("torch's order is Python's", () => {
  for (const { walk, torch_order } of walks) assert.deepEqual(traversal.torchOrder(walk), torch_order);
});

test("the sentences are Python's", () => {
  for (const { walk, cache_lines, alignment, upto, counts, whole, sentences } of walks) {
    const visits = traversal.visitsOf(walk, cache_lines, alignment);
    const [order, , visit, compared] = sentences; // the second is for the repr alone
    assert.deepEqual([
      traversal.orderName(walk.order),
      traversal.visitSentence(walk, visits, upto),
      traversal.comparison(counts, whole),
    ], [order, visit, compared]);
  }
});

test("walks that stand one above the other are told so", () => {
  const [few, many] = [{ misses: 6 }, { misses: 48 }];
  assert.equal(traversal.comparison(few, many, ["upper", "lower"]),
    "the lower one loads 8 times as many cache lines as the upper one");
  assert.equal(traversal.comparison(many, { misses: 0 }, ["upper", "lower"]),
    "the upper one loads 48, the lower one none");
});

test("every warp touches the sectors that Python says", () => {
  for (const { warp, sectors, minimum, sentence } of warps) {
    const found = traversal.sectorsOf(warp);
    assert.deepEqual([found.sectors, found.minimum], [sectors, minimum]);
    assert.equal(traversal.warpSentence(warp), sentence);
  }
});

test("the lines in the cache are those that the next visit would hit", () => {
  for (const { walk, cache_lines, alignment } of walks) {
    const visits = traversal.visitsOf(walk, cache_lines, alignment);
    visits.forEach(({ line, hit }, k) =>
      assert.equal(traversal.cachedLines(visits, k, cache_lines).has(line), hit));
  }
});
