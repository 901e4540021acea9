#pragma once
#include <cameo/eps/cpu/concat.hpp>
#include <cameo/eps/cpu/control_flow.hpp>
#include <cameo/eps/cpu/reshape.hpp>
#include <cameo/eps/cpu/sequence.hpp>
#include <cameo/op/onnx.hpp>

#include "skeletons/row_list.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Operators on values of any kind: tensors, sequences, optionals.
// clang-format off
using flow_rows = row_list<
    takes_any<op::Identity, since<1>, identity>,
    takes_any<op::SequenceConstruct, since<11>, sequence_construct>,
    takes_any<op::SequenceEmpty, since<11>, sequence_empty>,
    takes_any<op::SequenceAt, since<11>, sequence_at>,
    takes_any<op::SequenceInsert, since<11>, sequence_insert>,
    takes_any<op::SequenceErase, since<11>, sequence_erase>,
    takes_any<op::SequenceLength, since<11>, sequence_length>,
    takes_any<op::ConcatFromSequence, since<11>, concat_from_sequence>,
    takes_any<op::SequenceMap, since<17>, sequence_map>,
    takes_any<op::Optional, since<15>, optional_of>,
    takes_any<op::OptionalHasElement, since<15>, optional_has_element>,
    takes_any<op::OptionalGetElement, since<15>, optional_get_element>,
    takes_any<op::If, since<1>, if_else>,
    takes_any<op::Loop, since<1>, loop>,
    takes_any<op::Scan, since<8, 8>, batched_scan>,
    takes_any<op::Scan, since<9>, scan>
>;
// clang-format on

}  // namespace CAMEO_NAMESPACE::eps
