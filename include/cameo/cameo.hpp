#pragma once
// Everything a program needs to load and run models, and to write its own providers and kernels.
#include <cameo/core/version.hpp>
#include <cameo/ep/provider.hpp>
#include <cameo/kernel/kernel_list.hpp>
#include <cameo/session/runtime.hpp>
#include <cameo/session/session.hpp>
