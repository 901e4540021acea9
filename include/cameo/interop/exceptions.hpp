#pragma once
#include <cameo/core/result.hpp>
#include <cameo/interop/text.hpp>

#include <exception>

#ifndef __cpp_exceptions
#error "cameo/interop/exceptions.hpp needs exceptions: compile without -fno-exceptions, or test results instead"
#endif

namespace CAMEO_NAMESPACE {

/// A status as an exception, for programs that report errors by exceptions. cameo itself throws none through its API.
class status_error : public std::exception {
 public:
  explicit status_error(status s) : status_{std::move(s)}, text_{to_string(status_)} {}
  /// "INVALID_ARGUMENT: net.onnx: ..."; valid as long as the exception.
  const char* what() const noexcept override { return text_.c_str(); }
  /// The status that was thrown; valid as long as the exception.
  const status& why() const noexcept { return status_; }

 private:
  status status_;
  std::string text_;
};

/// The value of a result: `auto session = cameo::value_or_throw(runtime{}.load("net.onnx"));`
template <class T>
T value_or_throw(result<T>&& r) {
  if (!r) throw status_error{std::move(r).error()};
  return *std::move(r);
}
/// Throws if the status is an error.
inline void ok_or_throw(status&& s) {
  if (!s) throw status_error{std::move(s)};
}

}  // namespace CAMEO_NAMESPACE
