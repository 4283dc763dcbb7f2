// The loops that torch's TensorIterator makes of an elementwise operation, for tests/core/loop_nest_cases.py.

#include <ATen/TensorIterator.h>
#include <torch/library.h>

using Ints = std::vector<int64_t>;

// The sizes of the loops, then for the output and each input the bytes by which it moves in them, all from
// the innermost loop to the outermost; at the end the itemsize of each. The operands are cast as `add` does it,
// but for an output of bools, which a comparison writes directly.
std::vector<Ints> loops(const std::optional<at::Tensor>& out, const std::vector<at::Tensor>& inputs) {
  at::TensorIteratorConfig config;
  config.set_check_mem_overlap(true).promote_inputs_to_common_dtype(true);
  config.cast_common_dtype_to_outputs(!out || out->scalar_type() != at::kBool);
  config.add_owned_output(out.value_or(at::Tensor()));
  for (const auto& input : inputs) {
    config.add_owned_const_input(input);
  }
  auto iterator = config.build();
  std::vector<Ints> found{iterator.shape().vec()};
  Ints itemsizes;
  for (int operand = 0; operand < iterator.ntensors(); operand++) {
    auto strides = iterator.strides(operand);
    found.emplace_back(strides.begin(), strides.end());
    itemsizes.push_back(iterator.element_size(operand));
  }
  found.push_back(itemsizes);
  return found;
}

TORCH_LIBRARY(stridekit_tests, library) {
  library.def("loops(Tensor? out, Tensor[] inputs) -> int[][]", loops);
}
