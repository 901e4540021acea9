#pragma once
#include <cameo/eps/cpu/center_crop_pad.hpp>
#include <cameo/eps/cpu/concat.hpp>
#include <cameo/eps/cpu/gather.hpp>
#include <cameo/eps/cpu/pad.hpp>
#include <cameo/eps/cpu/reshape.hpp>
#include <cameo/eps/cpu/scatter.hpp>
#include <cameo/eps/cpu/shape.hpp>
#include <cameo/eps/cpu/slice.hpp>
#include <cameo/eps/cpu/sort.hpp>
#include <cameo/eps/cpu/tensor_scatter.hpp>
#include <cameo/eps/cpu/transpose.hpp>
#include <cameo/eps/cpu/unfold.hpp>
#include <cameo/op/contrib.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/onnx.hpp>

#include "skeletons/row_list.hpp"

namespace CAMEO_NAMESPACE::eps {

/// The operators that move, select, sort and count elements.
// clang-format off
using movement_rows = row_list<
    takes_any<op::Reshape, since<1>, reshape>,
    takes_any<op::Flatten, since<1>, flatten>,
    takes_any<op::Squeeze, since<1>, squeeze>,
    takes_any<op::Unsqueeze, since<1>, unsqueeze>,
    takes_any<op::Shape, since<1>, shape_of>,
    takes_any<op::Size, since<1>, size_of>,
    computes<op::Transpose, since<1>, transpose>,
    moves<op::Concat, since<1>, concat>,
    moves<op::Split, since<1>, split>,
    moves<op::Slice, since<1>, slice>,
    moves<op::contrib::DynamicSlice, since<1, 9>, slice>,
    moves<op::Gather, since<1>, gather>,
    moves<op::GatherElements, since<11>, gather_elements>,
    moves<op::GatherND, since<11>, gather_nd>,
    moves<op::Scatter, since<9>, scatter_elements>,
    moves<op::ScatterElements, since<11>, scatter_elements>,
    moves<op::ScatterND, since<11>, scatter_nd>,
    computes<op::TensorScatter, since<24>, tensor_scatter>,
    moves<op::Expand, since<8>, expand>,
    moves<op::Tile, since<1>, tile>,
    computes<op::Pad, since<1>, pad>,
    moves<op::CenterCropPad, since<18>, center_crop_pad>,
    moves<op::DepthToSpace, since<1>, depth_to_space>,
    moves<op::SpaceToDepth, since<1>, space_to_depth>,
    moves<op::Compress, since<9>, compress>,
    moves<op::ReverseSequence, since<10>, reverse_sequence>,
    moves<op::Trilu, since<14>, trilu>,
    moves<op::SplitToSequence, since<11>, split_to_sequence>,
    moves<op::microsoft::SampleOp, since<1>, identity>,
    moves<op::microsoft::ExpandDims, since<1>, expand_dims>,
    moves<op::microsoft::GatherND, since<1>, gather_nd>,
    computes<op::microsoft::Pad, since<1>, microsoft_pad>,
    moves<op::microsoft::Trilu, since<1>, trilu>,
    moves<op::microsoft::UnfoldTensor, since<1>, unfold>,
    computes<op::microsoft::Unique, since<1>, unique_of_list>,
    computes<op::Unique, since<11>, unique>,
    computes<op::TopK, since<1>, top_k>
>;
// clang-format on

}  // namespace CAMEO_NAMESPACE::eps
