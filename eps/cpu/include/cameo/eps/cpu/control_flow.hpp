#pragma once
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Runs one of two subgraphs; its outputs are the node's.
struct if_else {
  int then_branch, else_branch;
  static result<if_else> bind(bind_context& c);
  status run(run_context& c) const;
};

/// Runs `body` until the trip count is reached or its condition is false. Values (tensors, sequences,
/// optionals) are carried from each iteration to the next; scan outputs are stacked along a new first axis.
struct loop {
  int body;
  std::size_t carried;
  std::span<const extents> element_shapes;  // of scan outputs, as far as known or declared: for no iterations
  static result<loop> bind(bind_context& c);
  status run(run_context& c) const;
};

/// Runs `body` over slices of the scan inputs, all equally long, carrying states along; stacks scan outputs.
struct scan {
  int body;
  std::size_t scans;  // number of scan inputs, the last ones; those before are states
  std::span<const std::int64_t> input_axes, output_axes, input_directions, output_directions;
  std::span<const extents> element_shapes;  // of scan outputs, as far as known or declared: for no iterations
  static result<scan> bind(bind_context& c);
  status run(run_context& c) const;

 private:
  status finish(run_context& c, std::span<value> last, std::int64_t length) const;
};

/// Version 8: a batch of sequences, each of its own length. Axis 0 is the batch, axis 1 the sequence.
struct batched_scan {
  int body;
  std::size_t scans;
  std::span<const std::int64_t> directions;
  static result<batched_scan> bind(bind_context& c);
  status run(run_context& c) const;
};

/// Runs `body` for each element of a sequence (and of others as long; tensors go along as they are).
struct sequence_map {
  int body;
  static result<sequence_map> bind(bind_context& c);
  status run(run_context& c) const;
};

}  // namespace CAMEO_NAMESPACE::eps
