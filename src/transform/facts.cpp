#include <cameo/core/elements.hpp>
#include <cameo/transform/rewriter.hpp>

namespace CAMEO_NAMESPACE {
namespace {

bool is_host_tensor(const value* v) { return v && v->kind == value_kind::tensor && v->memory == 0; }

}  // namespace

std::optional<double> number_of(const value* v) {
  if (!is_host_tensor(v) || v->shape.count() != 1) return {};
  return detail::number_elements::visit(v->type, std::optional<double>{}, [&]<class T>(std::type_identity<T>) {
    return double(detail::number_at<T>(*v, 0));
  });
}

std::optional<std::vector<std::int64_t>> ints_of(const value* v) {
  constexpr std::int64_t most = 4096;
  if (!is_host_tensor(v) || v->shape.count() > most) return {};
  using indices = detail::element_set<std::int64_t, std::int32_t>;
  using found = std::optional<std::vector<std::int64_t>>;
  return indices::visit(v->type, found{}, [&]<class T>(std::type_identity<T>) { return detail::all_at<T>(*v); });
}

bool all_equal(const value* v, double number) {
  if (!is_host_tensor(v) || v->shape.count() == 0) return false;
  return detail::number_elements::visit(v->type, false, [&]<class T>(std::type_identity<T>) {
    for (std::size_t i = 0; i < std::size_t(v->shape.count()); ++i)
      if (double(detail::number_at<T>(*v, i)) != number) return false;
    return true;
  });
}

}  // namespace CAMEO_NAMESPACE
