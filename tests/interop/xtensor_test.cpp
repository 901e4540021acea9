#include <cameo/interop/xtensor.hpp>

#include <doctest/doctest.h>
#include <xtensor/xarray.hpp>
#include <xtensor/xfixed.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>

#include <numeric>
#include <vector>

using namespace cameo;

namespace {

std::vector<float> ramp(std::size_t count) {
  std::vector<float> all(count);
  std::iota(all.begin(), all.end(), 1.0f);
  return all;
}

}  // namespace

TEST_CASE("as_xtensor: an array of the tensor's shape in its memory") {
  const std::vector<float> elements = ramp(24);
  const value v = value::tensor<float>({2, 3, 4}, elements);
  const auto x = as_xtensor(v.as_unchecked<float>());
  CHECK(x.dimension() == 3);
  CHECK(x.shape(1) == 3);
  CHECK(x.data() == elements.data());
  CHECK(x(1, 2, 3) == 24);
  CHECK(x(1, 0, 0) == 13);
  CHECK(xt::sum(x)() == doctest::Approx(300));
  static_assert(std::is_same_v<decltype(x.data()), const float*>, "a view of const elements is read-only");
}

TEST_CASE("writes to an array change the tensor") {
  std::vector<float> elements = ramp(6);
  const value v = value::tensor<float>({2, 3}, elements);
  auto x = as_xtensor(v.as_mutable_unchecked<float>());
  x(1, 1) = 50;
  x *= 2;
  CHECK(elements == std::vector<float>{2, 4, 6, 8, 100, 12});
}

TEST_CASE("scalars and empty tensors keep their shapes, as does a tensor of rank 6") {
  const float one = 7;
  const value scalar = value::tensor<float>({}, {&one, 1});
  CHECK(as_xtensor(scalar.as_unchecked<float>()).dimension() == 0);
  CHECK(as_xtensor(scalar.as_unchecked<float>())() == 7);
  const value empty = value::tensor<float>({2, 0}, {});
  CHECK(as_xtensor(empty.as_unchecked<float>()).size() == 0);
  CHECK(as_xtensor(empty.as_unchecked<float>()).shape(0) == 2);
  const std::vector<float> elements = ramp(64);
  const value deep = value::tensor<float>({2, 2, 2, 2, 2, 2}, elements);
  CHECK(as_xtensor(deep.as_unchecked<float>())(1, 0, 1, 0, 1, 0) == 43);
}

TEST_CASE("as_tensor: a tensor in the memory of a row-major container") {
  const xt::xarray<double> array{{1, 2, 3}, {4, 5, 6}};
  const value v = as_tensor(array);
  CHECK(v.kind == value_kind::tensor);
  CHECK(v.type == dtype::f64);
  CHECK(v.shape == extents{2, 3});
  CHECK(v.data == array.data());
  const xt::xtensor<std::int64_t, 1> ids{5, 6};
  CHECK(as_tensor(ids).shape == extents{2});
  CHECK(as_tensor(ids).as_unchecked<std::int64_t>()[1] == 6);
  const xt::xtensor_fixed<float, xt::xshape<2, 2>> fixed{{1, 2}, {3, 4}};
  CHECK(as_tensor(fixed).shape == extents{2, 2});
  CHECK(as_tensor(fixed).as_unchecked<float>()[2] == 3);
}

TEST_CASE("as_tensor takes adaptors and contiguous views") {
  std::vector<float> elements = ramp(6);
  const value v = value::tensor<float>({2, 3}, elements);
  const value round_trip = as_tensor(as_xtensor(v.as_unchecked<float>()));
  CHECK(round_trip.data == elements.data());
  CHECK(round_trip.shape == v.shape);

  const xt::xtensor<float, 2> whole{{1, 2, 3}, {4, 5, 6}};
  const auto row = xt::view(whole, 1, xt::all());
  const value second = as_tensor(row);
  CHECK(second.shape == extents{3});
  CHECK(second.as_unchecked<float>()[0] == 4);
}

TEST_CASE("layouts that are not row-major are refused at compile time") {
  using columns_first = xt::xarray<float, xt::layout_type::column_major>;
  using any_order = xt::xarray<float, xt::layout_type::dynamic>;
  using a_column = decltype(xt::view(std::declval<xt::xtensor<float, 2>&>(), xt::all(), 1));
  using a_sum = decltype(std::declval<xt::xarray<float>&>() + 1.0f);
  static_assert(interop::is_dense_xtensor<xt::xarray<float>>);
  static_assert(!interop::is_dense_xtensor<columns_first>);
  static_assert(!interop::is_dense_xtensor<any_order>);
  static_assert(!interop::is_dense_xtensor<a_column>);
  static_assert(!interop::is_dense_xtensor<a_sum>, "an expression that has not been evaluated");
  static_assert(!interop::xtensor_object<std::vector<float>>);
}
