// Tests of the functions of src/os for files and folders.
#include "os/files.hpp"

#include <doctest/doctest.h>

#include "os/folders.hpp"
#include "os/locks.hpp"
#include "os/memory.hpp"
#include "os/processes.hpp"

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <vector>

namespace cameo::test {
namespace {

namespace fs = std::filesystem;

/// A folder that is removed at the end.
class files_folder {
 public:
  files_folder() { fs::create_directories(path_); }
  files_folder(const files_folder&) = delete;
  files_folder& operator=(const files_folder&) = delete;
  ~files_folder() { fs::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  void file(const std::string& name, const std::string& text) const { std::ofstream{path_ / name} << text; }

 private:
  fs::path path_ = fs::temp_directory_path() / ("cameo_os_" + std::to_string(os::process_number()));
};

std::string text_of_os_file(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::span<const std::byte> bytes_of_text(std::string_view text) {
  return std::as_bytes(std::span{text.data(), text.size()});
}

os::file_facts facts_at(const std::string& path, os::last_link link = os::last_link::kept) {
  const result<os::file_facts> facts = os::facts_at({}, path, link);
  REQUIRE_MESSAGE(facts, std::string{facts.error().words()});
  return *facts;
}

}  // namespace

TEST_CASE("os: nothing at a path is a kind and not an error; opening it is NO_SUCHFILE with the system's words") {
  const files_folder at;
  at.file("file", "text");
  CHECK(facts_at(at / "none").kind == os::file_kind::nothing);
  CHECK(facts_at(at / "file").kind == os::file_kind::file);
  CHECK(facts_at(at / "file").bytes == 4);
  CHECK(facts_at(at / "file").names == 1);
  CHECK(facts_at(at / "").kind == os::file_kind::folder);
  for (const char* const path : {"none", "file/none", "none/none"}) {
    CAPTURE(path);
    const result<os::handle> opened = os::open({}, at / path, os::access::reading);
    CHECK(opened.error().code() == status_code::no_suchfile);
    CHECK_FALSE(opened.error().words().empty());
    CHECK(os::open_folder({}, at / path).error().code() == status_code::no_suchfile);
  }
  CHECK(os::open_folder({}, at / "file").error().code() == status_code::no_suchfile);
}

TEST_CASE("os: a link that a path ends in is kept or followed, as the caller says") {
  const files_folder at;
  at.file("file", "text");
  fs::create_symlink("file", at / "link");
  CHECK(facts_at(at / "link").kind == os::file_kind::link);
  CHECK(facts_at(at / "link", os::last_link::followed).id == facts_at(at / "file").id);
  const result<os::handle> place = os::open({}, at / "link", os::access::place, os::last_link::kept);
  REQUIRE(place);
  const result<os::file_facts> kept = os::facts_of(*place);
  REQUIRE(kept);
  CHECK(kept->kind == os::file_kind::link);
  CHECK(os::read_link(*place, "").value_or("") == "file");
  CHECK(os::read_link({}, at / "link").value_or("") == "file");
  CHECK_FALSE(os::open({}, at / "link", os::access::reading, os::last_link::kept));
  const result<os::handle> followed = os::open({}, at / "link", os::access::reading);
  REQUIRE(followed);
  CHECK(os::real_path(*followed) == fs::canonical(at / "file").string());
}

TEST_CASE("os: a name is taken once: by a new file, by a move to it, by a folder") {
  const files_folder at;
  const result<os::handle> made = os::create_new(at / "new");
  REQUIRE(made);
  CHECK(bool(*made));
  const result<os::handle> again = os::create_new(at / "new");
  REQUIRE(again);
  CHECK_FALSE(bool(*again));
  CHECK(os::write(*made, bytes_of_text("new")));
  at.file("other", "other");
  CHECK_FALSE(os::move_to_free_name(at / "other", at / "new").value_or(true));
  CHECK(text_of_os_file(at / "new") == "new");
  CHECK(os::move_to_free_name(at / "other", at / "free").value_or(false));
  CHECK(text_of_os_file(at / "free") == "other");
  CHECK(facts_at(at / "other").kind == os::file_kind::nothing);
  CHECK(os::replace_file(at / "free", at / "new"));
  CHECK(text_of_os_file(at / "new") == "other");
  CHECK(os::make_folder(at / "folder").value_or(false));
  CHECK_FALSE(os::make_folder(at / "folder").value_or(true));
  CHECK_FALSE(os::make_folder(at / "new").value_or(true));
}

TEST_CASE("os: a folder moves to a name where there is nothing or an empty folder, and to no other") {
  const files_folder at;
  for (const char* const name : {"from", "empty", "full"}) REQUIRE(os::make_folder(at / name));
  at.file("from/a", "a"), at.file("full/b", "b");
  CHECK_FALSE(os::move_folder(at / "from", at / "full"));
  CHECK(text_of_os_file(at / "full/b") == "b");
  CHECK(os::move_folder(at / "from", at / "empty"));
  CHECK(text_of_os_file(at / "empty/a") == "a");
  CHECK(os::move_folder(at / "empty", at / "new"));
  CHECK(text_of_os_file(at / "new/a") == "a");
}

TEST_CASE("os: a folder is listed with the kinds of what is in it") {
  const files_folder at;
  at.file("file", "");
  fs::create_directory(at / "folder"), fs::create_symlink("none", at / "link");
  const result<os::handle> folder = os::open_folder({}, at / "");
  REQUIRE(folder);
  for (int time = 0; time < 2; ++time) {  // listing leaves the handle as it is
    std::map<std::string, os::file_kind> all;
    CHECK(os::list(*folder, [&](std::string_view name, os::file_kind kind) { all.emplace(name, kind); }));
    const std::map<std::string, os::file_kind> expected{
        {"file", os::file_kind::file}, {"folder", os::file_kind::folder}, {"link", os::file_kind::link}};
    CHECK(all == expected);
  }
}

TEST_CASE("os: a path beneath a folder does not leave it, by dots or by links") {
  const files_folder at;
  REQUIRE(os::make_folder(at / "in"));
  at.file("in/file", "in"), at.file("outside", "outside");
  fs::create_symlink("../outside", at / "in/out"), fs::create_symlink("file", at / "in/same");
  const result<os::handle> in = os::open_folder({}, at / "in");
  REQUIRE(in);
  for (const char* const path : {"../outside", "out"}) {
    CAPTURE(path);
    const result<os::handle> opened = os::open_beneath(*in, path, os::access::reading);
    CHECK_FALSE(opened);
    CHECK(opened.error().code() == status_code::fail);
  }
  CHECK(os::open_beneath(*in, at / "in/file", os::access::reading).error().code() == status_code::fail);
  CHECK(os::open_beneath(*in, "none", os::access::reading).error().code() == status_code::no_suchfile);
  CHECK(os::open_beneath(*in, "same", os::access::reading));
}

TEST_CASE("os: a lock excludes other handles, until it and its duplicates are closed") {
  const files_folder at;
  at.file("file", "");
  const auto opened = [&] { return *os::open({}, at / "file", os::access::changing); };
  os::handle one = opened();
  const os::handle two = opened();
  CHECK(os::try_lock(one).value_or(false));
  CHECK(os::try_lock(one).value_or(false));
  CHECK_FALSE(os::try_lock(two).value_or(true));
  os::handle duplicate = *os::duplicate(one);
  CHECK(os::close(std::move(one)));
  CHECK_FALSE(bool(one));
  CHECK_FALSE(os::try_lock(two).value_or(true));
  duplicate = {};
  CHECK(os::try_lock(two).value_or(false));
}

TEST_CASE("os: a file that may only be read is opened for reading by open_or_create, and a link is refused") {
  const files_folder at;
  const result<os::handle> folder = os::open_folder({}, at / "");
  REQUIRE(folder);
  const result<os::handle> made = os::open_or_create(*folder, "lock");
  REQUIRE(made);
  CHECK(os::write_at(*made, 2, bytes_of_text("bytes")));
  std::array<char, 16> text{};
  CHECK(os::read_at(*made, 2, std::as_writable_bytes(std::span{text})).value_or(0u) == 5);
  CHECK(std::string_view{text.data()} == "bytes");
  CHECK(facts_at(at / "lock").bytes == 7);
  fs::create_symlink("lock", at / "link");
  CHECK_FALSE(os::open_or_create(*folder, "link"));
}

TEST_CASE("os: bytes that are mapped remain when the file loses its name; those that it loses can't be copied") {
  const files_folder at;
  const std::string text(3 * os::page_size(), 'x');
  at.file("file", text);
  const result<os::handle> file = os::open({}, at / "file", os::access::reading);
  REQUIRE(file);
  const result<std::span<const std::byte>> mapped = os::map(*file, text.size());
  REQUIRE(mapped);
  CHECK(os::remove_name({}, at / "file"));
  const result<os::file_facts> facts = os::facts_of(*file);
  REQUIRE(facts);
  CHECK(facts->names == 0);
  os::forget_pages(*mapped);
  std::vector<std::byte> copy(text.size());
  CHECK(os::copy_mapped(*mapped, copy.data()));
  CHECK(std::memcmp(copy.data(), text.data(), text.size()) == 0);
  at.file("other", text);
  const result<os::handle> other = os::open({}, at / "other", os::access::reading);
  REQUIRE(other);
  const result<std::span<const std::byte>> shorter = os::map(*other, text.size());
  REQUIRE(shorter);
  fs::resize_file(at / "other", os::page_size());
  const status copied = os::copy_mapped(*shorter, copy.data());
  CHECK(copied.code() == status_code::fail);
  CHECK(copied.words().find("became shorter") != std::string_view::npos);
  os::unmap(*mapped), os::unmap(*shorter);
}

TEST_CASE("os: a new file gets the permissions of an old one") {
  const files_folder at;
  at.file("old", "");
  fs::permissions(at / "old", fs::perms::owner_read | fs::perms::owner_exec);
  const os::handle made = *os::create_new(at / "new");
  os::keep_rights(at / "old", made);
  CHECK(fs::status(at / "new").permissions() == fs::status(at / "old").permissions());
}

TEST_CASE("os: a scratch file has a path for this process and no name in a folder") {
  const result<os::scratch_file> made = os::make_scratch_file();
  REQUIRE(made);
  std::ofstream{made->path} << "written by its path";
  const result<os::file_facts> facts = os::facts_of(made->file);
  REQUIRE(facts);
  CHECK(facts->bytes == 19);
  CHECK(facts->names == 0);
  std::array<char, 7> text{};
  CHECK(os::read_at(made->file, 0, std::as_writable_bytes(std::span{text})).value_or(0u) == 7);
  CHECK(std::string_view{text.data(), 7} == "written");
}

}  // namespace cameo::test
