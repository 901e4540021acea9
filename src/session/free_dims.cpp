// Sets the sizes of dims that the model's inputs leave open: session_options::free_dims.
#include "core/nearest.hpp"
#include "file/letters.hpp"
#include "graph/messages.hpp"
#include "session/stages.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE {
namespace {

using sizes_by_text = std::vector<std::pair<std::string, std::int64_t>>;

/// The last entry whose text matches, as for session_options::config; null if there is none.
template <class Same>
const std::pair<std::string, std::int64_t>* last_of(const sizes_by_text& all, const Same& same) {
  const auto at = std::find_if(all.rbegin(), all.rend(), [&](const auto& each) { return same(each.first); });
  return at == all.rend() ? nullptr : &*at;
}

status check_sizes(std::string_view option, const sizes_by_text& all) {
  for (const auto& [text, size] : all)
    if (size < 0)
      return failed(status_code::invalid_argument, "session_options::{}: '{}' is {}, a size must be 0 or more", option,
                    text, size);
  return {};
}

/// The sizes that the options set for the dims of a model's inputs.
class free_sizes {
 public:
  free_sizes(const model& net, const session_options& options, const detail::format_row& format)
      : net_{net}, options_{options}, format_{format}, by_symbol_(net.symbols.size(), -1) {}

  /// Finds the sizes for the dims of an input. It must have been called for all inputs before dims_of(): a symbol has
  /// one size in all inputs, even if only one of them has the denotation that sets it.
  status find(value_id input);
  /// The dims of an input with the sizes that were found.
  std::vector<dim> dims_of(value_id input) const;
  /// The names in session_options::free_dims that no input has.
  std::vector<std::string> unused() const;

 private:
  struct axis {
    std::string_view input;
    std::size_t number;
  };
  /// True if a dim has a name. A model that was built in memory may have symbol numbers without a name.
  bool is_named(dim d) const { return !d.known() && d.symbol != 0 && d.symbol < by_symbol_.size(); }
  std::int64_t by_denotation(const std::vector<std::string>& of_dims, std::size_t number) const;
  status give(axis, dim, std::int64_t size);

  const model& net_;
  const session_options& options_;
  const detail::format_row& format_;
  std::vector<std::int64_t> by_symbol_;  // the size of each symbol; -1: not set
};

std::int64_t free_sizes::by_denotation(const std::vector<std::string>& of_dims, std::size_t number) const {
  if (number >= of_dims.size() || of_dims[number].empty()) return -1;
  const std::string wanted = lower_case(of_dims[number]);  // ONNX Runtime ignores case, too
  const auto* const found =
      last_of(options_.free_dims_by_denotation, [&](const std::string& text) { return lower_case(text) == wanted; });
  return found ? found->second : -1;
}

status free_sizes::give(axis at, dim d, std::int64_t size) {
  const std::int64_t has = d.known() ? d.size : is_named(d) ? by_symbol_[d.symbol] : -1;
  if (has >= 0 && has != size)
    return failed(status_code::invalid_argument,
                  "input '{}': dim {} is {}, and session_options::free_dims or free_dims_by_denotation say {}",
                  at.input, at.number, has, size);
  if (is_named(d)) by_symbol_[d.symbol] = size;
  return {};
}

status free_sizes::find(value_id input) {
  const detail::graph_value& v = net_.main()[input];
  const std::vector<std::string> denotations = format_.dim_denotations(v.unknown);
  const std::vector<dim>& dims = *v.type->shape;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (is_named(dims[i])) {
      const auto* const named =
          last_of(options_.free_dims, [&](const std::string& text) { return text == net_.symbols[dims[i].symbol]; });
      if (named)
        if (status s = give({v.name, i}, dims[i], named->second); !s) return s;
    }
    if (const std::int64_t size = by_denotation(denotations, i); size >= 0)
      if (status s = give({v.name, i}, dims[i], size); !s) return s;
  }
  return {};
}

std::vector<dim> free_sizes::dims_of(value_id input) const {
  const detail::graph_value& v = net_.main()[input];
  std::vector<dim> dims = *v.type->shape;
  const std::vector<std::string> denotations = format_.dim_denotations(v.unknown);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].known()) continue;
    const std::int64_t size = is_named(dims[i]) ? by_symbol_[dims[i].symbol] : by_denotation(denotations, i);
    if (size >= 0) dims[i] = dim::fixed(size);
  }
  return dims;
}

