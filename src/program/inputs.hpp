#pragma once
#include <cameo/session/session.hpp>

namespace cameo::program {

/// "--dim NAME=N": sizes for symbolic dims.
using dim_sizes = std::vector<std::pair<std::string, std::int64_t>>;

/// Splits "NAME=N"; false if it is none.
bool parse_dim(std::string_view text, std::pair<std::string, std::int64_t>& to);

/// Where the elements of an input come from.
struct element_source {
  enum class kind : std::uint8_t { random, fill, range, list } how = kind::random;
  std::vector<std::string> texts = {};  // the number; the first and the last one; all of them
};

/// A tensor for an input, whose symbolic dims come from `sizes`, or are 1; of a list, the last one without a size is as
/// long as it has to be. Random ones are the same for the same seed on every machine: floats normally distributed,
/// booleans both, strings short, integers from 0 to 3 or as they have to be for the model to run (wanted_numbers).
/// NOT_IMPLEMENTED for an input that is no tensor; INVALID_ARGUMENT for texts that are no elements of it;
/// OUT_OF_MEMORY when it is too large.
result<any_value> make_value(const session&, const io_info& input, const dim_sizes& sizes, const element_source&,
                             std::uint64_t seed);
/// The same with random ones.
inline result<any_value> random_value(const session& of, const io_info& input, const dim_sizes& sizes,
                                      std::uint64_t seed) {
  return make_value(of, input, sizes, {}, seed);
}

/// INVALID_ARGUMENT when the model has no symbol of a name in `sizes`.
status check_dims(const session&, const dim_sizes& sizes);

/// "; the nearest is 'x'", or what there is when none is near.
std::string nearest_words(std::string_view name, const std::vector<std::string>& known);

}  // namespace cameo::program
