#pragma once
#include <cameo/graph/model.hpp>

#include <unordered_set>

CAMEO_BEGIN_NAMESPACE

/// The names of a model's symbols, by their numbers, where no two symbols have one name: a symbol whose name an earlier
/// one has gets a suffix. Other formats and other runtimes compare symbols by their names, and would take two sizes
/// that a file declares under one name for one size.
inline std::vector<std::string> distinct_symbol_names(const model& of) {
  std::vector<std::string> names = of.symbols;
  std::unordered_set<std::string> used{names.begin(), names.end()};
  if (used.size() == names.size()) return names;
  std::unordered_set<std::string> seen;
  for (std::size_t number = 0; number < names.size(); ++number) {
    if (seen.insert(names[number]).second) continue;
    std::string other = names[number] + '_' + std::to_string(number);
    while (!used.insert(other).second) other += '_';
    names[number] = std::move(other);
  }
  return names;
}

CAMEO_END_NAMESPACE
