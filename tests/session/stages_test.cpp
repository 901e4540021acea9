// Checks that docs/architecture.md has the stages of loading in the order of src/session/stages.hpp.
#include <cameo/test_paths.hpp>

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file{std::string{cameo::test::source_dir} + "/" + path};
  REQUIRE(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// The names in the header's list, whose lines are like "//   read       parses the model".
std::vector<std::string> stages_of_header() {
  std::vector<std::string> names;
  for (const std::string& line : lines_of("src/session/stages.hpp"))
    if (line.starts_with("//   ")) names.push_back(line.substr(5, line.find(' ', 5) - 5));
  return names;
}

/// The names in the page's line "read -> choose -> ... -> run", without `run`, which is not a stage of loading.
std::vector<std::string> stages_of_page() {
  for (const std::string& line : lines_of("docs/architecture.md")) {
    if (!line.starts_with("read -> ")) continue;
    std::istringstream words{line};
    std::vector<std::string> names;
    for (std::string word; words >> word;)
      if (word != "->") names.push_back(word);
    REQUIRE(names.back() == "run");
    names.pop_back();
    return names;
  }
  return {};
}

}  // namespace

TEST_CASE("the page about the architecture has the stages of loading in their order") {
  const std::vector<std::string> names = stages_of_header();
  CHECK(names.size() == 12);
  CHECK(stages_of_page() == names);
}
