#pragma once
#include <cameo/core/abi.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cameo::inline CAMEO_ABI {

/// What dims of a tensor are said to be ("DATA_BATCH"), as graph_value::unknown keeps it: the rest of a ValueInfoProto.
/// Empty if no dim is said to be anything.
std::string keep_dim_denotations(std::span<const std::string_view> by_dim);
/// The other way; empty texts for dims without one.
std::vector<std::string> dim_denotations_of(std::string_view unknown);

}  // namespace cameo::inline CAMEO_ABI
