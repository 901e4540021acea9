#pragma once
#include <cameo/cameo.hpp>
#include <cameo/op/onnx.hpp>
#include <cameo/transform/rule.hpp>

// What rules that are right or wrong are written with.

using namespace cameo::pattern;
namespace op = cameo::op;

/// The transforms of one rule.
template <const auto& Rule>
using only = cameo::transform_list<cameo::optimization_level::basic, cameo::rule_of<Rule>>;
