#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

class fourier_transform;

/// ONNX's DFT along an axis of a signal [..., 1 or 2] (real numbers, or real and imaginary parts). The signal is cut or
/// filled with zeros to dft_length. A forward transform with `onesided` returns the first length / 2 + 1 numbers of
/// each spectrum; an inverse transform with `onesided` reads these and returns real numbers. Any length takes O(n log
/// n) steps, in double. Scratch: a few numbers for each element of the length, per thread.
struct dft {
  using elements = float_elements;
  std::int64_t axis = 1;
  bool inverse = false, onesided = false, axis_is_input = false;
  const fourier_transform* planned = nullptr;  // if the length is known at binding and not very large; else null

  static result<dft> bind(bind_context&);
  status run(run_context&) const;
};

/// STFT: the spectra of overlapping frames of a signal [batch, length, 1 or 2], one frame every frame_step, each
/// multiplied by the window if there is one. Output: [batch, frames, length or length / 2 + 1, 2].
struct stft {
  using elements = float_elements;
  bool onesided = true;
  const fourier_transform* planned = nullptr;  // see dft::planned

  static result<stft> bind(bind_context&);
  status run(run_context&) const;
};

/// MelWeightMatrix: the matrix [dft_length / 2 + 1, num_mel_bins] of triangular filters that converts spectra to bins
/// of equal width on the mel scale.
struct mel_weight_matrix {
  using elements = number_elements;
  static result<mel_weight_matrix> bind(bind_context&) { return mel_weight_matrix{}; }
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
