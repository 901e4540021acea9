#include <cameo/os/heap_arena.hpp>
#include <cameo/session/any_value.hpp>

#include "file/messages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <tuple>

namespace CAMEO_NAMESPACE {
namespace {

/// A deep copy of a value; false when memory runs out.
bool copy_into(arena& memory, const value& from, value& to) {
  to = from;
  to.owner = nullptr;
  if (from.kind == value_kind::tensor) {
    const std::size_t bytes = std::max<std::size_t>(from.bytes(), 1);
    to.data = memory.allocate(bytes, 64);
    if (!to.data) return false;
    if (from.type != dtype::string) {
      if (from.bytes()) std::memcpy(to.data, from.data, from.bytes());
      return true;
    }
    const tensor_view<const std::string_view> strings = from.as_unchecked<std::string_view>();
    auto* const copies = static_cast<std::string_view*>(to.data);
    for (std::size_t i = 0; i < strings.size(); ++i) {
      const result<std::string_view> text = memory.copy(strings[std::int64_t(i)]);
      if (!text) return false;
      std::construct_at(copies + i, *text);
    }
    return true;
  }
  const result<std::span<value>> parts = memory.take<value>(from.parts.size());
  if (!parts) return false;
  to.parts = *parts;
  for (std::size_t i = 0; i < from.parts.size(); ++i)
    if (!copy_into(memory, from.parts[i], to.parts[i])) return false;
  return true;
}

template <class T>
void write_element(std::string& out, const T& element) {
  if constexpr (std::is_same_v<T, std::string_view>) out += fmt::format("\"{}\"", element);
  else if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>)
    out += fmt::format("{:g}{:+g}i", element.re, element.im);
  else if constexpr (std::is_same_v<T, bool>) out += element ? "true" : "false";
  else if constexpr (std::is_floating_point_v<T>) out += fmt::format("{:g}", element);
  else if constexpr (std::is_integral_v<T>) out += fmt::format("{}", element);
  else out += fmt::format("{:g}", float(element));
}

template <class T>
void write_elements(std::string& out, const value& v, std::size_t most) {
  const tensor_view<const T> view = v.as_unchecked<T>();
  for (std::size_t i = 0; i < view.size() && i < most; ++i) {
    out += ' ';
    write_element(out, view[std::int64_t(i)]);
  }
  if (most && view.size() > most) out += " ...";
}

/// Calls f with the C++ type of an element, unless it is packed into less than a byte.
template <class F, class... Ts>
void with_type(dtype type, F f, std::type_identity<std::tuple<Ts...>>) {
  static_cast<void>(((dtype_of<Ts> == type && (f(std::type_identity<Ts>{}), true)) || ...));
}
using byte_sized = std::tuple<float, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::int32_t, std::int64_t,
                              std::string_view, bool, float16, double, std::uint32_t, std::uint64_t, complex64,
                              complex128, bfloat16, float8e4m3fn, float8e4m3fnuz, float8e5m2, float8e5m2fnuz>;

}  // namespace

any_value any_value::copy_of(const value& from) {
  any_value made;
  const status done = guarded([&]() -> status {
    auto memory = std::make_shared<detail::heap_arena>(from.kind == value_kind::tensor ? from.bytes() + 256 : 4096);
    if (!copy_into(*memory, from, made.value_)) return status_code::out_of_memory;
    made.memory_ = std::move(memory);
    return {};
  });
  if (!done) made.value_ = {};
  return made;
}

status detail::check_tensor(const value& v, dtype elements) {
  return guarded([&]() -> status {
    if (v.kind == value_kind::tensor && v.type == elements && v.memory == 0) return {};
    std::string actual = to_string(v, 0);
    if (v.memory != 0) actual += " in a device's memory";
    return failed(status_code::invalid_argument, "is {}, and is read as a tensor of {}", actual,
                  detail::row_of(elements).name);
  });
}

result<const named_value*> named_values::at(std::string_view name) const {
  return guarded([&]() -> result<const named_value*> {
    for (const named_value& each : items)
      if (each.name == name) return &each;
    const auto quoted = [](const named_value& each) { return fmt::format("'{}'", each.name); };
    return failed(status_code::invalid_argument, "there is no output '{}'; there are {}", name,
                  fmt::join(items | ranges::views::transform(quoted), ", "));
  });
}

result<const named_value*> named_values::at(std::size_t i) const {
  return guarded([&]() -> result<const named_value*> {
    if (i < items.size()) return &items[i];
    return failed(status_code::invalid_argument, "there is no output {}; there are {}", i, items.size());
  });
}

std::string to_string(const value& v, std::size_t elements) {
  switch (v.kind) {
    case value_kind::none: return "none";
    case value_kind::tensor: {
      std::string out = fmt::format("{}[{}]", detail::row_of(v.type).name, fmt::join(v.shape.dims(), ","));
      with_type(
          v.type, [&]<class T>(std::type_identity<T>) { write_elements<T>(out, v, elements); },
          std::type_identity<byte_sized>{});
      return out;
    }
    case value_kind::sequence:
    case value_kind::map:
    case value_kind::sparse_tensor: {
      std::string out = v.kind == value_kind::sequence ? "sequence(" : v.kind == value_kind::map ? "map(" : "sparse(";
      for (std::size_t i = 0; i < v.parts.size() && i < elements; ++i)
        out += (i ? "; " : "") + to_string(v.parts[i], elements);
      return out + (v.parts.size() > elements ? "; ...)" : ")");
    }
  }
  return {};
}

any_value any_value::adopt(std::shared_ptr<arena> memory, const value& v) {
  any_value made;
  made.memory_ = std::move(memory), made.value_ = v;
  return made;
}

const any_value* named_values::find(std::string_view name) const {
  for (const named_value& each : items)
    if (each.name == name) return &each.value;
  return nullptr;
}

status named_values::in(const named_value& output, const status& error) {
  return guarded([&]() -> status { return status{error}.in(fmt::format("output '{}'", output.name)); });
}

}  // namespace CAMEO_NAMESPACE
