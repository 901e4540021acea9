#pragma once
#include <cameo/core/result.hpp>

#if __cpp_exceptions
#include <atomic>
#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>
#endif

namespace CAMEO_NAMESPACE {

#if __cpp_exceptions
/// An exception of a user's function, as the status that a function of cameo returns.
struct callback_error : std::exception {
  explicit callback_error(status error) noexcept : why{std::move(error)} {}
  const char* what() const noexcept override { return why.words().data(); }
  status why;
};
#endif

/// Calls a user's function. An exception is thrown on with the function's name, and `guarded` makes it FAIL,
/// "session_options::log threw an exception: ...". std::bad_alloc is thrown on unchanged.
template <class Call>
decltype(auto) call_user(std::string_view name, Call&& call) {
#if __cpp_exceptions
  const auto threw = [&](const char* words) {
    return callback_error{status{status_code::fail, words}.in("threw an exception").in(name)};
  };
  try {
    return call();
  } catch (const callback_error&) {  // of a nested call_user()
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& thrown) {
    throw threw(thrown.what());
  } catch (...) {
    throw threw("it is not a std::exception");
  }
#else
  return static_cast<void>(name), call();
#endif
}

/// Calls `work` and returns its result. An exception becomes a status: OUT_OF_MEMORY where memory ran out, FAIL for a
/// user's function, otherwise `Thrown`, the code that ONNX Runtime has (RUNTIME_EXCEPTION for a kernel).
template <status_code Thrown, class Work>
auto guarded_as(Work&& work) noexcept -> decltype(work()) {
#if __cpp_exceptions
  try {
    return work();
  } catch (const callback_error& thrown) {
    return status{thrown.why};
  } catch (const std::bad_alloc&) {
    return status{status_code::out_of_memory};
  } catch (const std::length_error&) {  // of a container that would be too large
    return status{status_code::out_of_memory};
  } catch (const std::system_error& thrown) {
    return status{thrown.code() == std::errc::not_enough_memory ? status_code::out_of_memory : Thrown, thrown.what()};
  } catch (const std::exception& thrown) {
    return status{Thrown, thrown.what()};
  } catch (...) {
    return status{Thrown, "something was thrown"};
  }
#else
  return work();
#endif
}
/// guarded_as() for cameo's own code, which throws where containers do.
template <class Work>
auto guarded(Work&& work) noexcept -> decltype(work()) {
  return guarded_as<status_code::fail>(work);
}
/// guarded_as() for a provider's hooks and what calls them: EP_FAIL.
template <class Work>
auto guarded_hook(Work&& work) noexcept -> decltype(work()) {
  return guarded_as<status_code::ep_fail>(work);
}

/// The first exception of tasks on several threads, for the thread that waits for them. An exception that left a thread
/// of a pool would end the program.
class first_exception {
 public:
  first_exception() = default;
  first_exception(const first_exception&) = delete;
  first_exception& operator=(const first_exception&) = delete;

  /// Calls `work` unless an exception was caught before.
  template <class Work>
  void collect(Work&& work) noexcept {
#if __cpp_exceptions
    if (caught_.load(std::memory_order_relaxed)) return;
    try {
      work();
    } catch (...) {
      if (!caught_.exchange(true, std::memory_order_relaxed)) thrown_ = std::current_exception();
    }
#else
    work();
#endif
  }
  /// Throws the exception that was caught, if there is one. Called when all threads are done.
  void rethrow() const {
#if __cpp_exceptions
    if (thrown_) std::rethrow_exception(thrown_);
#endif
  }

 private:
#if __cpp_exceptions
  std::atomic<bool> caught_ = false;
  std::exception_ptr thrown_;
#endif
};

}  // namespace CAMEO_NAMESPACE
