#pragma once
#include <cameo/core/result.hpp>

#if __cpp_exceptions
#include <exception>
#include <new>
#include <stdexcept>
#endif

namespace cameo::inline CAMEO_ABI {

/// Calls `work` and returns what it returns; what it throws becomes a status: OUT_OF_MEMORY where memory ran out,
/// `Thrown` otherwise. The one place that catches. Codes are ONNX Runtime's: RUNTIME_EXCEPTION for a kernel.
template <status_code Thrown, class Work>
auto guarded_as(Work&& work) noexcept -> decltype(work()) {
#if __cpp_exceptions
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return status{status_code::out_of_memory, "there is no more memory"};
  } catch (const std::length_error&) {  // of a container that would be too large
    return status{status_code::out_of_memory, "there is no more memory"};
  } catch (const std::exception& thrown) {
    return status{Thrown, thrown.what()};
  } catch (...) {
    return status{Thrown, "something was thrown"};
  }
#else
  return work();
#endif
}
/// Of cameo's own code, which throws where containers do.
template <class Work>
auto guarded(Work&& work) noexcept -> decltype(work()) {
  return guarded_as<status_code::fail>(work);
}
/// Of a provider's hooks, and of what calls them: EP_FAIL.
template <class Work>
auto guarded_hook(Work&& work) noexcept -> decltype(work()) {
  return guarded_as<status_code::ep_fail>(work);
}

}  // namespace cameo::inline CAMEO_ABI
