#include "c/handles.hpp"
#include "file/messages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cameo::c {

result<extents> to_extents(const std::int64_t* dims, std::size_t rank) {
  if (rank && !dims) return status{status_code::invalid_argument, "is NULL"}.in("dims");
  if (rank > max_rank)
    return failed(status_code::invalid_argument, "a tensor of rank {}; {} is the largest", rank, max_rank);
  const extents shape{std::span<const std::int64_t>{dims, rank}};
  if (std::int64_t count = 0; !shape.checked_count(count))
    return failed(status_code::invalid_argument,
                  "[{}] is not a shape: a dim is negative, or there are too many elements",
                  fmt::join(shape.dims(), ","));
  return shape;
}

result<value> to_tensor(int element_type, const std::int64_t* dims, std::size_t rank, const void* elements,
                        std::size_t bytes) {
  const result<extents> shape = to_extents(dims, rank);
  if (!shape) return status{shape.error()};
  if (element_type <= 0 || element_type >= int(dtype::count) || dtype(element_type) == dtype::string)
    return failed(status_code::invalid_argument,
                  "{} is not a type of elements in memory; for strings, call cameo_value_strings", element_type);
  std::uint64_t needed = 0;
  if (!detail::checked_bytes(dtype(element_type), std::uint64_t(shape->count()), needed))
    return failed(status_code::invalid_argument, "{}[{}] takes more bytes than there can be",
                  detail::row_of(dtype(element_type)).name, fmt::join(shape->dims(), ","));
  if (needed != bytes)
    return failed(status_code::invalid_argument, "{}[{}] takes {} bytes, and {} are given",
                  detail::row_of(dtype(element_type)).name, fmt::join(shape->dims(), ","), needed, bytes);
  if (bytes && !elements) return status{status_code::invalid_argument, "is NULL"}.in("elements");
  return value::tensor(dtype(element_type), *shape, elements);
}

}  // namespace cameo::c

void cameo_value::refer_to(const cameo::value& other) {
  view = other;
  parts.clear();
  for (const cameo::value& part : other.parts) {
    parts.push_back(std::make_unique<cameo_value>());
    parts.back()->refer_to(part);
  }
}

cameo_error* cameo_value_tensor(int element_type, const std::int64_t* dims, std::size_t rank, const void* elements,
                                std::size_t bytes, cameo_value** made) {
  using namespace cameo;
  return c::answer([&]() -> status {
    if (status s = c::need({{"made", made}}); !s) return s;
    const result<value> tensor = c::to_tensor(element_type, dims, rank, elements, bytes);
    if (!tensor) return tensor.error();
    auto handle = std::make_unique<cameo_value>();
    handle->refer_to(*tensor);
    *made = handle.release();
    return {};
  });
}

cameo_error* cameo_value_strings(const std::int64_t* dims, std::size_t rank, const char* const* texts,
                                 const std::size_t* lengths, cameo_value** made) {
  using namespace cameo;
  return c::answer([&]() -> status {
    if (status s = c::need({{"made", made}}); !s) return s;
    const result<extents> shape = c::to_extents(dims, rank);
    if (!shape) return shape.error();
    const auto count = std::size_t(shape->count());
    if (count && !texts) return status{status_code::invalid_argument, "is NULL"}.in("texts");
    std::vector<std::string_view> views;
    for (std::size_t i = 0; i < count; ++i) {
      if (!texts[i]) return failed(status_code::invalid_argument, "text {} is NULL", i);
      views.push_back(lengths ? std::string_view{texts[i], lengths[i]} : std::string_view{texts[i]});
    }
    any_value tensor = any_value::tensor(*shape, views);
    if (!tensor) return status_code::out_of_memory;
    *made = new cameo_value{std::move(tensor)};
    return {};
  });
}

cameo_error* cameo_value_sequence(const cameo_value* const* parts, std::size_t count, cameo_value** made) {
  using namespace cameo;
  return c::answer([&]() -> status {
    if (status s = c::need({{"made", made}, {"parts", count ? parts : static_cast<const void*>("")}}); !s) return s;
    std::vector<value> views;
    for (std::size_t i = 0; i < count; ++i) {
      if (!parts[i]) return failed(status_code::invalid_argument, "part {} is NULL", i);
      if (i && parts[i]->view.kind != views[0].kind)
        return failed(status_code::invalid_argument, "part {} is of another kind than part 0", i);
      views.push_back(parts[i]->view);
    }
    value all;
    all.kind = value_kind::sequence;
    if (count) all.type = views[0].type;
    all.parts = std::span<value>{views};
    any_value copy = any_value::copy_of(all);
    if (!copy) return status_code::out_of_memory;
    *made = new cameo_value{std::move(copy)};
    return {};
  });
}

void cameo_value_free(cameo_value* value) { delete value; }

int cameo_value_kind(const cameo_value* value) { return int(cameo::c::deref(value).view.kind); }
int cameo_value_element_type(const cameo_value* value) { return int(cameo::c::deref(value).view.type); }
const std::int64_t* cameo_value_dims(const cameo_value* value, std::size_t* rank) {
  const cameo::extents& shape = cameo::c::deref(value).view.shape;
  if (rank) *rank = shape.rank();
  return shape.begin();
}
const void* cameo_value_data(const cameo_value* value, std::size_t* bytes) {
  const cameo::value& view = cameo::c::deref(value).view;
  const bool in_memory = view.kind == cameo::value_kind::tensor && view.type != cameo::dtype::string;
  if (bytes) *bytes = in_memory ? view.bytes() : 0;
  return in_memory ? view.data : nullptr;
}
const char* cameo_value_string(const cameo_value* value, std::size_t number, std::size_t* length) {
  const cameo::value& view = cameo::c::deref(value).view;
  if (view.kind != cameo::value_kind::tensor || view.type != cameo::dtype::string ||
      number >= std::size_t(view.shape.count()))
    return nullptr;
  const std::string_view text = view.as_unchecked<std::string_view>()[number];
  if (length) *length = text.size();
  return text.data() ? text.data() : "";
}
std::size_t cameo_value_part_count(const cameo_value* value) { return cameo::c::deref(value).parts.size(); }
const cameo_value* cameo_value_part(const cameo_value* value, std::size_t number) {
  return number < cameo_value_part_count(value) ? value->parts[number].get() : nullptr;
}
