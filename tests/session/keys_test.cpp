// Checks that docs/session_keys.md agrees with config_keys::rows.
#include "../../src/session/config.hpp"

#include <doctest/doctest.h>
#include <cameo/test_paths.hpp>

#include <fstream>
#include <iterator>

namespace {

std::string document(std::string_view name) {
  std::ifstream file{std::string{cameo::test::source_dir} + "/docs/" + std::string{name}};
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::string quoted(std::string_view text) { return text.empty() ? "" : "`" + std::string{text} + "`"; }

std::string line_of(const cameo::config_key_row& row) {
  static constexpr const char* support[] = {"supported", "without effect", "refused"};
  return "| " + quoted(row.key) + " | " + quoted(row.otherwise) + " | " + support[std::size_t(row.support)] + " | " +
         std::string{row.meaning} + " |\n";
}

cameo::session_options options_with(std::string key, std::string text) {
  cameo::session_options options;
  options.config.emplace_back(std::move(key), std::move(text));
  return options;
}

}  // namespace

TEST_CASE("docs/session_keys.md lists every session key with its default, support and meaning, and no other") {
  std::string table;
  for (const cameo::config_key_row& row : cameo::config_keys::rows) table += line_of(row);
  const std::string page = document("session_keys.md");
  const std::size_t rule = page.find("|---|---|---|---|\n");
  REQUIRE(rule != std::string::npos);
  CHECK(page.substr(rule + 18) == table);
}

TEST_CASE("a session key is read, refused or unknown as its row says") {
  for (const cameo::config_key_row& row : cameo::config_keys::rows) {
    CAPTURE(row.key);
    const auto made = cameo::session_config::make(options_with(std::string{row.key}, "new"));
    CHECK(bool(made) == (row.support != cameo::key_support::refused));
    if (made) CHECK((*made)[row] == "new");
    CHECK(cameo::session_config::make(options_with(std::string{row.key}, std::string{row.otherwise})));
    if (!made) CHECK(made.error().words().find(row.key) != std::string_view::npos);
  }
  CHECK(cameo::session_config::make(options_with("ep.npu.mode", "fast")));
  const auto unknown = cameo::session_config::make(options_with("session.no_such_key", "1"));
  REQUIRE(!unknown);
  CHECK(unknown.error().code() == cameo::status_code::invalid_argument);
  CHECK(unknown.error().words().find("docs/session_keys.md") != std::string_view::npos);
  CHECK(!cameo::session_config::make(options_with("", "1")));
  CHECK(!cameo::session_config::make(options_with("session.disable_prepacking", std::string(8193, '1'))));
}

TEST_CASE("a session key that comes twice holds what was said last, and one that does not come its default") {
  cameo::session_options options = options_with("session.disable_prepacking", "1");
  options.config.emplace_back("session.disable_prepacking", "0");
  const auto made = cameo::session_config::make(options);
  REQUIRE(made);
  CHECK(!made->is_on(cameo::config_key<"session.disable_prepacking">));
  CHECK(made->is_on(cameo::config_key<"session.intra_op.allow_spinning">));
}
