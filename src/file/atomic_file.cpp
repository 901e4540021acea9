#include <cameo/file/atomic_file.hpp>

#include "messages.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace cameo::inline CAMEO_ABI {
namespace {

status system_error(const std::string& path, std::string_view doing) {
  return failed(status_code::fail, "{}: {}: {}", path, doing, std::strerror(errno));
}

/// A file under a temporary name; gone unless it was renamed.
class temporary_file {
 public:
  explicit temporary_file(const std::string& final_path) {
    static std::atomic<unsigned> number = 0;
    do {
      name_ = fmt::format("{}.{}.{}.tmp", final_path, ::getpid(), number++);
      descriptor_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    } while (descriptor_ < 0 && errno == EEXIST);
  }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  ~temporary_file() {
    const bool was_made = descriptor_ >= 0 || closed_;
    if (descriptor_ >= 0) ::close(descriptor_);
    if (was_made && !renamed_) ::unlink(name_.c_str());
  }

  bool is_open() const { return descriptor_ >= 0; }

  bool append(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), std::min(bytes.size(), std::size_t{1} << 30));
      if (written < 0 && errno != EINTR) return false;
      if (written > 0) bytes = bytes.subspan(std::size_t(written));
    }
    return true;
  }

  bool rename_to(const std::string& path) {
    if (::fsync(descriptor_) != 0) return false;
    closed_ = true;
    if (::close(std::exchange(descriptor_, -1)) != 0) return false;
    return renamed_ = ::rename(name_.c_str(), path.c_str()) == 0;
  }

 private:
  std::string name_;
  int descriptor_ = -1;
  bool closed_ = false, renamed_ = false;
};

/// Makes the new name itself last; some file systems have nothing to do for it and say so.
void sync_folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  (void)::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

status write_file_atomically(const std::string& path,
                             function_ref<status(function_ref<status(std::span<const std::byte>)>)> produce) {
  return guarded([&]() -> status {
    temporary_file file{path};
    if (!file.is_open()) return system_error(path, "cannot make a file beside it");
    const auto append = [&](std::span<const std::byte> piece) {
      return file.append(piece) ? status{} : system_error(path, "cannot write");
    };
    if (status s = produce(append); !s) return s;
    if (!file.rename_to(path)) return system_error(path, "cannot put the new file in its place");
    sync_folder_of(path);
    return status_code::ok;
  });
}

status write_file_atomically(const std::string& path, std::span<const std::span<const std::byte>> pieces) {
  const auto all = [&](function_ref<status(std::span<const std::byte>)> append) -> status {
    for (std::span<const std::byte> piece : pieces)
      if (status s = append(piece); !s) return s;
    return {};
  };
  return write_file_atomically(path, all);
}

status write_file_atomically(const std::string& path, std::span<const std::byte> bytes) {
  return write_file_atomically(path, std::span{&bytes, 1});
}

status write_file_atomically(const std::string& path, std::string_view text) {
  return write_file_atomically(path, std::as_bytes(std::span{text.data(), text.size()}));
}

}  // namespace cameo::inline CAMEO_ABI
