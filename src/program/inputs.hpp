#pragma once
#include <cameo/session/session.hpp>

namespace cameo::program {

/// "--dim NAME=N": sizes for symbolic dims.
using dim_sizes = std::vector<std::pair<std::string, std::int64_t>>;

/// Splits "NAME=N"; false if it is none.
bool parse_dim(std::string_view text, std::pair<std::string, std::int64_t>& to);

/// A tensor for an input: floats normally distributed, integers from 0 to 3, booleans both, strings short. The
/// same for the same seed on every machine. Symbolic dims come from `sizes`, or are 1. NOT_IMPLEMENTED for one that
/// is no tensor; OUT_OF_MEMORY when it is too large.
result<any_value> random_value(const session&, const io_info& input, const dim_sizes& sizes, std::uint64_t seed);

/// INVALID_ARGUMENT when the model has no symbol of a name in `sizes`.
status check_dims(const session&, const dim_sizes& sizes);

}  // namespace cameo::program
