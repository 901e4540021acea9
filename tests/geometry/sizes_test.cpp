#include <doctest/doctest.h>
#include <cameo/geometry/sizes.hpp>

#include <vector>

namespace lists_of_sizes {

using namespace cameo;
using namespace cameo::geometry;

using numbers = sizes<std::int64_t>;
using dims = sizes<dim>;

static_assert(numbers{}.empty() && numbers{2, 3}.rank() == 2 && numbers{2, 3}[1] == 3 &&
              numbers(3, 1) == numbers{1, 1, 1});
static_assert(extents(numbers{2, 3}) == extents{2, 3} && numbers(extents{2, 3}) == numbers{2, 3});
constexpr numbers changed() {
  numbers list{2, 3};
  list.insert(1, 5), list.push_back(7), list.erase(0), list.resize(4), list.back() = 9;
  const std::int64_t more[] = {8};
  list.append(more);
  return list;
}
static_assert(changed() == numbers{5, 3, 7, 9, 8});
static_assert(numbers(max_rank + 1, 2).rank() == max_rank);
constexpr std::int64_t two[] = {2, 3};
static_assert(numbers(shape_view<std::int64_t>{two}) == numbers{2, 3} && numbers(two) == numbers{2, 3});
static_assert(numbers(std::span<const std::int64_t>{two}) == numbers{2, 3});
constexpr std::size_t rank_of(shape_view<dim> shape) { return shape.rank(); }
constexpr std::size_t length_of(std::span<const dim> list) { return list.size(); }
static_assert(rank_of(dims{dim{}, dim::fixed(2)}) == 2 && length_of(dims{dim{}}) == 1);

static_assert(differ(dim::fixed(2), dim::fixed(3)) && !differ(dim::fixed(2), dim{}) && !differ(dim::named(1), dim{}));
static_assert(are_same(dim::named(1), dim::named(1)) && !are_same(dim{}, dim{}) && are_same(2, 2));
static_assert(unified(dim{}, dim::named(1)) == dim::named(1) && unified(dim::named(1), dim::fixed(2)) == dim::fixed(2));
static_assert(unified(dim::named(1), dim{}) == dim::named(1) && unified(dim::named(1), dim::named(2)) == dim::named(1));

constexpr dim product_of(const dims& list) {
  dim product;
  return checked_product<dim>(list, product) ? product : dim::named(99);
}
static_assert(product_of({}) == dim::fixed(1) && product_of({dim::fixed(2), dim::fixed(3)}) == dim::fixed(6));
static_assert(product_of({dim::named(1), dim::fixed(1)}) == dim::named(1));
static_assert(product_of({dim::named(1), dim::fixed(2)}) == dim{} && product_of({dim{}, dim{}}) == dim{});
static_assert(product_of({dim::fixed(INT64_MAX), dim::fixed(2), dim::fixed(0)}) == dim::fixed(0));
static_assert(product_of({dim::fixed(INT64_MAX), dim::fixed(2)}) == dim::named(99));

constexpr dim sum_of(dim a, dim b) {
  dim sum;
  return checked_sum(a, b, sum) ? sum : dim::named(99);
}
static_assert(sum_of(dim::named(1), dim::fixed(0)) == dim::named(1) && sum_of(dim{}, dim::fixed(2)) == dim{});
static_assert(sum_of(dim::fixed(1), dim::fixed(2)) == dim::fixed(3));
static_assert(sum_of(dim::fixed(INT64_MAX), dim::fixed(1)) == dim::named(99));

static_assert(check_rank<dim>(max_rank) && !check_rank<std::int64_t>(max_rank + 1));

TEST_CASE("geometry: a rank above the largest is refused in words") {
  CHECK(numbers(std::vector<std::int64_t>{4, 5}) == numbers{4, 5});
  CHECK(dims(std::vector<dim>{dim{}}) == dims{dim{}});
  CHECK(check_rank<dim>(13).words() == "the output has rank 13, must have rank 12 or less");
}

}  // namespace lists_of_sizes
