#pragma once
#include <cameo/session/session.hpp>

namespace cameo::program {

/// Sizes of symbolic dims by name, as "--dim NAME=N" gives them.
using dim_sizes = std::vector<std::pair<std::string, std::int64_t>>;

/// Splits "NAME=N"; false if the text does not have this format.
bool parse_dim(std::string_view text, std::pair<std::string, std::int64_t>& to);

/// How the elements of an input are generated.
struct element_source {
  enum class kind : std::uint8_t { random, fill, range, list } how = kind::random;
  std::vector<std::string> texts = {};  // fill: the number; range: the lowest and highest number; list: all elements
};

/// Generates a tensor for an input. Symbolic dims have their size in `sizes`, or 1; for a list, the last dim without a
/// size is computed from the number of elements. Random elements depend on the seed and the input's name only, and are
/// the same on every machine: floats are normally distributed, strings are short, integers are from 0 to 3 or whatever
/// the model needs to run (wanted_numbers).
///   NOT_IMPLEMENTED   the input is not a tensor
///   INVALID_ARGUMENT  a text is not an element of the input's type, or the number of elements does not match its shape
///   OUT_OF_MEMORY     the tensor is too large
result<any_value> make_value(const session&, const io_info& input, const dim_sizes& sizes, const element_source&,
                             std::uint64_t seed);
/// make_value() with random elements.
inline result<any_value> random_value(const session& taker, const io_info& input, const dim_sizes& sizes,
                                      std::uint64_t seed) {
  return make_value(taker, input, sizes, {}, seed);
}

/// Returns INVALID_ARGUMENT for a name in `sizes` that no symbolic dim of the model's inputs has.
status check_dims(const session&, const dim_sizes& sizes);

/// The end of an error message about an unknown name: "; the nearest is 'x'", or the known names if none is similar.
std::string nearest_words(std::string_view name, const std::vector<std::string>& known);

}  // namespace cameo::program
