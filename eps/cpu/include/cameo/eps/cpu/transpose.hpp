#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/attributes/onnx.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Transpose: axis i of the output is axis perm[i] of the input; without `perm`, the axes are reversed.
struct transpose {
  using elements = detail::all_elements;
  std::span<const std::int64_t> perm;  // empty: reversed
  static result<transpose> bind(bind_context& c);
  status run(run_context& c) const;
};

/// DepthToSpace: [N, C*b*b, H, W] to [N, C, H*b, W*b]. It moves blocks of the channels into the image; `mode`, DCR or
/// CRD, is the order of block and channel in the channels.
struct depth_to_space {
  std::int64_t block;
  bool channel_first;
  static result<depth_to_space> bind(bind_context& c);
  status run(run_context& c) const;
};

/// SpaceToDepth: [N, C, H*b, W*b] to [N, C*b*b, H, W], the inverse of DepthToSpace.
struct space_to_depth {
  std::int64_t block;
  bool channel_first;
  static result<space_to_depth> bind(bind_context& c);
  status run(run_context& c) const;
};

/// ReverseSequence: reverses the first sequence_lens[i] steps of sequence i; axes 0 and 1 are time and batch, or batch
/// and time.
struct reverse_sequence {
  std::size_t time_axis;
  static result<reverse_sequence> bind(bind_context& c);
  status run(run_context& c) const;
};

/// Trilu: the upper or lower triangle of the last two axes, from diagonal k on; zeros elsewhere.
struct trilu {
  bool upper;
  static result<trilu> bind(bind_context& c) { return trilu{attributes_of<op::Trilu>{c.attributes}.upper != 0}; }
  status run(run_context& c) const;
};

}  // namespace CAMEO_NAMESPACE::eps
