#pragma once
// The kernel list of the provider: the rows of all families of operators.
#include <cameo/kernel/kernel_list.hpp>

#include "attention/attention_rows.hpp"
#include "convolution/convolution_rows.hpp"
#include "elementwise/elementwise_rows.hpp"
#include "elementwise/map_rows.hpp"
#include "elementwise/zip_rows.hpp"
#include "flow/flow_rows.hpp"
#include "generate/generate_rows.hpp"
#include "image/image_rows.hpp"
#include "matrix/matrix_rows.hpp"
#include "ml/ml_rows.hpp"
#include "movement/movement_rows.hpp"
#include "normalize/normalize_rows.hpp"
#include "quantized/quantized_rows.hpp"
#include "recurrent/recurrent_rows.hpp"
#include "reduce/reduce_rows.hpp"
#include "search/search_rows.hpp"
#include "signal/signal_rows.hpp"
#include "text/text_rows.hpp"
#include "training/training_rows.hpp"

namespace CAMEO_NAMESPACE::eps {

using kernel_rows =
    decltype(all_maps{} + all_zips{} + elementwise_rows{} + reduce_rows{} + normalize_rows{} + matrix_rows{} +
             convolution_rows{} + attention_rows{} + recurrent_rows{} + quantized_rows{} + movement_rows{} +
             flow_rows{} + text_rows{} + image_rows{} + signal_rows{} + generate_rows{} + ml_rows{} + training_rows{} +
             search_rows{} + kernel_list<>{});

}  // namespace CAMEO_NAMESPACE::eps
