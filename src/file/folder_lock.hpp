#pragma once
#include <cameo/core/duration.hpp>
#include "file/held_folder.hpp"

#include <string>

namespace CAMEO_NAMESPACE {

/// The name of the lock file, which is in a folder while its lock is held. No other file may have this name.
inline constexpr std::string_view folder_lock_file = ".cameo.lock";

/// The lock of a folder's contents, which one thread of one process holds at a time. The system releases it when the
/// process ends. While it is held, the folder has a file that names the holder; a file that a killed process has left
/// does not hold the lock, and the next holder removes it.
class folder_lock {
 public:
  /// Takes the lock, waiting at most `wait` until it is free. FAIL naming the holder when the time is up, and with the
  /// system's message when the folder can't be written to.
  static result<folder_lock> take(const detail::held_folder&, detail::duration wait);

  folder_lock(folder_lock&&) noexcept = default;
  folder_lock& operator=(folder_lock&&) = delete;
  ~folder_lock();

 private:
  folder_lock(os::handle folder, os::handle file) : folder_{std::move(folder)}, file_{std::move(file)} {}
  os::handle folder_, file_;
};

}  // namespace CAMEO_NAMESPACE
