#pragma once
#include <cameo/cameo.hpp>
#include <cameo/op/onnx.hpp>
#include <cameo/transform/rule.hpp>

using namespace cameo::pattern;
namespace op = cameo::op;

/// A list of transforms with only this rule.
template <const auto& Rule>
using only = cameo::transform_list<cameo::optimization_level::basic, cameo::rule_of<Rule>>;
