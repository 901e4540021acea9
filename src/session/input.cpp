// Checks the inputs of a run against the model's declarations.
#include "file/messages.hpp"
#include "graph/oddities.hpp"
#include "session/loaded.hpp"
#include "session/progress.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <range/v3/view/transform.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE {

std::string to_string(const io_info& io) { return io.name + ": " + io.type_text; }

std::optional<std::vector<std::int64_t>> io_info::dims() const {
  if (!type.is_tensor() || !type.shape) return {};
  std::vector<std::int64_t> sizes;
  for (const dim& d : *type.shape) sizes.push_back(d.known() ? d.size : -1);
  return sizes;
}

result<std::size_t> find_io(const std::vector<io_info>& all, detail::io_key key, std::string_view whose,
                            std::string_view kind) {
  if (key.index < all.size()) return key.index;
  if (key.index != detail::io_key::by_name)
    return failed(status_code::invalid_argument, "{} has no {} {}; it has {}, counted from 0", whose, kind, key.index,
                  all.size());
  const auto found = std::ranges::find(all, key.name, &io_info::name);
  if (found != all.end()) return std::size_t(found - all.begin());
  const auto quoted = [](const io_info& each) { return fmt::format("'{}'", each.name); };
  return failed(status_code::invalid_argument, "{} has no {} '{}'; it has {}", whose, kind, key.name,
                fmt::join(all | ranges::views::transform(quoted), ", "));
}

namespace {

const char* kind_name(value_kind kind) {
  switch (kind) {
    case value_kind::none: return "nothing";
    case value_kind::tensor: return "a tensor";
    case value_kind::sequence: return "a sequence";
    case value_kind::map: return "a map";
    case value_kind::sparse_tensor: return "a sparse tensor";
  }
  return "?";
}

bool fits(type_kind declared, value_kind given) {
  switch (declared) {
    case type_kind::unknown:
    case type_kind::opaque: return true;
    case type_kind::tensor: return given == value_kind::tensor;
    case type_kind::sparse_tensor: return given == value_kind::sparse_tensor;
    case type_kind::sequence: return given == value_kind::sequence;
    case type_kind::map: return given == value_kind::map;
    case type_kind::optional: return true;
  }
  return false;
}

/// True if a value is a tensor with elements of this type (`undefined`: of any type) and memory for them.
bool has_elements(const value& v, dtype type) {
  std::int64_t count = 0;
  std::uint64_t bytes = 0;
  return v.kind == value_kind::tensor && (type == dtype::undefined || v.type == type) && v.shape.checked_count(count) &&
         detail::checked_bytes(v.type, std::uint64_t(count), bytes) && (count == 0 || v.data);
}

/// Checks the two nested values of a map (keys, values) or of a sparse tensor (values, indices).
status check_parts(const value_type& type, std::string_view words, const value& v) {
  const bool is_map = v.kind == value_kind::map;
  const dtype of_map = type.element && type.element->is_tensor() ? type.element->type : dtype::undefined;
  if (v.parts.size() != 2 || !has_elements(v.parts[0], type.type) ||
      !has_elements(v.parts[1], is_map ? of_map : dtype::i64))
    return failed(status_code::invalid_argument, "is given {}, needs {}{}", to_string(v, 0), words,
                  is_map ? "" : " with indices of int64");
  if (is_map && v.parts[0].shape != v.parts[1].shape)
    return failed(status_code::invalid_argument, "is given {}, which needs as many values as keys", to_string(v, 0));
  if (!is_map && std::ranges::any_of(v.shape, [](std::int64_t size) { return size < 0; }))
    return failed(status_code::invalid_argument, "has the impossible shape [{}]", fmt::join(v.shape.dims(), ","));
  return {};
}

/// Checks a tensor against the declared type: elements, memory, rank and known dims.
status check_tensor_input(const value_type& type, std::string_view words, const value& v) {
  if (type.type != dtype::undefined && v.type != type.type)
    return failed(status_code::invalid_argument, "is given {}, needs {}", to_string(v, 0), words);
  std::int64_t count = 0;
  std::uint64_t bytes = 0;
  if (!v.shape.checked_count(count) || !detail::checked_bytes(v.type, std::uint64_t(count), bytes))
    return failed(status_code::invalid_argument, "has the impossible shape {}", to_string(v, 0));
  if (count > 0 && !v.data) return {status_code::invalid_argument, "has no data"};
  if (!type.shape) return {};
  if (v.shape.rank() != type.shape->size())
    return failed(status_code::invalid_argument, "has rank {} ({}), needs rank {}: {}", v.shape.rank(), to_string(v, 0),
                  type.shape->size(), words);
  for (std::size_t axis = 0; axis < v.shape.rank(); ++axis)
    if ((*type.shape)[axis].known() && v.shape[axis] != (*type.shape)[axis].size)
      return failed(status_code::invalid_argument, "has size {} along axis {} ({}), needs {}: {}", v.shape[axis], axis,
                    to_string(v, 0), (*type.shape)[axis].size, words);
  return {};
}

/// Checks a value, including nested ones, against a declared type, whose text for messages is `words`.
status check_value(const value_type& type, std::string_view words, const value& v) {
  if (type.kind == type_kind::optional) return v ? check_value(*type.element, words, v) : status{};
  if (!fits(type.kind, v.kind))
    return failed(status_code::invalid_argument, "is given {}, needs {}", kind_name(v.kind), words);
  if (v.kind == value_kind::sequence && type.element)
    for (const value& part : v.parts)
      if (status s = check_value(*type.element, words, part); !s) return s;
  if (type.kind == type_kind::map || type.kind == type_kind::sparse_tensor) return check_parts(type, words, v);
  return v.kind == value_kind::tensor ? check_tensor_input(type, words, v) : status{};
}

/// The declared shape for `count` elements: a single open dim follows from the others; several open dims are 1 if the
/// known dims have `count` elements.
result<extents> shape_for(const value_type& type, std::string_view words, std::int64_t count, bool one_element) {
  if (!type.shape) return one_element ? extents{} : extents{count};
  extents shape;
  std::int64_t known = 1;
  std::size_t open = 0, open_axis = 0;
  for (const dim& d : *type.shape) {
    if (d.known() && !checked_multiply(known, d.size, known)) return status_code::invalid_argument;
    if (!d.known()) ++open, open_axis = shape.rank();
    shape.push_back(d.known() ? d.size : 1);
  }
  if (open == 1 && known > 0 && count % known == 0) shape[open_axis] = count / known;
  else if (open > 1 && count != known)
    return failed(status_code::invalid_argument,
                  "is given {} elements without a shape, and {} leaves {} dims open: give a shape, as in "
                  "{{name, elements, {{2, 3}}}}",
                  count, words, open);
  else if (count != known || (open && count == 0))
    return failed(status_code::invalid_argument, "is given {} elements, needs {}{}: {}", count,
                  open ? "a multiple of " : "", known, words);
  return shape;
}

}  // namespace

