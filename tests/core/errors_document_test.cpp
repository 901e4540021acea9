// Checks that docs/errors.md explains every status code.
#include <doctest/doctest.h>
#include <cameo/core/status.hpp>
#include <cameo/test_paths.hpp>

#include <fstream>
#include <iterator>
#include <string>

TEST_CASE("docs/errors.md has a row for every status code, in order, with its number") {
  std::ifstream file{std::string{cameo::test::source_dir} + "/docs/errors.md"};
  REQUIRE(file.is_open());
  std::size_t next = 0;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("## ", 0) == 0) inside = line == "## Codes";
    if (!inside) continue;
    if (line.rfind("| ", 0) != 0 || line.rfind("| Code |", 0) == 0) continue;
    REQUIRE(next < std::size(cameo::detail::status_rows));
    const cameo::detail::status_row& row = cameo::detail::status_rows[next++];
    const std::string start = std::string{"| "} + row.name + " | " + std::to_string(row.number) + " | ";
    CHECK(line.substr(0, start.size()) == start);
  }
  CHECK(next == std::size(cameo::detail::status_rows));
}
