#pragma once
#include <cameo/core/duration.hpp>
#include "file/held_folder.hpp"

#include <string>

namespace CAMEO_NAMESPACE {

/// The file that a folder has while its lock is held. No other file may have this name.
inline constexpr std::string_view folder_lock_file = ".cameo.lock";

/// The right to change the content of a folder. Only one thread of one process has it at a time. The
/// system takes it back when the holder dies. While it is held, the folder has a file that names the holder; a file
/// that a killed process has left has no meaning, and the next holder removes it.
class folder_lock {
 public:
  /// Waits until the lock is free, for `wait` at most. FAIL naming the holder when it is still held then, and
  /// with the system's words when the folder can't be written to.
  static result<folder_lock> take(const detail::held_folder&, detail::duration wait);

  folder_lock(folder_lock&&) noexcept = default;
  folder_lock& operator=(folder_lock&&) = delete;
  ~folder_lock();

 private:
  folder_lock(os::handle folder, os::handle file) : folder_{std::move(folder)}, file_{std::move(file)} {}
  os::handle folder_, file_;
};

}  // namespace CAMEO_NAMESPACE
