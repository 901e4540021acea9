#include <cameo/graph/graph.hpp>

#include <algorithm>

#include "messages.hpp"
#include "types.hpp"

namespace cameo::inline CAMEO_ABI {

model::model() : main_{std::make_unique<graph>(*this, nullptr)} {}
model::~model() = default;

graph& model::add_graph(graph* outer) { return *graphs_.emplace_back(std::make_unique<graph>(*this, outer)); }

/// Neighbours are often of one type: they share it, which keeps large graphs in the processor's caches.
const value_type* model::keep(value_type type) {
  for (const value_type*& each : recent_types_)
    if (each && same_type(*each, type)) {
      std::swap(each, recent_types_.front());
      return recent_types_.front();
    }
  std::shift_right(recent_types_.begin(), recent_types_.end(), 1);
  return recent_types_.front() = &types_.emplace_back(std::move(type));
}

std::int64_t model::opset(std::string_view domain_of_op) const {
  for (const opset_import& import : imports)
    if (import.domain == domain_of_op) return import.version;
  return 0;
}

std::uint32_t model::symbol(std::string_view name) {
  const auto [at, is_new] = symbol_numbers_.try_emplace(std::string{name}, std::uint32_t(symbols.size()));
  if (is_new) symbols.emplace_back(name);
  return at->second;
}

std::uint32_t model::fresh_symbol() {
  std::string name;
  do name = fmt::format("unk__{}", next_fresh_++);
  while (symbol_numbers_.contains(name));
  return symbol(name);
}

const function* model::find_function(std::string_view of_domain, std::string_view name,
                                     std::string_view overload) const {
  const auto hash = [](std::string_view d, std::string_view n, std::string_view o) {
    const std::hash<std::string_view> of;
    return (of(d) * 31 + of(n)) * 31 + of(o);
  };
  for (; functions_indexed_ < functions.size(); ++functions_indexed_) {
    const function& f = functions[functions_indexed_];
    function_index_.emplace(hash(f.domain, f.name, f.overload), &f);
  }
  const auto [first, last] = function_index_.equal_range(hash(of_domain, name, overload));
  for (auto at = first; at != last; ++at)
    if (const function& f = *at->second; f.name == name && f.domain == of_domain && f.overload == overload) return &f;
  return nullptr;
}

}  // namespace cameo::inline CAMEO_ABI
