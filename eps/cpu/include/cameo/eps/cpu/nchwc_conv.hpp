#pragma once
#include <cameo/eps/cpu/detail/activation.hpp>
#include <cameo/eps/cpu/detail/window.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

struct nchwc_kernels;
struct nchwc_line_kernels;
struct bf16_loops;

/// com.microsoft.nchwc Conv: Y = f(X * W + B + Sum), on images whose channels lie in blocks of 16, next to each other.
///
/// Y is [N, M', H, W] in extents and [N, M' / 16, H, W, 16] in memory; M' is M rounded up to a multiple of 16, and
/// lanes behind channel M hold 0. X is blocked the same way, [N, C', ...], or, with one group of C < 16 channels, plain
/// [N, C, ...]: the extents show which. Elements in X's lanes behind its channels are not read. Sum has Y's extents,
/// and Y may be written over it.
///
/// Unlike ONNX Runtime's operator of this name, W [M, C / group, kh, kw] and B [M] are those of ONNX's Conv, neither
/// padded nor reordered: the model then runs with any block, and W is packed here, once when it is constant. Attribute
/// `plain_weights` marks this; a node without it has weights that ONNX Runtime packed, which sessions unpack where they
/// can, and is NOT_IMPLEMENTED when it runs. Groups are of multiples of 16 channels in and out, or of one channel each
/// with group == C == M.
///
/// Scratch: the part of X that a lane works on, with its padding written out (1/4 MB, or a line if that is more),
/// unless nothing is padded and lines have stride 1.
struct nchwc_conv {
  /// The data that depends on the weights. `channels` and `maps` are those of a group.
  struct filters {
    std::int64_t groups = 1, maps = 0, channels = 0;
    std::int64_t kernel[2] = {1, 1};
    bool depthwise = false;
    std::int64_t taps() const { return kernel[0] * kernel[1]; }
  };
  window shape = {};
  filters w = {};
  bool w_known = false;
  activation f = {};
  const nchwc_kernels* loops = nullptr;
  const nchwc_line_kernels* lines = nullptr;
  const float* packed = nullptr;                // null: packed in every run
  const std::uint32_t* packed_cells = nullptr;  // instead of that where ep.cpu.math asks for bfloat16,
  const bf16_loops* cells = nullptr;            // and the loops for them
  const float* bias = nullptr;                  // rounded up with zeros; null: made in every run
  bool plain_weights = true;

  static result<nchwc_conv> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
