#pragma once
#include <cameo/eps/cpu/affine_grid.hpp>
#include <cameo/eps/cpu/crop_and_resize.hpp>
#include <cameo/eps/cpu/grid_sample.hpp>
#include <cameo/eps/cpu/image_decoder.hpp>
#include <cameo/eps/cpu/image_scaler.hpp>
#include <cameo/eps/cpu/max_roi_pool.hpp>
#include <cameo/eps/cpu/non_max_suppression.hpp>
#include <cameo/eps/cpu/resize.hpp>
#include <cameo/eps/cpu/roi_align.hpp>
#include <cameo/op/contrib.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/onnx.hpp>

#include "skeletons/row_list.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Operators on images and on regions of images.
// clang-format off
using image_rows = row_list<
    computes<op::AffineGrid, since<20>, affine_grid>,
    computes<op::Resize, since<10, 10>, resize>,
    computes<op::Resize, since<11>, resize, "T1">,
    computes<op::Upsample, since<1>, upsample>,
    computes<op::contrib::ImageScaler, since<1, 9>, image_scaler>,
    moves<op::contrib::Crop, since<1, 9>, crop>,
    computes<op::ImageDecoder, since<20>, image_decoder>,
    computes<op::GridSample, since<16>, grid_sample>,
    computes<op::microsoft::GridSample, since<1>, grid_sample_of_floats, "T1", "T2">,
    computes<op::microsoft::CropAndResize, since<1>, crop_and_resize>,
    computes<op::MaxRoiPool, since<1>, max_roi_pool>,
    computes<op::RoiAlign, since<10>, roi_align>,
    takes_any<op::NonMaxSuppression, since<10>, non_max_suppression>
>;
// clang-format on

}  // namespace CAMEO_NAMESPACE::eps
