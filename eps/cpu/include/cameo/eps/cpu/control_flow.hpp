#pragma once
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// If: runs one of two subgraphs, whose outputs are the outputs of the node.
struct if_else {
  int then_branch, else_branch;
  static result<if_else> bind(bind_context& c);
  status run(run_context& c) const;
};

/// Loop: runs `body` until the trip count is reached or the condition is false. Values (tensors, sequences, optionals)
/// are carried from each iteration to the next; scan outputs are stacked along a new first axis.
struct loop {
  int body;
  std::size_t carried;
  std::span<const extents> element_shapes;  // of scan outputs, as far as known; needed if there are no iterations
  static result<loop> bind(bind_context& c);
  status run(run_context& c) const;
};

/// Scan: runs `body` over slices of the scan inputs, which have equal lengths, carries states from each iteration to
/// the next, and stacks the scan outputs.
struct scan {
  int body;
  std::size_t scans;  // the number of scan inputs, which are the last inputs; the inputs before them are states
  std::span<const std::int64_t> input_axes, output_axes, input_directions, output_directions;
  std::span<const extents> element_shapes;  // of scan outputs, as far as known; needed if there are no iterations
  static result<scan> bind(bind_context& c);
  status run(run_context& c) const;

 private:
  status find_axes(const run_context& c, std::span<std::size_t> axes, std::int64_t& length) const;
  status take(run_context& c, std::span<const std::size_t> axes, std::int64_t length, std::int64_t t,
              std::span<value> in, std::span<value> made) const;
  status put(run_context& c, std::size_t k, std::int64_t length, std::int64_t t, const value& element,
             value& target) const;
  status finish(run_context& c, std::span<value> last, std::int64_t length) const;
};

/// Scan version 8: a batch of sequences with separate lengths. Axis 0 is the batch, axis 1 the sequence.
struct batched_scan {
  int body;
  std::size_t scans;
  std::span<const std::int64_t> directions;
  static result<batched_scan> bind(bind_context& c);
  status run(run_context& c) const;
};

/// SequenceMap: runs `body` for each element of a sequence, with the elements of other sequences of the same length;
/// every iteration gets the tensor inputs unchanged.
struct sequence_map {
  int body;
  static result<sequence_map> bind(bind_context& c);
  status run(run_context& c) const;
};

}  // namespace CAMEO_NAMESPACE::eps
