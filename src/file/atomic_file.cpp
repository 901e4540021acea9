#include <cameo/file/atomic_file.hpp>

#include "destination.hpp"
#include "held_folder.hpp"
#include "messages.hpp"
#include "os/locks.hpp"
#include "os/processes.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <charconv>
#include <chrono>
#include <thread>
#include <vector>

namespace CAMEO_NAMESPACE {
namespace {

/// The beginning of temporary names for a path, shortened so that a whole name has at most 255 bytes.
std::string temporary_prefix(const std::string& path) {
  constexpr std::size_t longest = 255 - std::string_view{".4294967295.4294967295.tmp"}.size();
  const std::size_t folder = folder_part(path).size();
  return path.substr(0, std::min(path.size(), folder + longest)) + ".";
}

/// A unique temporary name beside `path`, with the id of this process: "out.html.1234.0.tmp".
std::string name_beside(const std::string& path) {
  static std::atomic<unsigned> number = 0;
  return fmt::format("{}{}.{}.tmp", temporary_prefix(path), os::process_number(), number++);
}

/// The process id in a temporary name with this prefix; 0 for any other name.
std::uint32_t process_in(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || !name.ends_with(".tmp")) return 0;
  name = name.substr(prefix.size(), std::max(name.size() - 4, prefix.size()) - prefix.size());
  std::uint32_t process = 0;
  const char* const last = name.data() + name.size();
  const auto [dot, error] = std::from_chars(name.data(), last, process);
  if (error != std::errc{} || process == 0 || dot == last || *dot != '.' || dot + 1 == last) return 0;
  return std::all_of(dot + 1, last, [](unsigned char c) { return std::isdigit(c); }) ? process : 0;
}

/// Removes the temporary files of killed writers of this file. A writer was killed if its process does not exist and
/// the lock on its temporary file is free; the lock is checked because the process may be in another container.
void remove_leftovers(const std::string& path) {
  const std::string folder = folder_part(path), prefix = temporary_prefix(path).substr(folder.size());
  const result<os::handle> in = os::open_folder({}, folder.empty() ? "." : folder);
  if (!in) return;
  const auto look_at = [&](std::string_view name, os::file_kind) {
    const std::uint32_t process = process_in(name, prefix);
    if (process == 0 || os::is_running(process)) return;
    const std::string leftover{name};
    const result<os::handle> file = os::open(*in, leftover, os::access::changing, os::last_link::kept);
    if (!file) return;
    const result<os::file_facts> facts = os::facts_of(*file);
    if (!facts || facts->kind != os::file_kind::file) return;
    if (os::try_lock(*file).value_or(false)) static_cast<void>(os::remove_name(*in, leftover));
  };
  static_cast<void>(os::list(*in, look_at));
}

/// A file that is being written under a temporary name beside its destination, and that is removed on destruction
/// unless take_place() has renamed it. If the destination is not a regular file, bytes are written to it directly.
class output_file {
 public:
  explicit output_file(destination target, bool replaces)
      : target_{std::move(target)}, is_replaced_{target_.is_replaced()}, replaces_{replaces} {}
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;
  ~output_file() {
    if (!name_.empty()) static_cast<void>(os::remove_name({}, name_));
  }

  status open() { return is_replaced_ ? make_temporary() : open_existing(); }
  const std::string& path() const { return target_.path; }
  bool is_replaced() const { return is_replaced_; }
  bool has_place_of(const output_file& other) const {
    if (!is_replaced() || !other.is_replaced()) return false;
    if (target_.path == other.target_.path) return true;
    return is_there() && other.is_there() && target_.there.id == other.target_.there.id;
  }
  status append(std::span<const std::byte> bytes) { return os::write(file_, bytes); }

  /// Sets the permissions, flushes the file to disk and closes it. The lock is held until take_place().
  status finish() {
    if (!is_replaced() && target_.there.kind != os::file_kind::disk) return {};  // pipes and terminals have no disk
    // Exactly the users who could read the old file can read the new one.
    if (is_replaced() && is_there()) os::keep_rights(target_.path, file_);
    if (status s = os::flush(file_); !s) return s;
    if (result<os::handle> lock = os::duplicate(file_)) lock_ = *std::move(lock);
    return os::close(std::move(file_));
  }

