#pragma once
#include <cameo/eps/cpu/binary.hpp>
#include <cameo/eps/cpu/bit_cast.hpp>
#include <cameo/eps/cpu/cast.hpp>
#include <cameo/eps/cpu/clip.hpp>
#include <cameo/eps/cpu/dropout.hpp>
#include <cameo/eps/cpu/where.hpp>
#include <cameo/op/onnx.hpp>

#include "skeletons/row_list.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Elementwise operators with several types, or whose kernels do more than apply a function. All others are in
/// map_rows.hpp and zip_rows.hpp.
// clang-format off
using elementwise_rows = row_list<
    erased_entry<op::Pow, since<1, 7>, allow<"T">(first_float_elements{}), binary<op::Pow>>,
    erased_entry<op::Pow, since<12>, allow<"T">(base_elements{}) && allow<"T1">(number_elements{}), binary<op::Pow>>,
    moves<op::Where, since<9>, where, "T">,
    computes<op::Clip, since<1>, clip>,
    computes<op::Cast, since<1>, cast, "T1", "T2">,
    computes<op::CastLike, since<15>, cast_like, "T1", "T2">,
    takes_any<op::BitCast, since<26>, bit_cast>,
    computes<op::Dropout, since<1, 7>, dropout>,
    computes<op::Dropout, since<10>, dropout>
>;
// clang-format on

}  // namespace CAMEO_NAMESPACE::eps
