#pragma once
#include <cameo/format/onnx.hpp>
#include <cameo/format/pb.hpp>
#include <cameo/session/session.hpp>

namespace cameo::program {

/// Reads a .npy file: versions 1 to 3; both byte orders; C and Fortran order; bool, integers, floats, complex numbers,
/// strings <U and |S. If `wanted` is a type that numpy lacks, an array of integers of the same size, or of void as
/// ml_dtypes writes, is read as the bits of its elements; elements below a byte have one byte each. The value is
/// allocated in `memory`. INVALID_ARGUMENT with the reason for any other file.
result<value> read_npy(std::span<const std::byte> file, dtype wanted, arena& memory);
/// The bytes of a .npy file for a tensor. Types that numpy lacks are written as integers, as read_npy() reads them.
result<std::string> write_npy(const value&);

/// The pb_kind of a .pb file for a value of this type.
pb_kind pb_kind_of(type_kind);

/// How pixels, from 0 to 255, are converted to numbers: (pixel * scale - mean) / deviation. Mean and deviation have one
/// number for all channels, or one for each.
struct picture_scaling {
  std::optional<double> scale = {};  // default: 1/255
  std::vector<double> mean = {}, deviation = {};

  bool is_said() const { return scale || !mean.empty() || !deviation.empty(); }
  /// The formula for display, for an input of this element type.
  std::string text(dtype) const;
};

/// Decodes a file to a picture of uint8 [height, width, channels] with one channel (gray) or three (red, green, blue).
/// Returns an empty tensor if the bytes are not a complete picture.
using decode_picture = result<any_value> (*)(std::span<const std::byte> file, std::size_t channels);

/// True for a path with the extension .npy, .pb, or that of a picture.
bool names_value_file(const std::string& path);
/// True for a path with the extension of a picture, in any case: .png, .jpg and others that ImageDecoder reads.
bool names_picture(const std::string& path);

/// Reads a value for an input of the model from a .npy or .pb file or, if the input is an image, from a picture. Errors
/// start with the file's path.
result<any_value> read_value_file(const std::string& path, const io_info& input, const picture_scaling&,
                                  decode_picture);

/// A value of a test data set.
struct read_value {
  std::size_t io = 0;  // index into the session's inputs or outputs
  std::string file;    // the file's name, without folder
  value content;
};
/// Reads the files input_*.pb (`prefix` is "input_") or output_*.pb of a folder into `memory`. A file belongs to the
/// input or output whose name it contains, else to the one at its number among `ios` without a default value. Inputs
/// without a file are left out.
result<std::vector<read_value>> read_data_set(const std::string& folder, std::string_view prefix,
                                              const std::vector<io_info>& ios, arena& memory);

/// Reads a picture for an image input, [1,C,H,W] or [1,H,W,C] with one or three channels. Pixels are scaled for float
/// types and remain 0 to 255 for uint8. INVALID_ARGUMENT if the input or the size of the picture does not match.
result<value> read_image(std::span<const std::byte> file, const io_info& input, const picture_scaling&, decode_picture,
                         arena& memory);

}  // namespace cameo::program