  /// Renames the file to its destination. False if another program has meanwhile made a file that must not be replaced.
  result<bool> take_place() {
    if (replaces_) {
      if (status s = os::replace_file(name_, target_.path); !s) return s;
    } else if (const result<bool> is_moved = os::move_to_free_name(name_, target_.path); !is_moved.value_or(false)) {
      return is_moved ? result<bool>{false} : result<bool>{is_moved.error()};
    }
    name_.clear();
    lock_ = {};
    return true;
  }

 private:
  bool is_there() const { return target_.there.kind != os::file_kind::nothing; }

  status make_temporary() {
    remove_leftovers(target_.path);
    while (true) {
      std::string name = name_beside(target_.path);
      result<os::handle> made = os::create_new(name);
      if (!made) return std::move(made).error();
      if (!*made) continue;  // there is something with that name
      name_ = std::move(name), file_ = *std::move(made);
      // Before the file was locked, a writer in another container may have removed it as a leftover.
      os::lock(file_);
      const result<os::file_facts> facts = os::facts_of(file_);
      if (!facts || facts->names > 0) return {};
      name_.clear();
    }
  }

  status open_existing() {
    if (target_.own) return file_ = std::move(target_.own), status{};
    result<os::handle> opened =
        os::open({}, target_.path, target_.appends ? os::access::appending : os::access::writing);
    if (!opened) return std::move(opened).error();
    const result<os::file_facts> facts = os::facts_of(*opened);
    if (!target_.appends && facts && facts->kind == os::file_kind::file)  // it has taken the place meanwhile
      return os::name_is_taken();
    file_ = *std::move(opened);
    return {};
  }

  destination target_;
  bool is_replaced_;        // target_.is_replaced() before open(), which takes the destination's open file
  bool replaces_;           // false: an existing file must not be replaced
  std::string name_;        // the temporary name while a file has it, otherwise empty
  os::handle file_, lock_;  // the lock is a second handle of the file, for the time after it was closed
};

result<std::unique_ptr<output_file>> write_output(const std::string& path, file_maker produce, bool replaces = true) {
  result<destination> to = find_destination(path);
  if (!to) return std::move(to).error();
  auto file = std::make_unique<output_file>(*std::move(to), replaces);
  if (status s = file->open(); !s)
    return system_error(path, file->is_replaced() ? "cannot make a file beside it" : "cannot open for writing", s);
  const auto append = [&](std::span<const std::byte> piece) -> status {
    const status written = file->append(piece);
    return written ? status{} : system_error(path, "cannot write", written);
  };
  if (status s = produce(append); !s) return s;
  if (status s = file->finish(); !s) return system_error(path, "cannot write it to the disk", s);
  return file;
}

status cannot_take_place(const std::string& path, const status& error) {
  return system_error(path, "cannot put the new file in its place", error);
}

/// The existing file at a path, which gets a second, temporary name so that it can be put back.
class former_file {
 public:
  explicit former_file(const std::string& path) : path_{path} {
    std::string name = name_beside(path);
    if (status s = os::add_name(path, name); s) name_ = std::move(name);
    else was_there_ = s.code() != status_code::no_suchfile;
  }
  former_file(former_file&& other) noexcept
      : path_{std::move(other.path_)}, name_{std::exchange(other.name_, {})}, was_there_{other.was_there_} {}
  former_file& operator=(former_file&&) = delete;
  ~former_file() {
    if (!name_.empty()) static_cast<void>(os::remove_name({}, name_));
  }
  void put_back() {
    if (!name_.empty() && os::replace_file(name_, path_)) name_.clear();
    else if (!was_there_) static_cast<void>(os::remove_name({}, path_));
  }

