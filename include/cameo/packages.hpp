#pragma once
// What programs need that open, choose from and run model packages, besides cameo/cameo.hpp; docs/packages.md.
#include <cameo/package/package.hpp>
#include <cameo/package/select.hpp>
#include <cameo/session/component_context.hpp>
#include <cameo/session/pipeline.hpp>
