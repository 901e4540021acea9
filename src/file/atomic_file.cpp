#include <cameo/file/atomic_file.hpp>

#include "messages.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace cameo::inline CAMEO_ABI {
namespace {

status system_error(const std::string& path, std::string_view doing) {
  return failed(status_code::fail, "{}: {}: {}", path, doing, std::strerror(errno));
}

/// A name beside `path` that nobody else has.
std::string name_beside(const std::string& path) {
  static std::atomic<unsigned> number = 0;
  return fmt::format("{}.{}.{}.tmp", path, ::getpid(), number++);
}

/// A file under a temporary name; gone unless it was renamed.
class temporary_file {
 public:
  explicit temporary_file(const std::string& final_path) : path_{final_path} {
    do {
      name_ = name_beside(path_);
      descriptor_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    } while (descriptor_ < 0 && (errno == EEXIST || errno == EINTR));
    is_there_ = descriptor_ >= 0;
  }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  ~temporary_file() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (is_there_) ::unlink(name_.c_str());
  }

  const std::string& path() const { return path_; }
  bool is_open() const { return descriptor_ >= 0; }

  bool append(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), std::min(bytes.size(), std::size_t{1} << 30));
      if (written < 0 && errno != EINTR) return false;
      if (written > 0) bytes = bytes.subspan(std::size_t(written));
    }
    return true;
  }

  /// To the disk.
  bool finish() {
    while (::fsync(descriptor_) != 0)
      if (errno != EINTR) return false;
    // Linux has closed the file also when it says that it was interrupted.
    return ::close(std::exchange(descriptor_, -1)) == 0 || errno == EINTR;
  }

  bool rename() {
    if (::rename(name_.c_str(), path_.c_str()) != 0) return false;
    is_there_ = false;
    return true;
  }

 private:
  std::string path_, name_;
  int descriptor_ = -1;
  bool is_there_ = false;
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

namespace {

result<std::unique_ptr<temporary_file>> write_temporary(const std::string& path, file_maker produce) {
  auto file = std::make_unique<temporary_file>(path);
  if (!file->is_open()) return system_error(path, "cannot make a file beside it");
  const auto append = [&](std::span<const std::byte> piece) {
    return file->append(piece) ? status{} : system_error(path, "cannot write");
  };
  if (status s = produce(append); !s) return s;
  if (!file->finish()) return system_error(path, "cannot write it to the disk");
  return file;
}

/// What lies under a path, kept under another name until it is known whether it is still needed.
class former_file {
 public:
  explicit former_file(const std::string& path) : path_{path} {
    const std::string name = name_beside(path);
    if (::link(path.c_str(), name.c_str()) == 0) name_ = name;
    else was_there_ = errno != ENOENT;
  }
  former_file(former_file&& other) noexcept
      : path_{std::move(other.path_)}, name_{std::exchange(other.name_, {})}, was_there_{other.was_there_} {}
  former_file& operator=(former_file&&) = delete;
  ~former_file() {
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  void put_back() {
    if (!name_.empty() && ::rename(name_.c_str(), path_.c_str()) == 0) name_.clear();
    else if (!was_there_) ::unlink(path_.c_str());
  }

 private:
  std::string path_, name_;  // no name: there was nothing, or the file system has no links
  bool was_there_ = true;
};

}  // namespace

struct file_batch::impl {
  std::vector<std::unique_ptr<temporary_file>> files;
};

file_batch::file_batch() : impl_{std::make_unique<impl>()} {}
file_batch::~file_batch() = default;

status file_batch::add(const std::string& path, file_maker produce) {
  return guarded([&]() -> status {
    result<std::unique_ptr<temporary_file>> file = write_temporary(path, produce);
    if (!file) return std::move(file.error());
    impl_->files.push_back(std::move(*file));
    return {};
  });
}

status file_batch::commit() {
  return guarded([&]() -> status {
    std::vector<former_file> before;
    before.reserve(impl_->files.size());
    for (const auto& file : impl_->files) {
      before.emplace_back(file->path());
      if (file->rename()) continue;
      status failed = system_error(file->path(), "cannot put the new file in its place");
      before.pop_back();
      for (auto each = before.rbegin(); each != before.rend(); ++each) each->put_back();
      return failed;
    }
    for (const auto& file : impl_->files) sync_folder_of(file->path());
    impl_->files.clear();
    return {};
  });
}

status write_file_atomically(const std::string& path, file_maker produce) {
  return guarded([&]() -> status {
    result<std::unique_ptr<temporary_file>> file = write_temporary(path, produce);
    if (!file) return std::move(file.error());
    if (!(*file)->rename()) return system_error(path, "cannot put the new file in its place");
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
