#include <cameo/interop/eigen.hpp>

#include <doctest/doctest.h>

#include <numeric>
#include <vector>

using namespace cameo;

namespace {

using row_major = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

std::vector<float> ramp(std::size_t count) {
  std::vector<float> all(count);
  std::iota(all.begin(), all.end(), 1.0f);
  return all;
}

}  // namespace

TEST_CASE("as_eigen_matrix: a row-major matrix in the tensor's memory") {
  const std::vector<float> elements = ramp(6);
  const value v = value::tensor<float>({2, 3}, elements);
  const auto matrix = as_eigen_matrix(v.as_unchecked<float>());
  REQUIRE(matrix);
  CHECK(matrix->data() == elements.data());
  CHECK(matrix->rows() == 2);
  CHECK(matrix->cols() == 3);
  CHECK((*matrix)(0, 2) == 3);
  CHECK((*matrix)(1, 0) == 4);
  static_assert(std::is_same_v<decltype(matrix->data()), const float*>, "a view of const elements is read-only");
}

TEST_CASE("writes to a matrix or vector change the tensor") {
  std::vector<double> elements(4);
  const value v = value::tensor<double>({2, 2}, elements), flat = value::tensor<double>({4}, elements);
  auto matrix = as_eigen_matrix(v.as_mutable_unchecked<double>());
  REQUIRE(matrix);
  *matrix = Eigen::Matrix2d{{1, 2}, {3, 4}};
  CHECK(elements == std::vector<double>{1, 2, 3, 4});
  auto vector = as_eigen_vector(flat.as_mutable_unchecked<double>());
  REQUIRE(vector);
  *vector *= 2;
  CHECK(elements == std::vector<double>{2, 4, 6, 8});
}

TEST_CASE("as_eigen_matrix and as_eigen_vector refuse tensors of another rank") {
  const std::vector<float> elements = ramp(6);
  for (const extents& shape : {extents{}, extents{6}, extents{1, 2, 3}}) {
    const value v{value_kind::tensor, dtype::f32, 0, shape, const_cast<float*>(elements.data())};
    const auto refused = as_eigen_matrix(v.as_unchecked<float>());
    CHECK(!refused);
    CHECK(refused.error().code() == status_code::invalid_argument);
  }
  const value matrix = value::tensor<float>({2, 3}, elements);
  CHECK(as_eigen_vector(matrix.as_unchecked<float>()).error().code() == status_code::invalid_argument);
}

TEST_CASE("empty tensors are empty matrices") {
  const value none = value::tensor<float>({0, 3}, {});
  const auto matrix = as_eigen_matrix(none.as_unchecked<float>());
  REQUIRE(matrix);
  CHECK(matrix->size() == 0);
  CHECK(matrix->cols() == 3);
}

TEST_CASE("as_tensor: a tensor in the memory of a row-major matrix") {
  const row_major m{{1, 2, 3}, {4, 5, 6}};
  const value v = as_tensor(m);
  CHECK(v.kind == value_kind::tensor);
  CHECK(v.type == dtype::f32);
  CHECK(v.shape == extents{2, 3});
  CHECK(v.data == m.data());
  CHECK(v.as_unchecked<float>()[3] == 4);
}

TEST_CASE("as_tensor takes arrays and maps, and vectors as tensors of rank 1") {
  const Eigen::VectorXd column = Eigen::VectorXd::LinSpaced(5, 0, 4);
  CHECK(as_tensor(column).shape == extents{5});
  CHECK(as_tensor(column).type == dtype::f64);
  const Eigen::RowVector3i row{1, 2, 3};
  CHECK(as_tensor(row).shape == extents{3});
  CHECK(as_tensor(row).type == dtype::i32);
  const Eigen::Array<std::int64_t, 2, 2, Eigen::RowMajor> array{{1, 2}, {3, 4}};
  CHECK(as_tensor(array).shape == extents{2, 2});
  CHECK(as_tensor(array).as_unchecked<std::int64_t>()[2] == 3);

  std::vector<float> elements = ramp(6);
  const value v = value::tensor<float>({2, 3}, elements);
  const value round_trip = as_tensor(*as_eigen_matrix(v.as_unchecked<float>()));
  CHECK(round_trip.data == elements.data());
  CHECK(round_trip.shape == v.shape);
}

TEST_CASE("layouts that are not row-major are refused at compile time") {
  static_assert(interop::eigen_layout<row_major>::dense);
  static_assert(interop::eigen_layout<Eigen::VectorXf>::dense);
  static_assert(!interop::eigen_layout<Eigen::MatrixXf>::dense, "column-major");
  static_assert(!interop::eigen_layout<Eigen::Map<row_major, 0, Eigen::OuterStride<>>>::dense, "with gaps");
  static_assert(!interop::eigen_layout<Eigen::Block<row_major>>::dense, "a block of a larger matrix");
  static_assert(!interop::eigen_object<std::vector<float>>);
}
