#include <cameo/graph/model.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <unordered_map>

#include "messages.hpp"
#include "types.hpp"

namespace CAMEO_NAMESPACE {

struct model::tables {
  std::deque<value_type> types;
  std::array<const value_type*, 4> recent_types{};
  std::deque<std::unique_ptr<graph>> graphs;
  std::unordered_map<std::string, std::uint32_t> symbol_numbers;
  std::uint64_t next_fresh = 0;
  std::unordered_multimap<std::size_t, const function*> function_index;  // for find_function(), by hash
  std::size_t functions_indexed = 0;
};

model::model() : tables_{std::make_unique<tables>()}, main_{std::make_unique<graph>(*this, nullptr)} {}
model::~model() = default;

graph& model::add_graph(graph* outer) { return *tables_->graphs.emplace_back(std::make_unique<graph>(*this, outer)); }

/// Values that are added in sequence often have the same type. They share it, so that large graphs fit the processor's
/// caches.
const value_type* model::keep(value_type type) {
  for (const value_type*& each : tables_->recent_types)
    if (each && same_type(*each, type)) {
      std::swap(each, tables_->recent_types.front());
      return tables_->recent_types.front();
    }
  std::shift_right(tables_->recent_types.begin(), tables_->recent_types.end(), 1);
  return tables_->recent_types.front() = &tables_->types.emplace_back(std::move(type));
}

std::int64_t model::opset(std::string_view domain_of_op) const {
  for (const opset_import& import : imports)
    if (import.domain == domain_of_op) return import.version;
  return 0;
}

std::uint32_t model::symbol(std::string_view name) {
  const auto [at, is_new] = tables_->symbol_numbers.try_emplace(std::string{name}, std::uint32_t(symbols.size()));
  if (is_new) symbols.emplace_back(name);
  return at->second;
}

std::uint32_t model::another_symbol(std::uint32_t of) {
  symbols.push_back(std::string{symbols[of]});
  return std::uint32_t(symbols.size() - 1);
}

std::uint32_t model::fresh_symbol() {
  std::string name;
  do name = fmt::format("unk__{}", tables_->next_fresh++);
  while (tables_->symbol_numbers.contains(name));
  return symbol(name);
}

const function* model::find_function(std::string_view of_domain, std::string_view name,
                                     std::string_view overload) const {
  const auto hash = [](std::string_view d, std::string_view n, std::string_view o) {
    const std::hash<std::string_view> of;
    return (of(d) * 31 + of(n)) * 31 + of(o);
  };
  for (; tables_->functions_indexed < functions.size(); ++tables_->functions_indexed) {
    const function& f = functions[tables_->functions_indexed];
    tables_->function_index.emplace(hash(f.domain, f.name, f.overload), &f);
  }
  const auto [first, last] = tables_->function_index.equal_range(hash(of_domain, name, overload));
  for (auto at = first; at != last; ++at)
    if (const function& f = *at->second; f.name == name && f.domain == of_domain && f.overload == overload) return &f;
  return nullptr;
}

void detail::delete_model(model* of) noexcept { delete of; }

}  // namespace CAMEO_NAMESPACE
