// The list: one line per kernel, in the order of the operator list. The build collects the headers of all kernels.
#include <cameo/eps/cpu.hpp>
#include <cameo/eps/cpu/all_kernels.hpp>
#include <cameo/kernel/kernel_list.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/onnx.hpp>

namespace cameo::inline CAMEO_ABI::eps {
namespace {

// clang-format off
using list = kernel_list<
    // arithmetic, elementwise, reductions, normalisation
    // movement, sequences, strings, control flow
    erased_entry<op::Reshape, since<1>, any_types, reshape>,
    erased_entry<op::Flatten, since<1>, any_types, flatten>,
    erased_entry<op::Squeeze, since<1>, any_types, squeeze>,
    erased_entry<op::Unsqueeze, since<1>, any_types, unsqueeze>,
    erased_entry<op::Identity, since<1>, any_types, identity>,
    erased_entry<op::Shape, since<1>, any_types, shape_of>,
    erased_entry<op::Size, since<1>, any_types, size_of>,
    erased_entry<op::Constant, since<1>, any_types, constant>,
    erased_entry<op::ConstantOfShape, since<9>, any_types, constant_of_shape>,
    erased_entry<op::Transpose, since<1>, byte_types<"T">, transpose>,
    erased_entry<op::Concat, since<1>, basic_types<"T">, concat>,
    erased_entry<op::Split, since<1, 1>, constrain<"T", float16, float, double>, split>,
    erased_entry<op::Split, since<2>, basic_types<"T">, split>,
    erased_entry<op::Slice, since<1>, basic_types<"T">, slice>,
    erased_entry<op::Gather, since<1>, basic_types<"T">, gather>,
    erased_entry<op::GatherElements, since<11>, basic_types<"T">, gather_elements>,
    erased_entry<op::GatherND, since<11>, basic_types<"T">, gather_nd>,
    erased_entry<op::Scatter, since<9>, first_types<"T">, scatter_elements>,
    erased_entry<op::ScatterElements, since<11>, basic_types<"T">, scatter_elements>,
    erased_entry<op::ScatterND, since<11>, basic_types<"T">, scatter_nd>,
    erased_entry<op::Expand, since<8>, basic_types<"T">, expand>,
    erased_entry<op::Tile, since<1, 1>, constrain<"T", float16, float, double>, tile>,
    erased_entry<op::Tile, since<6>, basic_types<"T">, tile>,
    erased_entry<op::Pad, since<1>, byte_types<"T">, pad>,
    erased_entry<op::DepthToSpace, since<1>, basic_types<"T">, depth_to_space>,
    erased_entry<op::SpaceToDepth, since<1>, basic_types<"T">, space_to_depth>,
    erased_entry<op::Range, since<11>, any_types, range_of>,
    erased_entry<op::NonZero, since<9>, basic_types<"T">, non_zero>,
    erased_entry<op::OneHot, since<9>, basic_types<"T3">, one_hot>,
    erased_entry<op::EyeLike, since<9>, any_types, eye_like>,
    erased_entry<op::Compress, since<9>, basic_types<"T">, compress>,
    erased_entry<op::Unique, since<11>, real_types<"T">, unique>,
    erased_entry<op::TopK, since<1>, any_types, top_k>,
    erased_entry<op::ReverseSequence, since<10>, basic_types<"T">, reverse_sequence>,
    erased_entry<op::Trilu, since<14>, basic_types<"T">, trilu>,
    erased_entry<op::SequenceConstruct, since<11>, any_types, sequence_construct>,
    erased_entry<op::SequenceEmpty, since<11>, any_types, sequence_empty>,
    erased_entry<op::SequenceAt, since<11>, any_types, sequence_at>,
    erased_entry<op::SequenceInsert, since<11>, any_types, sequence_insert>,
    erased_entry<op::SequenceErase, since<11>, any_types, sequence_erase>,
    erased_entry<op::SequenceLength, since<11>, any_types, sequence_length>,
    erased_entry<op::SplitToSequence, since<11>, basic_types<"T">, split_to_sequence>,
    erased_entry<op::ConcatFromSequence, since<11>, any_types, concat_from_sequence>,
    erased_entry<op::SequenceMap, since<17>, any_types, sequence_map>,
    erased_entry<op::Optional, since<15>, any_types, optional_of>,
    erased_entry<op::OptionalHasElement, since<15>, any_types, optional_has_element>,
    erased_entry<op::OptionalGetElement, since<15>, any_types, optional_get_element>,
    erased_entry<op::If, since<1>, any_types, if_else>,
    erased_entry<op::Loop, since<1>, any_types, loop>,
    erased_entry<op::Scan, since<8, 8>, any_types, batched_scan>,
    erased_entry<op::Scan, since<9>, any_types, scan>,
    erased_entry<op::StringConcat, since<20>, any_types, string_concat>,
    erased_entry<op::StringSplit, since<20>, any_types, string_split>,
    erased_entry<op::StringNormalizer, since<10>, any_types, string_normalizer>,
    erased_entry<op::RegexFullMatch, since<20>, any_types, regex_full_match>,
    // dense algebra, convolution, pooling
    kernel_entry<op::Relu, since<6>, constrain<"T", float, double>, relu>
>;
// clang-format on

}  // namespace

constinit const kernel_table cpu_kernels::table = list::table;

}  // namespace cameo::inline CAMEO_ABI::eps
