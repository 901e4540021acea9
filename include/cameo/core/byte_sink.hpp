#pragma once
#include <cameo/core/function_ref.hpp>
#include <cameo/core/status.hpp>

#include <cstddef>
#include <span>

namespace CAMEO_NAMESPACE {

/// Receives the bytes of a file or a context, piece by piece, in order. Whoever writes them returns its error at once.
using byte_sink = detail::function_ref<status(std::span<const std::byte>)>;

}  // namespace CAMEO_NAMESPACE
