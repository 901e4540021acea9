#include <cameo/core/elements.hpp>
#include <cameo/graph/model.hpp>

#include "file/messages.hpp"
#include "program/inputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <random>

namespace cameo::program {
namespace {

/// The standard's engine gives the same bits everywhere, its distributions do not.
class random_source {
 public:
  explicit random_source(std::uint64_t seed) : engine_{seed} {}
  std::uint64_t bits() { return engine_(); }
  double normal() {  // Box and Muller
    const double u = (double(engine_() >> 11) + 1) * 0x1p-53, v = double(engine_() >> 11) * 0x1p-53;
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  }

 private:
  std::mt19937_64 engine_;
};

template <class T, class Next>
result<value> fill(const extents& shape, arena& memory, Next next) {
  const auto count = std::size_t(shape.count());
  std::uint64_t bytes = 0;
  if (!checked_bytes(dtype_of<T>, count, bytes)) return status_code::out_of_memory;
  T* const data = static_cast<T*>(memory.allocate(std::max<std::size_t>(bytes, 1), 64));
  if (!data) return status_code::out_of_memory;
  for (std::size_t i = 0; i < count; ++i) std::construct_at(data + i, next());
  return value::tensor(dtype_of<T>, shape, data);
}

/// Types below a byte and floats of 6 bits: any bits are a number.
result<value> fill_bits(dtype type, const extents& shape, arena& memory, random_source& random) {
  std::uint64_t bytes = 0;
  if (!checked_bytes(type, std::uint64_t(shape.count()), bytes)) return status_code::out_of_memory;
  result<value> made =
      fill<std::uint8_t>(extents{std::int64_t(bytes)}, memory, [&] { return std::uint8_t(random.bits() & 0x33); });
  if (made) made->type = type, made->shape = shape;
  return made;
}

/// Small numbers, and short texts.
template <class T>
T next(random_source& random) {
  static constexpr std::string_view texts[] = {"a", "bc", "def", "ghij"};
  if constexpr (std::same_as<T, std::string_view>) return texts[random.bits() % 4];
  else if constexpr (std::same_as<T, bool>) return (random.bits() & 1) != 0;
  else if constexpr (std::integral<T>) return T(random.bits() % 4);
  else if constexpr (std::same_as<T, float8e8m0>) return T{float(random.bits() % 4 + 1)};
  else if constexpr (std::same_as<T, double>) return random.normal();
  else if constexpr (requires(T c) { c.im; }) return T{next<decltype(T::re)>(random), next<decltype(T::im)>(random)};
  else return T(float(random.normal()));
}

result<value> fill_any(dtype type, const extents& shape, arena& memory, random_source& random) {
  result<value> no_type = status{status_code::invalid_argument, "an input without an element type"};
  return detail::all_elements::visit(type, std::move(no_type), [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_empty_v<T>) return fill_bits(type, shape, memory, random);
    else return fill<T>(shape, memory, [&] { return next<T>(random); });
  });
}

std::int64_t size_of(dim d, const model& m, const dim_sizes& sizes) {
  if (d.known()) return d.size;
  if (d.symbol < m.symbols.size())
    for (const auto& [name, size] : sizes)
      if (d.symbol != 0 && m.symbols[d.symbol] == name) return size;
  return 1;
}

}  // namespace

bool parse_dim(std::string_view text, std::pair<std::string, std::int64_t>& to) {
  const std::size_t equals = text.rfind('=');
  if (equals == text.npos || equals == 0) return false;
  to.first = text.substr(0, equals);
  const char* const last = text.data() + text.size();
  const auto read = std::from_chars(text.data() + equals + 1, last, to.second);
  return read.ec == std::errc{} && read.ptr == last && to.second >= 0;
}

status check_dims(const session& loaded, const dim_sizes& sizes) {
  std::vector<std::string_view> known;
  for (const io_info& io : loaded.inputs())
    if (io.type.shape)
      for (dim d : *io.type.shape)
        if (!d.known() && d.symbol != 0 && d.symbol < loaded.graph().symbols.size())
          known.push_back(loaded.graph().symbols[d.symbol]);
  for (const auto& [name, size] : sizes)
    if (std::find(known.begin(), known.end(), name) == known.end())
      return {status_code::invalid_argument,
              known.empty() ? fmt::format("no input has a symbolic dim, so none is named '{}'", name)
                            : fmt::format("no input has a dim named '{}', but {}", name, fmt::join(known, ", "))};
  return status_code::ok;
}

result<any_value> random_value(const session& loaded, const io_info& input, const dim_sizes& sizes,
                               std::uint64_t seed) {
  if (!input.type.is_tensor())
    return failed(status_code::not_implemented, "input '{}' is {}: random values are for tensors only; give a file",
                  input.name, input.type_text);
  extents shape;
  if (input.type.shape)
    for (dim d : *input.type.shape) shape.push_back(size_of(d, loaded.graph(), sizes));
  std::int64_t count = 0;
  if (!shape.checked_count(count)) return failed(status_code::out_of_memory, "input '{}' is too large", input.name);
  for (unsigned char c : input.name) seed = (seed ^ c) * 1099511628211u;  // inputs differ from each other
  random_source random{seed};
  auto memory = std::make_shared<heap_arena>();
  result<value> made = fill_any(input.type.type, shape, *memory, random);
  if (!made && made.error().code() == status_code::out_of_memory)
    return failed(status_code::out_of_memory, "input '{}': there is no memory for {}", input.name, input.type_text);
  if (!made) return std::move(made).error().in(fmt::format("input '{}'", input.name));
  return any_value::adopt(std::move(memory), *made);
}

}  // namespace cameo::program
