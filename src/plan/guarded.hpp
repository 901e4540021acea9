#pragma once
#include <cameo/core/result.hpp>

#if __cpp_exceptions
#include <exception>
#include <new>
#endif

namespace cameo::inline CAMEO_ABI {

/// What a kernel or a hook of a provider throws becomes a status: here, once, not in every row. The code is ONNX
/// Runtime's: RUNTIME_EXCEPTION for a kernel, EP_FAIL for a provider.
template <class Result, status_code Thrown = status_code::ep_fail, class Hook>
Result guarded(Hook&& hook) noexcept {
#if __cpp_exceptions
  try {
    return hook();
  } catch (const std::bad_alloc&) {
    return status{status_code::out_of_memory, "there is no more memory"};
  } catch (const std::exception& thrown) {
    return status{Thrown, thrown.what()};
  } catch (...) {
    return status{Thrown, "something was thrown"};
  }
#else
  return hook();
#endif
}

}  // namespace cameo::inline CAMEO_ABI
