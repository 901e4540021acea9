#include <cameo/eps/cpu/where.hpp>
#include <cameo/kernel/broadcast.hpp>

namespace CAMEO_NAMESPACE::eps {
namespace {

struct sixteen_bytes {
  std::uint64_t words[2];
};

template <class T>
void choose_row(const std::uint8_t* condition, std::int64_t condition_step, const void* x, std::int64_t x_step,
                const void* y, std::int64_t y_step, void* out, std::int64_t n) {
  const T* const a = static_cast<const T*>(x);
  const T* const b = static_cast<const T*>(y);
  T* const to = static_cast<T*>(out);
  if (condition_step == 0) {
    const T* const chosen = *condition ? a : b;
    const std::int64_t step = *condition ? x_step : y_step;
    for (std::int64_t i = 0; i < n; ++i) to[i] = chosen[i * step];
  } else if (x_step && y_step) {
    for (std::int64_t i = 0; i < n; ++i) to[i] = condition[i] ? a[i] : b[i];
  } else if (x_step) {
    const T other = *b;
    for (std::int64_t i = 0; i < n; ++i) to[i] = condition[i] ? a[i] : other;
  } else if (y_step) {
    const T one = *a;
    for (std::int64_t i = 0; i < n; ++i) to[i] = condition[i] ? one : b[i];
  } else {
    const T one = *a, other = *b;
    for (std::int64_t i = 0; i < n; ++i) to[i] = condition[i] ? one : other;
  }
}

where::row_function row_for_bytes(std::int64_t bytes) {
  switch (bytes) {
    case 1: return choose_row<std::uint8_t>;
    case 2: return choose_row<std::uint16_t>;
    case 4: return choose_row<std::uint32_t>;
    case 8: return choose_row<std::uint64_t>;
    default: return choose_row<sixteen_bytes>;
  }
}

}  // namespace

result<where> where::bind(bind_context& c) {
  where made;
  made.bytes = detail::row_of(c.inputs[1].type).bits / 8;
  made.row = row_for_bytes(made.bytes);
  c.may_overwrite(0, 1);
  c.may_overwrite(0, 2);
  return made;
}

status where::run(run_context& c) const {
  const value &condition = c.input(0), &x = c.input(1), &y = c.input(2);
  broadcast_loops<3> loops;
  if (status s = loops.make({&condition.shape, &x.shape, &y.shape}); !s) return s;
  const result<value*> out = c.output(0, loops.shape());
  if (!out) return out.error();
  const auto* const asked = static_cast<const std::uint8_t*>(condition.data);
  const auto* const a = static_cast<const std::byte*>(x.data);
  const auto* const b = static_cast<const std::byte*>(y.data);
  auto* const to = static_cast<std::byte*>((*out)->data);
  const auto& steps = loops.steps();
  parallel_elements(c, loops.count(), 1 << 15, [&](std::int64_t first, std::int64_t last) {
    loops.rows(first, last, [&](std::int64_t at, const auto& from, std::int64_t n) {
      row(asked + from[0], steps[0], a + from[1] * bytes, steps[1], b + from[2] * bytes, steps[2], to + at * bytes, n);
    });
  });
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
