#pragma once
#include <cameo/eps/cpu.hpp>
#include <cameo/eps/frozen.hpp>

/// Plans of cameo's kernels, compiled by cameo or inside ONNX Runtime.
using frozen_provider = cameo::eps::frozen<cameo::eps::cpu>;
