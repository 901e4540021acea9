#pragma once
#include "os/handle.hpp"

#include <cameo/core/result.hpp>

#include <cerrno>

#include <fcntl.h>

namespace CAMEO_NAMESPACE::os {

/// The descriptor in a handle.
struct native {
  static int number(const handle& of) { return int(of.native_); }
  /// The descriptor to pass to calls that resolve a path from a folder; an empty handle stands for the current folder.
  static int folder(const handle& of) { return of ? number(of) : AT_FDCWD; }
  /// Takes ownership of the descriptor.
  static handle own(int opened) {
    handle made;
    made.native_ = opened;
    return made;
  }
  /// Returns the descriptor, which the caller then owns, and leaves the handle empty.
  static int release(handle&& from) { return int(std::exchange(from.native_, handle::none)); }
};

/// The status for a value of errno.
status error_of(int number);
/// The status for the call that has just failed.
inline status last_error() { return error_of(errno); }

/// A handle that owns the descriptor, or the error of the call that failed to open it.
inline result<handle> opened(int descriptor) {
  if (descriptor < 0) return last_error();
  return native::own(descriptor);
}

/// Repeats a call as long as signals interrupt it.
template <class Call>
auto uninterrupted(Call&& call) {
  auto made = call();
  while (made < 0 && errno == EINTR) made = call();
  return made;
}

}  // namespace CAMEO_NAMESPACE::os
