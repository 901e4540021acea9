#pragma once
#include <cameo/graph/check.hpp>

namespace cameo::program {

/// Replaces operators of a checked model that ONNX Runtime has no kernel for by what ONNX defines them as: it opens
/// them when it reads ONNX files, and can't when it reads ORT files. Those whose definition is not there stay.
status expand_for_ort(model&, const op_table&);

}  // namespace cameo::program