std::vector<std::string> free_sizes::unused() const {
  std::vector<std::string> names;
  for (const auto& [name, size] : options_.free_dims) {
    const auto symbol = std::ranges::find(net_.symbols, name);
    if (symbol == net_.symbols.end() || by_symbol_[std::size_t(symbol - net_.symbols.begin())] < 0)
      names.push_back(name);
  }
  return names;
}

bool is_shaped_tensor(const detail::graph_value& v) { return v.type && v.type->is_tensor() && v.type->shape; }

/// The names of the dims that the model's inputs leave open.
std::vector<std::string_view> open_names(const model& net) {
  std::vector<std::string_view> names;
  for (const value_id v : net.main().inputs())
    if (is_shaped_tensor(net.main()[v]))
      for (const dim d : *net.main()[v].type->shape)
        if (!d.known() && d.symbol < net.symbols.size()) names.push_back(net.symbols[d.symbol]);
  return names;
}

}  // namespace

status fix_free_dims(const session_options& options, const detail::format_row& format, model& net) {
  if (options.free_dims.empty() && options.free_dims_by_denotation.empty()) return {};
  if (status s = check_sizes("free_dims", options.free_dims); !s) return s;
  if (status s = check_sizes("free_dims_by_denotation", options.free_dims_by_denotation); !s) return s;
  graph& g = net.main();
  free_sizes sizes{net, options, format};
  for (value_id v : g.inputs())
    if (is_shaped_tensor(g[v]))
      if (status s = sizes.find(v); !s) return s;
  for (value_id v : g.inputs()) {
    if (!is_shaped_tensor(g[v])) continue;
    value_type fixed = *g[v].type;
    fixed.shape = sizes.dims_of(v);
    g[v].type = net.keep(std::move(fixed));
  }
  const std::vector<std::string_view> open = open_names(net);
  for (const std::string& name : sizes.unused())
    net.warnings.push_back(fmt::format("no input has a dim of the name '{}', for which a size was given (free_dims){}",
                                       name, did_you_mean(name, open)));
  return {};
}

namespace {

/// True if a name has a letter: "?", "-1" and "*" stand for any size.
bool is_word(std::string_view name) {
  return std::ranges::any_of(name, [](unsigned char c) { return c >= 0x80 || (c | 32u) - 'a' < 26; });
}

/// For each symbol, true if dims of inputs that have it may have different sizes.
std::vector<bool> symbols_to_separate(const model& net, bool all) {
  std::vector<bool> made(net.symbols.size());
  for (value_id v : net.main().inputs()) {
    if (!is_shaped_tensor(net.main()[v])) continue;
    for (const dim d : *net.main()[v].type->shape)
      if (!d.known() && d.symbol != 0 && d.symbol < made.size() && (all || !is_word(net.symbols[d.symbol])))
        made[d.symbol] = true;
  }
  return made;
}

/// A type in which the symbols in `which` are replaced by what `symbol` returns; null if the type has none of them.
template <class F>
const value_type* with_symbols(model& net, const value_type* type, const std::vector<bool>& which, F&& symbol) {
  const auto is_one = [&](dim d) { return !d.known() && d.symbol < which.size() && which[d.symbol]; };
  if (!type || !type->is_tensor() || !type->shape || std::ranges::none_of(*type->shape, is_one)) return nullptr;
  value_type made = *type;
  for (dim& d : *made.shape)
    if (is_one(d)) d.symbol = symbol(d.symbol);
  return net.keep(std::move(made));
}

void forget_symbols(graph& g, const std::vector<bool>& which) {
  for (std::size_t i = 0; i < g.value_count(); ++i) {
    detail::graph_value& v = g[value_id{std::uint32_t(i)}];
    const auto none = [](std::uint32_t) { return std::uint32_t{0}; };
    if (const value_type* const made = with_symbols(g.owner(), v.type, which, none)) v.type = made;
  }
  for (std::size_t i = 0; i < g.node_capacity(); ++i)
    for (graph* body : g[node_id{std::uint32_t(i)}].subgraphs) forget_symbols(*body, which);
}

}  // namespace

void separate_dims(model& net, bool all) {
  const std::vector<bool> which = symbols_to_separate(net, all);
  if (std::ranges::find(which, true) == which.end()) return;
  graph& g = net.main();
  for (value_id v : g.inputs()) {
    const auto own = [&](std::uint32_t symbol) { return net.another_symbol(symbol); };
    if (const value_type* const made = with_symbols(net, g[v].type, which, own)) g[v].type = made;
  }
  forget_symbols(g, which);
}

}  // namespace CAMEO_NAMESPACE
