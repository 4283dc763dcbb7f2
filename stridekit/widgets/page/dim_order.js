// The order in which torch sorts dims by their strides, as dim_order.py has it.
// tests/fixtures/operations.json and tests/fixtures/traversal.json pin it to Python's answers.

/**
 * The dims of a shape, innermost first, in the order of several strides: the first that can tell two dims apart
 * decides. The sort is torch's reorder_dimensions.
 */
export function dimOrder(shape, ...strides) {
  const order = shape.map((_, d) => d).reverse();
  const compare = (a, b) => {
    for (const stride of strides) {
      if (stride[a] === 0 || stride[b] === 0) continue; // a repeated dim fits in anywhere
      const verdict = stride[a] - stride[b] || (shape[a] > shape[b] ? 1 : 0);
      if (verdict) return verdict;
    }
    return 0;
  };
  for (let first = 1; first < order.length; first++)
    for (let place = first, other = first - 1; other >= 0; other--) {
      const verdict = compare(order[other], order[place]);
      if (verdict < 0) break;
      if (verdict === 0) continue;
      [order[other], order[place]] = [order[place], order[other]];
      place = other;
    }
  return order;
}

/** The stride that packs the dims of a shape densely in that order. */
export function packed(shape, ...strides) {
  const result = [];
  dimOrder(shape, ...strides).reduce((step, d) => ((result[d] = step), step * shape[d]), 1);
  return result;
}
