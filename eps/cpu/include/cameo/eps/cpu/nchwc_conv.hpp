#pragma once
#include <cameo/eps/cpu/detail/activation.hpp>
#include <cameo/eps/cpu/detail/window.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

struct nchwc_kernels;
struct nchwc_line_kernels;
struct bf16_loops;

/// com.microsoft.nchwc Conv: Y = f(X * W + B + Sum), on images in the blocked layout NCHWc, in which 16 neighboring
/// channels of a pixel are next to each other in memory.
///
/// The shape of Y is [N, M', H, W], its memory [N, M' / 16, H, W, 16]; M' is M rounded up to a multiple of 16, and the
/// elements of channels from M on are 0. X is blocked in the same way, [N, C', ...], or, if there is one group of C <
/// 16 channels, plain [N, C, ...]; the shape shows which. Elements of X in channels from C on are not read. Sum has the
/// shape of Y, and Y may be written over it.
///
/// ONNX Runtime's operator of this name expects weights that are padded and reordered. Here W [M, C / group, kh, kw]
/// and B [M] are those of ONNX's Conv, so that a model runs with any block size; W is packed by this kernel, once if it
/// is constant. The attribute `plain_weights` marks this. A node without it has weights that ONNX Runtime packed;
/// sessions unpack these where they can, and otherwise running the node is NOT_IMPLEMENTED. Groups have multiples of 16
/// input and output channels, or one channel each with group == C == M.
///
/// Scratch, for each worker: a copy of the part of X that its task reads, with the padding written out (1/4 MB, or what
/// one line of outputs depends on if that is more), unless X is blocked and its lines are neither padded nor read with
/// a stride.
struct nchwc_conv {
  /// The known sizes of the weights. `channels` and `maps` are the input and output channels of a group.
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
  const std::uint32_t* packed_pairs = nullptr;  // replaces `packed` if ep.cpu.math selects bfloat16 for the node
  const bf16_loops* bf16 = nullptr;             // the loops for packed_pairs, which are pairs of channels
  const float* bias = nullptr;                  // filled up with zeros to whole blocks; null: made in every run
  bool plain_weights = true;

  static result<nchwc_conv> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
