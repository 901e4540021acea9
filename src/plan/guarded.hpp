#pragma once
#include <cameo/core/result.hpp>

#if __cpp_exceptions
#include <exception>
#include <new>
#endif

namespace cameo::inline CAMEO_ABI {

/// What a hook of a kernel or a provider throws becomes a status: here, once, not in every row.
template <class Result, class Hook>
Result guarded(Hook&& hook) noexcept {
#if __cpp_exceptions
  try {
    return hook();
  } catch (const std::bad_alloc&) {
    return status{status_code::out_of_memory};
  } catch (const std::exception& thrown) {
    return status{status_code::ep_fail, thrown.what()};
  } catch (...) {
    return status{status_code::ep_fail, "something was thrown"};
  }
#else
  return hook();
#endif
}

}  // namespace cameo::inline CAMEO_ABI
