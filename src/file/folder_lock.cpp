#include "folder_lock.hpp"

#include "messages.hpp"
#include "os/folders.hpp"
#include "os/locks.hpp"
#include "os/processes.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

namespace CAMEO_NAMESPACE {
namespace {

using clock = std::chrono::steady_clock;

constexpr const char* name = folder_lock_file.data();

status cannot_make(const detail::held_folder& folder, const status& error) {
  return system_error(folder.path() + "/" + name, "cannot be made", error);
}

/// The contents of the lock file: "process 4711 (cameo) on host, since 2026-01-31 12:00:00 UTC".
std::string own_words() {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const auto day = std::chrono::floor<std::chrono::days>(now);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss time{now - day};
  return fmt::format("process {} ({}) on {}, since {:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", os::process_number(),
                     os::process_name(), os::host_name(), int(date.year()), unsigned(date.month()),
                     unsigned(date.day()), time.hours().count(), time.minutes().count(), time.seconds().count());
}

/// The contents of the lock file, which describe the process that holds the lock. Characters other than printable ASCII
/// are replaced, because another program may have written the file.
std::string words_of_holder(const os::handle& file) {
  std::array<char, 256> text;
  const result<std::size_t> length = os::read_at(file, 0, std::as_writable_bytes(std::span{text}));
  std::string made{text.data(), length ? *length : 0};
  std::replace_if(made.begin(), made.end(), [](char c) { return c < 0x20 || c > 0x7E; }, '?');
  return made.empty() ? "another process" : made;
}

/// Opens the lock file, and checks that it is a regular file with one name, because whoever created the folder may have
/// put another file there to have it overwritten. Another user's file can only be opened for reading, which is enough
/// to wait for the lock.
result<os::handle> open_lock_file(const detail::held_folder& folder) {
  result<os::handle> file = os::open_or_create(folder.handle(), name);
  if (!file) return cannot_make(folder, file.error());
  const result<os::file_facts> facts = os::facts_of(*file);
  if (!facts) return cannot_make(folder, facts.error());
  if (facts->kind != os::file_kind::file || facts->names > 1)
    return failed(status_code::fail, "{}/{}: is not a lock that cameo has made", folder.path(), name);
  return file;
}

/// True if the open file still has its name: the previous holder may have removed it meanwhile.
bool has_its_name(const os::handle& folder, const os::handle& file) {
  const result<os::file_facts> own = os::facts_of(file);
  const result<os::file_facts> named = os::facts_at(folder, name, os::last_link::kept);
  return own && named && named->kind != os::file_kind::nothing && own->id == named->id;
}

}  // namespace

result<folder_lock> folder_lock::take(const detail::held_folder& folder, detail::duration wait) {
  const clock::time_point end = clock::now() + std::chrono::nanoseconds{wait.nanoseconds()};
  std::chrono::milliseconds pause{1};
  while (true) {
    result<os::handle> file = open_lock_file(folder);
    if (!file) return std::move(file).error();
    const result<bool> is_locked = os::try_lock(*file);
    if (!is_locked) return cannot_make(folder, is_locked.error());
    if (*is_locked) {
      if (!has_its_name(folder.handle(), *file)) continue;
      // A killed holder left this file. It is replaced by a new one, because others may have permission to write to it.
      if (const result<os::file_facts> facts = os::facts_of(*file); facts && facts->bytes > 0) {
        if (status s = os::remove_name(folder.handle(), name); !s) return cannot_make(folder, s);
        continue;
      }
      const std::string words = own_words();
      if (status s = os::write_at(*file, 0, std::as_bytes(std::span{words})); !s) return cannot_make(folder, s);
      result<os::handle> own = os::open_folder(folder.handle(), ".");
      if (!own) return cannot_make(folder, own.error());
      return folder_lock{*std::move(own), *std::move(file)};
    }
    const clock::time_point now = clock::now();
    if (now >= end)
      return failed(status_code::fail, "{}: is being changed by {}; waited {} ms for it", folder.path(),
                    words_of_holder(*file), wait.nanoseconds() / 1'000'000);
    std::this_thread::sleep_for(std::min<clock::duration>(pause, end - now));
    pause = std::min(pause * 2, std::chrono::milliseconds{50});
  }
}

folder_lock::~folder_lock() {
  // The name is removed before the lock is released: a process that has opened the file meanwhile then finds that the
  // file has no name, and makes another.
  if (file_ && has_its_name(folder_, file_)) static_cast<void>(os::remove_name(folder_, name));
}

}  // namespace CAMEO_NAMESPACE
