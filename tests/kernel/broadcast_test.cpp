#include <cameo/kernel/broadcast.hpp>

#include <doctest/doctest.h>

#include <random>
#include <vector>

using namespace cameo;

namespace {

/// The element of an operand that element `at` of the output comes from, computed directly.
std::int64_t source(const extents& out, const extents& operand, std::int64_t at) {
  std::int64_t offset = 0, stride = 1;
  for (std::size_t i = 1; i <= out.rank(); ++i) {
    const std::int64_t size = out[out.rank() - i], index = at % size;
    at /= size;
    if (i > operand.rank()) continue;
    const std::int64_t own = operand[operand.rank() - i];
    if (own != 1) offset += index * stride;
    stride *= own;
  }
  return offset;
}

}  // namespace

TEST_CASE("rows of three random operands visit every element of any range of the output once, with its sources") {
  std::mt19937 random{3};
  for (int round = 0; round < 400; ++round) {
    extents shapes[3];
    const std::size_t rank = random() % 6;
    for (std::size_t a = 0; a < rank; ++a) {
      const auto size = std::int64_t(random() % 4 + 1);
      for (extents& s : shapes) s.push_back(random() % 3 == 0 ? 1 : size);
    }
    for (extents& s : shapes)
      while (s.rank() && random() % 4 == 0) s.erase(0);
    broadcast_loops<3> loops;
    REQUIRE(bool(loops.make({&shapes[0], &shapes[1], &shapes[2]})));
    const std::int64_t count = loops.count(), first = std::int64_t(random() % std::uint64_t(count + 1));
    const std::int64_t last = first + std::int64_t(random() % std::uint64_t(count - first + 1));
    std::int64_t next = first;
    loops.rows(first, last, [&](std::int64_t out, const auto& in, std::int64_t n) {
      REQUIRE(out == next);
      REQUIRE(n > 0);
      for (std::int64_t k = 0; k < n; ++k)
        for (std::size_t i = 0; i < 3; ++i)
          REQUIRE(in[i] + k * loops.steps()[i] == source(loops.shape(), shapes[i], out + k));
      next += n;
    });
    CHECK(next == last);
  }
}

TEST_CASE("equal shapes, scalars and biases make long rows") {
  const extents image{2, 3, 4, 5}, scalar, bias{5}, channel{3, 1, 1};
  broadcast_loops<2> loops;
  REQUIRE(bool(loops.make({&image, &image})));
  CHECK(loops.row_length() == 120);
  CHECK(loops.steps() == broadcast_loops<2>::positions{1, 1});
  REQUIRE(bool(loops.make({&image, &scalar})));
  CHECK(loops.row_length() == 120);
  CHECK(loops.steps() == broadcast_loops<2>::positions{1, 0});
  REQUIRE(bool(loops.make({&bias, &image})));
  CHECK(loops.row_length() == 5);
  CHECK(loops.steps() == broadcast_loops<2>::positions{1, 1});
  REQUIRE(bool(loops.make({&image, &channel})));
  CHECK(loops.row_length() == 20);
}

TEST_CASE("operands without a common shape are refused; outputs without elements, or with too many, have no rows") {
  const extents two{2}, three{3}, none{0, 3}, wide{1, std::int64_t{1} << 40}, tall{std::int64_t{1} << 40, 1};
  broadcast_loops<2> loops;
  CHECK(loops.make({&two, &three}).words() == "operand 1 has shape [3], must broadcast with [2]");
  REQUIRE(bool(loops.make({&none, &three})));
  CHECK(loops.shape() == none);
  CHECK(loops.count() == 0);
  REQUIRE(bool(loops.make({&wide, &tall})));
  CHECK(loops.count() == 0);
  loops.rows(0, loops.count(), [](auto...) { FAIL("a row of nothing"); });
}

TEST_CASE("operands of one shape may have one element, or none") {
  const extents one{1, 1}, none{2, 0, 3}, image{2, 3};
  broadcast_loops<3> loops;
  REQUIRE(bool(loops.make({&image, &image, &image})));
  for (const extents* each : {&one, &none}) {  // also after other shapes
    REQUIRE(bool(loops.make({each, each, each})));
    CHECK(loops.shape() == *each);
    CHECK(loops.row_length() == 1);
    std::int64_t visited = 0;
    loops.rows(0, loops.count(), [&](std::int64_t out, const auto& in, std::int64_t n) {
      CHECK(out == 0);
      for (std::int64_t at : in) CHECK(at == 0);
      visited += n;
    });
    CHECK(visited == each->count());
  }
}
