#pragma once
#include <cameo/eps/cpu/token_search.hpp>
#include <cameo/op/microsoft.hpp>

#include "skeletons/row_list.hpp"

namespace CAMEO_NAMESPACE::eps {

/// The operators that generate tokens with a decoder.
// clang-format off
using search_rows = row_list<
    computes<op::microsoft::GreedySearch, since<1>, greedy_search, "T">,
    computes<op::microsoft::Sampling, since<1>, greedy_search, "T">,
    computes<op::microsoft::BeamSearch, since<1>, beam_search, "T">,
    computes<op::microsoft::WhisperBeamSearch, since<1>, beam_search, "T">
>;
// clang-format on

}  // namespace CAMEO_NAMESPACE::eps