 private:
  std::string path_, name_;  // empty name: there was no file, or the file system does not support hard links
  bool was_there_ = true;
};

/// The longest time that a batch waits for another one, which only has to rename its files. A lock that is held for
/// longer belongs to another program.
constexpr std::chrono::seconds longest_wait{10};

/// Locks a folder while it stays open. If the file system can't (as network file systems), or another program holds the
/// lock, nothing is locked: then files that two writers mix are only detected when they are read.
void try_lock(const detail::held_folder& folder) {
  const auto end = std::chrono::steady_clock::now() + longest_wait;
  while (true) {
    const result<bool> is_locked = os::try_lock(folder.handle());
    if (!is_locked || *is_locked || std::chrono::steady_clock::now() >= end) return;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
}

/// Opens and locks the folders of these files in a fixed order, so that two batches can't deadlock.
std::vector<detail::held_folder> locked_folders(const std::vector<std::unique_ptr<output_file>>& files) {
  std::vector<detail::held_folder> folders;
  for (const auto& file : files) {
    result<detail::held_folder> folder = detail::held_folder::open(folder_part(file->path()));
    if (folder && std::none_of(folders.begin(), folders.end(), [&](const auto& f) { return f.id() == folder->id(); }))
      folders.push_back(*std::move(folder));
  }
  std::sort(folders.begin(), folders.end(), [](const detail::held_folder& a, const detail::held_folder& b) {
    return std::pair{a.id().volume, a.id().number} < std::pair{b.id().volume, b.id().number};
  });
  for (const detail::held_folder& folder : folders) try_lock(folder);
  return folders;
}

}  // namespace

struct file_batch::impl {
  std::vector<std::unique_ptr<output_file>> files;
  std::vector<std::function<status()>> checks;

  status add(const std::string& path, file_maker produce, bool replaces) {
    result<std::unique_ptr<output_file>> file = write_output(path, produce, replaces);
    if (!file) return std::move(file).error();
    for (const auto& other : files)
      if ((*file)->has_place_of(*other))
        return failed(status_code::fail, "{}: is the same file as '{}', which is to be written, too", path,
                      other->path());
    if ((*file)->is_replaced()) files.push_back(std::move(*file));
    return {};
  }
};

file_batch::file_batch() : impl_{std::make_unique<impl>()} {}
file_batch::~file_batch() = default;

status file_batch::add(const std::string& path, file_maker produce) {
  return guarded([&] { return impl_->add(path, produce, true); });
}

status file_batch::add_new(const std::string& path, file_maker produce) {
  return guarded([&] { return impl_->add(path, produce, false); });
}

void file_batch::require(std::function<status()> check) { impl_->checks.push_back(std::move(check)); }

status file_batch::commit() {
  return guarded([&]() -> status {
    const bool can_mix = impl_->files.size() > 1 || !impl_->checks.empty();
    const auto locked = can_mix ? locked_folders(impl_->files) : std::vector<detail::held_folder>{};
    for (const std::function<status()>& check : impl_->checks)
      if (status s = check(); !s) return s;
    std::vector<former_file> before;
    before.reserve(impl_->files.size());
    for (const auto& file : impl_->files) {
      before.emplace_back(file->path());
      const result<bool> is_done = file->take_place();
      if (is_done.value_or(false)) continue;
      status failed = is_done ? status{status_code::fail, file->path() + ": was made by another program meanwhile"}
                              : cannot_take_place(file->path(), is_done.error());
      before.pop_back();
      for (auto each = before.rbegin(); each != before.rend(); ++each) each->put_back();
      return failed;
    }
    for (const auto& file : impl_->files) os::flush_folder(folder_part(file->path()));
    impl_->files.clear(), impl_->checks.clear();
    return {};
  });
}

status write_file_atomically(const std::string& path, file_maker produce) {
  return guarded([&]() -> status {
    result<std::unique_ptr<output_file>> file = write_output(path, produce);
    if (!file) return std::move(file).error();
    if (!(*file)->is_replaced()) return {};
    if (const result<bool> is_done = (*file)->take_place(); !is_done) return cannot_take_place(path, is_done.error());
    os::flush_folder(folder_part((*file)->path()));
    return {};
  });
}

status write_file_atomically(const std::string& path, std::span<const std::span<const std::byte>> pieces) {
  const auto all = [&](detail::function_ref<status(std::span<const std::byte>)> append) -> status {
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

}  // namespace CAMEO_NAMESPACE