result<value> session::impl::input(std::size_t i, const named_input& given) const {
  const io_info& io = state.io.inputs[i];
  const auto wrong = [&](status s) { return std::move(s).in(fmt::format("input '{}'", io.name)); };
  value v = given.input;
  const value_type& type = io.type.kind == type_kind::optional && io.type.element ? *io.type.element : io.type;
  if (given.shape_of_model && type.is_tensor() && (type.type == dtype::undefined || type.type == v.type)) {
    result<extents> shape = shape_for(type, io.type_text, given.count.value_or(0), v.shape.rank() == 0);
    if (!shape) return wrong(std::move(shape).error());
    v.shape = *shape;
  } else if (std::int64_t count = 0; given.count && (!v.shape.checked_count(count) || count != *given.count)) {
    return wrong({status_code::invalid_argument, fmt::format("is given {} elements for the shape [{}]", *given.count,
                                                             fmt::join(v.shape.dims(), ","))});
  }
  if (status s = check_value(io.type, io.type_text, v); !s) return wrong(std::move(s));
  return v;
}

status session::impl::check_symbols(std::span<const value> given) const {
  using symbol_use = described_io::symbol_use;
  const std::vector<io_info>& inputs = state.io.inputs;
  const symbol_use* first = nullptr;
  for (const symbol_use& use : state.io.symbols) {
    const value& v = given[use.input];
    if (v.kind != value_kind::tensor || use.axis >= v.shape.rank()) continue;  // an omitted optional input
    if (!first || first->name != use.name) first = &use;
    const value& other = given[first->input];
    if (v.shape[use.axis] == other.shape[first->axis]) continue;
    if (first->symbol != use.symbol && (sizes_reported.exchange(true) || !state.log)) continue;
    const std::string words =
        fmt::format("'{}' is {} in input '{}' (axis {} of {}) and {} in input '{}' (axis {} of {})", use.name,
                    other.shape[first->axis], inputs[first->input].name, first->axis, to_string(other, 0),
                    v.shape[use.axis], inputs[use.input].name, use.axis, to_string(v, 0));
    if (first->symbol == use.symbol)
      return failed(status_code::invalid_argument,
                    "{}; the model needs one size for both (session.separate_dims=1 takes such a name for none)",
                    words);
    if (state.log_from <= log_level::warning)
      state.log(log_level::warning, of_model(state.net(), warning_of(oddity::one_name_two_sizes, "{}", words)));
  }
  return {};
}

}  // namespace CAMEO_NAMESPACE
