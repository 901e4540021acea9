#pragma once
#include <cameo/eps/cpu.hpp>
#include <cameo/eps/frozen.hpp>

/// Compiles models to plans of cpu's kernels, in cameo or in ONNX Runtime.
using frozen_provider = cameo::eps::frozen<cameo::eps::cpu>;
