#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

class fourier_transform;

/// ONNX's DFT along an axis of [..., 1 or 2] (real, or real and imaginary): the signal is cut or filled with zeros to
/// dft_length. Forward, onesided returns the first length / 2 + 1 of each spectrum; inverse, onesided reads them and
/// returns real numbers. Any length takes n log n steps, in double. Scratch: a few numbers of the length per thread.
struct dft {
  using elements = float_elements;
  std::int64_t axis = 1;
  bool inverse = false, onesided = false, axis_is_input = false;
  const fourier_transform* planned = nullptr;  // of the length that was known, unless that was very large

  static result<dft> bind(bind_context&);
  status run(run_context&) const;
};

/// Spectra of frames of a signal [batch, length, 1 or 2], one every frame_step, each times the window if there is one:
/// [batch, frames, length or length / 2 + 1, 2].
struct stft {
  using elements = float_elements;
  bool onesided = true;
  const fourier_transform* planned = nullptr;  // see dft

  static result<stft> bind(bind_context&);
  status run(run_context&) const;
};

/// The matrix [dft_length / 2 + 1, num_mel_bins] of triangles that turns spectra into bins of equal steps on the mel
/// scale.
struct mel_weight_matrix {
  using elements = number_elements;
  static result<mel_weight_matrix> bind(bind_context&) { return mel_weight_matrix{}; }
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
