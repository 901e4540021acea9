#pragma once
// Replaces the header that CMake writes from CAMEO_PROVIDERS, for a program with the reference providers.
#include <cameo/core/type_list.hpp>
#include <cameo/eps/cpu.hpp>

#include "context/ref_provider.hpp"

namespace cameo::build {
using providers = cameo::type_list<test::ref_a, test::ref_b, eps::cpu>;
}
