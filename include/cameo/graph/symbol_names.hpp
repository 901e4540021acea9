#pragma once
#include <cameo/graph/model.hpp>

#include <unordered_set>

namespace CAMEO_NAMESPACE {

/// The names of a model's symbols by number, made distinct: a symbol with the name of an earlier one gets a suffix.
/// Other formats and runtimes compare symbols by name, and would treat two sizes that a file declares with the same
/// name as equal.
inline std::vector<std::string> distinct_symbol_names(const model& m) {
  std::vector<std::string> names = m.symbols;
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

}  // namespace CAMEO_NAMESPACE
