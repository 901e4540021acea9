#include <cameo/eps/cpu/lp_normalization.hpp>

#include <cmath>

#include "common/refuse.hpp"
#include "common/row_rooms.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

constexpr std::int64_t columns = 64;

template <class C>
void normalize_columns(const C* x, C* y, std::int64_t axis, std::int64_t inner, std::int64_t n, bool squares) {
  double norm[columns] = {};
  for (std::int64_t a = 0; a < axis; ++a)
    for (std::int64_t i = 0; i < n; ++i) {
      const auto v = double(x[a * inner + i]);
      norm[i] += squares ? v * v : std::abs(v);
    }
  for (std::int64_t i = 0; i < n; ++i) {
    if (squares) norm[i] = std::sqrt(norm[i]);
    if (norm[i] == 0) norm[i] = 1;
  }
  for (std::int64_t a = 0; a < axis; ++a)
    for (std::int64_t i = 0; i < n; ++i) y[a * inner + i] = C(double(x[a * inner + i]) / norm[i]);
}

}  // namespace

result<lp_normalization> lp_normalization::bind(bind_context& c) {
  const std::int64_t p = c.int_or("p", 2);
  if (p != 1 && p != 2) return bad_attribute("p must be 1 or 2, not ", p);
  c.may_overwrite(0, 0);
  lp_normalization made;
  made.axis = c.int_or("axis", -1);
  made.squares = p == 2;
  return made;
}

template <class C>
status lp_normalization::run_as(run_context& c) const {
  const value& x = c.input(0);
  std::int64_t a = axis;
  if (!normalize_axis(a, x.shape.rank()))
    return bad_input("axis ", axis, " is not in [-", x.shape.rank(), ",", x.shape.rank(), ") of shape ", x.shape);
  const result<value*> out = c.output(0, x.shape);
  if (!out) return out.error();
  if (x.shape.count() == 0) return {};
  const auto at = std::size_t(a);
  const std::int64_t size = x.shape[at], inner = x.shape.count(at + 1, x.shape.rank());
  const std::int64_t stretches = (inner + columns - 1) / columns, width = std::min(inner, columns);
  const auto from = row_rooms<C>::make(c, x, size, width), y = row_rooms<C>::make(c, **out, size, width);
  if (!from || !y) return status_code::out_of_memory;
  parallel_rows(c, x.shape.count(0, at) * stretches, std::max<std::int64_t>(1, (1 << 14) / (size * width)),
                [&](std::int64_t first, std::int64_t last, std::size_t lane) {
                  for (std::int64_t unit = first; unit < last; ++unit) {
                    const std::int64_t column = unit % stretches * columns, n = std::min(columns, inner - column);
                    const std::int64_t start = unit / stretches * size * inner + column;
                    const row_block<const C> in = from->read(lane, start, inner, size, n);
                    normalize_columns(in.data, y->room(lane, start, inner).data, size, in.step, n, squares);
                    y->store(lane, start, inner, size, n);
                  }
                });
  return {};
}

status lp_normalization::run(run_context& c) const {
  return c.input(0).type == dtype::f64 ? run_as<double>(c) : run_as<float>(c);
}

}  // namespace cameo::inline CAMEO_ABI::eps
