#pragma once
// The headers that a program includes, besides cameo/cameo.hpp, to open model packages, select variants and run them.
// See docs/packages.md.
#include <cameo/package/package.hpp>
#include <cameo/package/select.hpp>
#include <cameo/session/component_context.hpp>
#include <cameo/session/pipeline.hpp>
