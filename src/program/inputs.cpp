#include <cameo/core/checked.hpp>
#include <cameo/core/elements.hpp>
#include <cameo/graph/model.hpp>
#include <cameo/os/heap_arena.hpp>

#include "core/nearest.hpp"
#include "file/messages.hpp"
#include "program/inputs.hpp"
#include "program/text.hpp"
#include "program/wanted_numbers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <utility>

namespace cameo::program {
namespace {

/// Random numbers that are the same on every platform. The standard specifies the results of std::mt19937_64, but not
/// those of its distributions.
class random_source {
 public:
  explicit random_source(std::uint64_t seed) : engine_{seed} {}
  std::uint64_t bits() { return engine_(); }
  double unit() { return double(engine_() >> 11) * 0x1p-53; }
  double normal() {  // Box and Muller
    const double u = (double(engine_() >> 11) + 1) * 0x1p-53, v = unit();
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  }

 private:
  std::mt19937_64 engine_;
};

template <class T, class Next>
result<value> fill(const extents& shape, arena& memory, Next next) {
  const auto count = std::size_t(shape.count());
  std::uint64_t bytes = 0;
  if (!detail::checked_bytes(dtype_of<T>, count, bytes)) return status_code::out_of_memory;
  T* const data = static_cast<T*>(memory.allocate(std::max<std::size_t>(bytes, 1), 64));
  if (!data) return status_code::out_of_memory;
  for (std::size_t i = 0; i < count; ++i) std::construct_at(data + i, next(i));
  return value::tensor(dtype_of<T>, shape, data);
}

/// Random bytes for types below a byte and floats of 6 bits, where any bits are a valid number.
result<value> fill_bits(dtype type, const extents& shape, arena& memory, random_source& random) {
  std::uint64_t bytes = 0;
  if (!detail::checked_bytes(type, std::uint64_t(shape.count()), bytes)) return status_code::out_of_memory;
  result<value> made = fill<std::uint8_t>(extents{std::int64_t(bytes)}, memory,
                                          [&](std::size_t) { return std::uint8_t(random.bits() & 0x33); });
  if (made) made->type = type, made->shape = shape;
  return made;
}

/// Element `i` of an input with the wanted numbers.
std::int64_t next_wanted(const wanted_numbers& wanted, std::size_t i, random_source& random) {
  if (wanted.pattern == operand_use::places) return std::int64_t(i);
  if (wanted.pattern == operand_use::form) return i ? 1 : -1;
  return wanted.low + std::int64_t(random.bits() % (std::uint64_t(wanted.high - wanted.low) + 1));
}

/// The number of type T that is nearest to `number`.
template <class T>
T narrowed(std::int64_t number) {
  using limits = std::numeric_limits<T>;
  if (std::cmp_less(number, limits::min())) return limits::min();
  return std::cmp_greater(number, limits::max()) ? limits::max() : T(number);
}

/// A random element: a number that the model needs (`wanted`), else a small number or a short text.
template <class T>
T next(random_source& random, const wanted_numbers& wanted, std::size_t i) {
  static constexpr std::string_view texts[] = {"a", "bc", "def", "ghij"};
  if constexpr (std::same_as<T, std::string_view>) return texts[random.bits() % 4];
  else if constexpr (std::same_as<T, bool>) return wanted.known ? wanted.low != 0 : (random.bits() & 1) != 0;
  else if constexpr (std::integral<T>) return narrowed<T>(next_wanted(wanted, i, random));
  else if constexpr (std::same_as<T, float8e8m0>) return T{float(random.bits() % 4 + 1)};
  else if constexpr (requires(T c) { c.im; })
    return T{next<decltype(T::re)>(random, {}, 0), next<decltype(T::im)>(random, {}, 0)};
  else if (wanted.known) return T(float(next_wanted(wanted, i, random)));
  else if constexpr (std::same_as<T, double>) return random.normal();
  else return T(float(random.normal()));
}

/// True if a number is in the range of T. For float, 1e39 is not, because it would be rounded to infinity.
template <class T>
bool is_in_range_of(double number) {
  if constexpr (std::same_as<T, double>) return true;
  else return !std::isfinite(number) || std::isfinite(float(T(float(number))));
}

/// Reads an element from its text. False if the text is not a number in the range of T.
template <class T>
bool read_element(std::string_view text, T& to) {
  const char* const last = text.data() + text.size();
  const auto whole = [&](auto& number) {
    const auto read = std::from_chars(text.data(), last, number);
    return read.ec == std::errc{} && read.ptr == last;
  };
  if constexpr (std::same_as<T, bool>) {
    if (text != "0" && text != "1" && text != "false" && text != "true") return false;
    return to = text == "1" || text == "true", true;
  } else if constexpr (std::integral<T>) {
    return whole(to);  // from_chars also fails for numbers out of range
  } else if constexpr (!std::same_as<T, std::string_view> && !requires(T c) { c.im; }) {
    double number = 0;
    if (!whole(number) || !is_in_range_of<T>(number)) return false;
    if constexpr (std::same_as<T, double>) to = number;
    else to = T(float(number));
    return true;
  } else {
    return false;
  }
}

/// Reads all texts as elements. INVALID_ARGUMENT with the first text that is not an element of T.
template <class T>
result<std::vector<T>> read_elements(const std::vector<std::string>& texts, arena& memory) {
  std::vector<T> made(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if constexpr (std::same_as<T, std::string_view>) {
      const result<std::span<char>> kept = memory.take<char>(std::max<std::size_t>(texts[i].size(), 1));
      if (!kept) return kept.error();
      std::copy(texts[i].begin(), texts[i].end(), kept->begin());
      made[i] = {kept->data(), texts[i].size()};
    } else {
      T one{};
      if (!read_element(trimmed(texts[i]), one))
        return failed(status_code::invalid_argument, "'{}' is not a valid {}", texts[i],
                      detail::row_of(dtype_of<T>).name);
      made[i] = one;
    }
  }
  return made;
}

/// A random number from `low` to `high`, which is included for integers only.
template <class T>
T random_between(T low, T high, random_source& random) {
  if constexpr (std::same_as<T, bool>) return low == high ? low : (random.bits() & 1) != 0;
  else if constexpr (std::integral<T>)
    return T(std::uint64_t(low) +
             random.bits() % std::max<std::uint64_t>(std::uint64_t(high) - std::uint64_t(low) + 1, 1));
  else if constexpr (std::same_as<T, double>) return low + (high - low) * random.unit();
  else return T(float(double(float(low)) + (double(float(high)) - double(float(low))) * random.unit()));
}

template <class T>
result<value> fill_range(const extents& shape, const std::vector<T>& ends, arena& memory, random_source& random) {
  if constexpr (std::same_as<T, std::string_view> || requires(T c) { c.im; }) {
    return bad("has no order, so nothing lies between two of them");
  } else {
    bool in_order = false;
    if constexpr (std::integral<T>) {
      in_order = ends[0] <= ends[1];
    } else {
      const auto wide = [](T number) {
        if constexpr (std::same_as<T, double>) return number;
        else return double(float(number));
      };
      const double length = wide(ends[1]) - wide(ends[0]);
      if (!std::isfinite(length)) return bad("a range goes from one finite number to another, over a finite length");
      in_order = length >= 0;
    }
    if (!in_order) return bad("a range goes from the smaller number to the larger one");
    return fill<T>(shape, memory, [&](std::size_t) { return random_between(ends[0], ends[1], random); });
  }
}

result<value> fill_any(dtype type, const extents& shape, arena& memory, random_source& random,
                       const element_source& source, const wanted_numbers& wanted) {
  using kind = element_source::kind;
  result<value> no_type = bad("an input without an element type");
  return detail::all_elements::visit(type, std::move(no_type), [&]<class T>(std::type_identity<T>) -> result<value> {
    if constexpr (std::is_empty_v<T>) {
      if (source.how != kind::random)
        return bad(fmt::format("numbers of type {} come from a file", detail::row_of(type).name));
      return fill_bits(type, shape, memory, random);
    } else {
      if (source.how == kind::random)
        return fill<T>(shape, memory, [&](std::size_t i) { return next<T>(random, wanted, i); });
      result<std::vector<T>> given = read_elements<T>(source.texts, memory);
      if (!given) return std::move(given).error();
      if (source.how == kind::range) return fill_range<T>(shape, *given, memory, random);
      const std::size_t step = source.how == kind::list ? 1 : 0;
      return fill<T>(shape, memory, [&](std::size_t i) -> T { return (*given)[i * step]; });
    }
  });
}

/// The shape of the input for `elements` elements. The last dim without a size in the model or in `sizes` is computed
/// from the number of elements. INVALID_ARGUMENT if no shape has that many.
result<extents> shape_for(const io_info& input, const model& m, const dim_sizes& sizes, std::size_t elements) {
  if (!input.type.shape) return extents{std::int64_t(elements)};
  const std::vector<dim>& dims = *input.type.shape;
  extents made;
  std::int64_t known = 1, open = -1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const bool is_named = dims[i].symbol != 0 && dims[i].symbol < m.symbols.size();
    const bool is_given = dims[i].known() || std::any_of(sizes.begin(), sizes.end(), [&](const auto& each) {
                            return is_named && m.symbols[dims[i].symbol] == each.first;
                          });
    made.push_back(size_of(dims[i], m, sizes));
    if (!is_given) open = std::int64_t(i);
    else if (!checked_multiply(known, made.back(), known)) known = 0;
  }
  if (open >= 0 && known > 0 && std::int64_t(elements) % known == 0)
    made[std::size_t(open)] = std::int64_t(elements) / known;
  std::int64_t count = 0;
  if (made.checked_count(count) && count == std::int64_t(elements)) return made;
  return failed(status_code::invalid_argument, "{} values are given, {} has {}", elements, input.type_text,
                open < 0 ? fmt::format("{}", count) : fmt::format("a multiple of {}", known));
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

std::string nearest_words(std::string_view name, const std::vector<std::string>& known) {
  constexpr std::size_t most = 8;
  if (std::string near = did_you_mean(name, known); !near.empty()) return near;
  if (known.empty()) return "; there is none";
  if (known.size() > most)
    return fmt::format("; there are {}, ... ({} in all)",
                       fmt::join(known.begin(), known.begin() + std::ptrdiff_t(most), ", "), known.size());
  return fmt::format("; there {} {}", known.size() == 1 ? "is" : "are", fmt::join(known, ", "));
}

status check_dims(const session& loaded, const dim_sizes& sizes) {
  std::vector<std::string> known;
  for (const io_info& io : loaded.inputs())
    if (io.type.shape)
      for (dim d : *io.type.shape)
        if (!d.known() && d.symbol != 0 && d.symbol < loaded.graph().symbols.size())
          if (const std::string& name = loaded.graph().symbols[d.symbol];
              std::find(known.begin(), known.end(), name) == known.end())
            known.push_back(name);
  for (const auto& [name, size] : sizes)
    if (std::find(known.begin(), known.end(), name) == known.end())
      return {status_code::invalid_argument,
              known.empty() ? fmt::format("no input has a symbolic dim, so none is named '{}'", name)
                            : fmt::format("no input has a dim named '{}'{}", name, nearest_words(name, known))};
  return status_code::ok;
}

result<any_value> make_value(const session& loaded, const io_info& input, const dim_sizes& sizes,
                             const element_source& source, std::uint64_t seed) {
  const auto wrong = [&](status&& s) { return std::move(s).in(fmt::format("input '{}'", input.name)); };
  if (!input.type.is_tensor())
    return failed(status_code::not_implemented, "input '{}' is {}: {} values are for tensors only; give a file",
                  input.name, input.type_text, source.how == element_source::kind::random ? "random" : "such");
  extents shape;
  if (source.how == element_source::kind::list) {
    result<extents> found = shape_for(input, loaded.graph(), sizes, source.texts.size());
    if (!found) return wrong(std::move(found).error());
    shape = *found;
  } else if (input.type.shape) {
    for (dim d : *input.type.shape) shape.push_back(size_of(d, loaded.graph(), sizes));
  }
  std::int64_t count = 0;
  if (!shape.checked_count(count)) return failed(status_code::out_of_memory, "input '{}' is too large", input.name);
  for (unsigned char c : input.name) seed = (seed ^ c) * 1099511628211u;  // different numbers for each input (FNV-1a)
  random_source random{seed};
  const bool is_random = source.how == element_source::kind::random;
  const wanted_numbers wanted = is_random ? wanted_of(loaded, input, sizes) : wanted_numbers{};
  auto memory = std::make_shared<detail::heap_arena>();
  result<value> made = fill_any(input.type.type, shape, *memory, random, source, wanted);
  if (!made && made.error().code() == status_code::out_of_memory)
    return failed(status_code::out_of_memory, "input '{}': there is no memory for {}", input.name, input.type_text);
  if (!made) return wrong(std::move(made).error());
  return any_value::adopt(std::move(memory), *made);
}

}  // namespace cameo::program
