#pragma once
#include <cameo/format/onnx.hpp>
#include <cameo/format/pb.hpp>
#include <cameo/session/session.hpp>

namespace cameo::program {

/// Reads a .npy file (versions 1 to 3; both byte orders; C and Fortran order; bool, integers, floats, complex, strings
/// <U and |S). numpy has no names for some of ONNX's types: with `wanted`, an array of integers of the same size (or of
/// void, as ml_dtypes writes) is taken as bits, and for types below a byte each element has a byte of its own.
/// INVALID_ARGUMENT with the reason for anything that is no such file. The value lives in `memory`.
result<value> read_npy(std::span<const std::byte> file, dtype wanted, arena& memory);
/// The bytes of a .npy file. Tensors only; types without a name in numpy become integers, as above.
result<std::string> write_npy(const value&);

/// The pb_kind of a file that holds a value of this type.
pb_kind pb_kind_of(type_kind);

/// How the pixels of pictures become numbers: (pixel * scale - mean) / deviation, pixels being from 0 to 255. Mean and
/// deviation are one number, or one for each channel.
struct picture_scaling {
  std::optional<double> scale = {};  // 1/255 where it is not said
  std::vector<double> mean = {}, deviation = {};

  bool is_said() const { return scale || !mean.empty() || !deviation.empty(); }
  /// The formula in words, as it holds for an input of this element type.
  std::string text(dtype) const;
};

/// Makes a file's bytes a picture [height, width, channels] of one or three channels (gray, or red, green and blue) of
/// uint8; one without elements where the bytes are no whole picture.
using decode_picture = result<any_value> (*)(std::span<const std::byte> file, std::size_t channels);

/// True for a path that ends like a file of a value: .npy, .pb, or as a picture does.
bool names_value_file(const std::string& path);
/// True for a path that ends like a picture: .png, .jpg and others that ImageDecoder reads, in letters of any case.
bool names_picture(const std::string& path);

/// Reads a value for an input of the model: .npy, .pb, or a picture, where the input is an image ([N,C,H,W] or
/// [N,H,W,C] with one or three channels). Errors start with the file's name.
result<any_value> read_value_file(const std::string& path, const io_info& input, const picture_scaling&,
                                  decode_picture);

/// Reads the values of a folder with input_*.pb (`prefix` "input_") or output_*.pb into `memory`: by the name that is
/// in the file, else by the file's number among `order`. An input without a file is left out.
struct read_value {
  std::size_t io = 0;  // index into the session's inputs or outputs
  std::string file;    // the file's name, without folder
  value content;
};
result<std::vector<read_value>> read_data_set(const std::string& folder, std::string_view prefix,
                                              const std::vector<io_info>& ios, arena& memory);

/// Makes a picture's file a value for an image input: scaled for floats, 0..255 for uint8, which nothing can scale.
result<value> read_image(std::span<const std::byte> file, const io_info& input, const picture_scaling&, decode_picture,
                         arena& memory);

}  // namespace cameo::program
