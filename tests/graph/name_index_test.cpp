#include "graph/name_index.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace cameo::test {

TEST_CASE("names are found while the index grows, and a name can be inserted again after it was erased") {
  std::vector<std::string> names;
  name_index index;
  const auto name_of = [&](std::uint32_t n) { return std::string_view{names[n]}; };
  const auto add = [&](std::string name) {
    names.push_back(std::move(name));
    index.insert(names.back(), std::uint32_t(names.size() - 1), name_of);
  };
  CHECK(index.find("0", name_of) == name_index::none);
  for (std::uint32_t i = 0; i < 1000; ++i) add(std::to_string(i));
  for (std::uint32_t i = 0; i < 1000; i += 2) index.erase(names[i], i, name_of);
  index.erase(names[1], 7, name_of);  // the number of another name: not erased
  for (std::uint32_t i = 0; i < 1000; ++i)
    CHECK(index.find(std::to_string(i), name_of) == (i % 2 ? i : name_index::none));
  for (std::uint32_t i = 0; i < 1000; ++i) add(std::to_string(i));  // names in the index keep their numbers
  for (std::uint32_t i = 0; i < 1000; ++i) CHECK(index.find(std::to_string(i), name_of) == (i % 2 ? i : 1000 + i));
  CHECK(index.find("", name_of) == name_index::none);
}

}  // namespace cameo::test
