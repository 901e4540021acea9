#pragma once
// Instead of what CMake writes from CAMEO_PROVIDERS: a program of the reference providers, for tests of its commands.
#include <cameo/core/type_list.hpp>
#include <cameo/eps/cpu.hpp>

#include "context/ref_provider.hpp"

namespace cameo::build {
using providers = cameo::type_list<test::ref_a, test::ref_b, eps::cpu>;
}
