#include <cameo/eps/cpu.hpp>
#include <cameo/eps/cpu/binary.hpp>
#include <cameo/eps/cpu/clip.hpp>
#include <cameo/eps/cpu/unary.hpp>
#include <cameo/eps/cpu/variadic.hpp>
#include <cameo/eps/cpu/where.hpp>
#include <cameo/os/heap_arena.hpp>

#include "kernel_rig.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace cameo;
using namespace cameo::eps;
using cameo::test::infinity;
using cameo::test::kernel_rig;
using cameo::test::not_a_number;

namespace {

/// The status of a binary operator in an opset, and the elements of its output.
template <class Op, class T, class R = T>
status apply(int since, const extents& a_shape, const std::vector<T>& a, const extents& b_shape,
             const std::vector<T>& b, std::vector<R>& out,
             std::initializer_list<std::pair<std::string_view, int>> ints = {}) {
  kernel_rig rig{since};
  for (const auto& [name, i] : ints) rig.attribute(name, std::int64_t{i});
  rig.input(a_shape, a).input(b_shape, b);
  status ran = rig.run<binary<Op>>({dtype_of<R>});
  if (ran) out = test::elements_of<R>(rig);
  return ran;
}

constexpr std::int32_t lowest_int32 = std::numeric_limits<std::int32_t>::min(),
                       highest_int32 = std::numeric_limits<std::int32_t>::max();

}  // namespace

TEST_CASE("integers wrap; dividing them by zero is INVALID_ARGUMENT, unless nothing is divided") {
  std::vector<std::int32_t> out;
  REQUIRE(apply<op::Add, std::int32_t>(14, {2}, {highest_int32, lowest_int32}, {2}, {1, -1}, out));
  CHECK(out == std::vector<std::int32_t>{lowest_int32, highest_int32});
  REQUIRE(apply<op::Mul, std::int32_t>(14, {2}, {lowest_int32, 1 << 20}, {2}, {-1, 1 << 20}, out));
  CHECK(out == std::vector<std::int32_t>{lowest_int32, 0});
  REQUIRE(apply<op::Div, std::int32_t>(14, {3}, {lowest_int32, -7, 7}, {3}, {-1, 2, -2}, out));
  CHECK(out == std::vector<std::int32_t>{lowest_int32, -3, -3});
  std::vector<std::uint16_t> small;
  REQUIRE(apply<op::Mul, std::uint16_t>(14, {1}, {0xFFFF}, {1}, {0xFFFF}, small));
  CHECK(small == std::vector<std::uint16_t>{1});
  for (const int fmod : {0, 1}) {
    CHECK(apply<op::Mod, std::int32_t>(13, {1}, {5}, {1}, {0}, out, {{"fmod", fmod}}).code() ==
          status_code::invalid_argument);
    REQUIRE(apply<op::Mod, std::int32_t>(13, {1}, {lowest_int32}, {1}, {-1}, out, {{"fmod", fmod}}));
    CHECK(out == std::vector<std::int32_t>{0});
  }
  CHECK(apply<op::Div, std::int32_t>(14, {2}, {1, 2}, {2}, {1, 0}, out).code() == status_code::invalid_argument);
  REQUIRE(apply<op::Div, std::int32_t>(14, {0}, {}, {1}, {0}, out));
  CHECK(out.empty());
}

TEST_CASE(
    "Mod takes its sign from the divisor, with fmod from the dividend; of floats only with fmod before opset 28") {
  std::vector<std::int32_t> out;
  REQUIRE(apply<op::Mod, std::int32_t>(13, {4}, {-4, 7, 5, -4}, {4}, {2, -3, 8, 3}, out));
  CHECK(out == std::vector<std::int32_t>{0, -2, 5, 2});
  REQUIRE(apply<op::Mod, std::int32_t>(13, {2}, {-7, 7}, {2}, {3, -3}, out, {{"fmod", 1}}));
  CHECK(out == std::vector<std::int32_t>{-1, 1});
  std::vector<float> f;
  CHECK(apply<op::Mod, float>(13, {1}, {5.5f}, {1}, {-2}, f).code() == status_code::invalid_graph);
  REQUIRE(apply<op::Mod, float>(28, {3}, {5.5f, infinity, -1}, {3}, {-2, 2, infinity}, f));
  CHECK(f[0] == -0.5f);
  CHECK(std::isnan(f[1]));
  CHECK(f[2] == infinity);
}

TEST_CASE("shifts by at least the width, or by a negative number, leave the sign extension only") {
  const std::vector<std::int8_t> x{-5, -5, 5, 64}, by{8, -1, 9, 1};
  kernel_rig left{28}, right{28}, neither{28};
  left.attribute("direction", std::string_view{"LEFT"}).input({4}, x).input({4}, by);
  REQUIRE(left.run<binary<op::BitShift>>({dtype::i8}));
  CHECK(test::elements_of<std::int8_t>(left) == std::vector<std::int8_t>{0, 0, 0, -128});
  right.attribute("direction", std::string_view{"RIGHT"}).input({4}, x).input({4}, by);
  REQUIRE(right.run<binary<op::BitShift>>({dtype::i8}));
  CHECK(test::elements_of<std::int8_t>(right) == std::vector<std::int8_t>{-1, -1, 0, 32});
  neither.checked_as<op::BitShift>().attribute("direction", std::string_view{"UP"}).input({4}, x).input({4}, by);
  CHECK(neither.run<binary<op::BitShift>>({dtype::i8}).code() == status_code::invalid_graph);
}

TEST_CASE("before opset 7 the second operand broadcasts if the attributes request it, and never the first") {
  std::vector<float> out;
  const std::vector<float> a{1, 2, 3, 4, 5, 6}, row{10, 20, 30}, column{10, 20};
  CHECK_FALSE(apply<op::Add, float>(6, {2, 3}, a, {3}, row, out));
  REQUIRE(apply<op::Add, float>(6, {2, 3}, a, {3}, row, out, {{"broadcast", 1}}));
  CHECK(out == std::vector<float>{11, 22, 33, 14, 25, 36});
  CHECK_FALSE(apply<op::Add, float>(6, {2, 3}, a, {2}, column, out, {{"broadcast", 1}}));
  REQUIRE(apply<op::Add, float>(6, {2, 3}, a, {2}, column, out, {{"broadcast", 1}, {"axis", 0}}));
  CHECK(out == std::vector<float>{11, 12, 13, 24, 25, 26});
  CHECK_FALSE(apply<op::Add, float>(6, {2, 3}, a, {2}, column, out, {{"broadcast", 1}, {"axis", 7}}));
  CHECK_FALSE(apply<op::Add, float>(6, {3}, row, {2, 3}, a, out, {{"broadcast", 1}}));
  REQUIRE(apply<op::Add, float>(7, {3}, row, {2, 3}, a, out));
  CHECK(out == std::vector<float>{11, 22, 33, 14, 25, 36});
}

TEST_CASE("shapes that do not broadcast, or broadcast to terabytes, are refused") {
  std::vector<float> out;
  CHECK(apply<op::Add, float>(14, {2}, {1, 2}, {3}, {1, 2, 3}, out).code() == status_code::invalid_argument);
  CHECK(apply<op::PRelu, float>(16, {2}, {1, 2}, {2, 2}, {1, 2, 3, 4}, out).code() == status_code::invalid_argument);
  const std::vector<std::uint8_t> bytes(1 << 20);
  std::vector<std::uint8_t> none;
  CHECK(apply<op::Add, std::uint8_t>(14, {1 << 20, 1}, bytes, {1, 1 << 20}, bytes, none).code() ==
        status_code::out_of_memory);
}

TEST_CASE("powers of integers are exact and wrap, and saturate at the ends of their type") {
  std::vector<std::int64_t> out;
  REQUIRE(apply<op::Pow, std::int64_t>(15, {4}, {3, -1, 2, 10}, {4}, {39, -3, 64, -1}, out));
  CHECK(out == std::vector<std::int64_t>{4052555153018976267, -1, 0, 0});
  kernel_rig mixed{15};
  const std::vector<std::int32_t> base{0, 9, -8};
  const std::vector<float> exponent{-1, 0.5f, 0.5f};
  mixed.input({3}, base).input({3}, exponent);
  REQUIRE(mixed.run<binary<op::Pow>>({dtype::i32}));
  CHECK(test::elements_of<std::int32_t>(mixed) == std::vector<std::int32_t>{highest_int32, 3, 0});
}

TEST_CASE("NaN is unequal to itself, is propagated by Relu, Clip, Max and Min, and has no sign") {
  std::vector<bool> none;
  kernel_rig equal{13};
  const std::vector<float> x{not_a_number, -1, 0, 3};
  REQUIRE(equal.input({4}, x).input({4}, x).run<binary<op::Equal>>({dtype::boolean}));
  CHECK(test::elements_of<bool>(equal) == std::vector<bool>{false, true, true, true});
  kernel_rig sign{13}, clipped{13}, max{13};
  REQUIRE(sign.input({4}, x).run<unary<op::Sign>>({dtype::f32}));
  CHECK(std::isnan(sign.output<float>(0)[0]));
  const std::vector<float> low{0}, high{2}, ones{1, 1, not_a_number, 1};
  REQUIRE(clipped.input({4}, x).input({}, low).input({}, high).run<clip>({dtype::f32}));
  CHECK(std::isnan(clipped.output<float>(0)[0]));
  CHECK(clipped.output<float>(0)[3] == 2);
  REQUIRE(max.input({4}, x).input({4}, ones).run<variadic<op::Max>>({dtype::f32}));
  CHECK(std::isnan(max.output<float>(0)[0]));
  CHECK(std::isnan(max.output<float>(0)[2]));
  CHECK(max.output<float>(0)[3] == 3);
}

TEST_CASE("infinities become the largest number if Clip has no bound; ThresholdedRelu and Shrink return 0 for NaN") {
  constexpr float most = std::numeric_limits<float>::max();
  const std::vector<float> x{not_a_number, infinity, -infinity, 2}, low{1};
  kernel_rig open{13}, below{13}, old{6}, half{13}, threshold{10}, shrink{9};
  REQUIRE(open.input({4}, x).run<clip>({dtype::f32}));
  CHECK(std::isnan(open.output<float>(0)[0]));
  CHECK(open.output<float>(0)[1] == most);
  CHECK(open.output<float>(0)[2] == -most);
  REQUIRE(below.input({4}, x).input({}, low).run<clip>({dtype::f32}));
  CHECK(below.output<float>(0)[1] == most);
  CHECK(below.output<float>(0)[2] == 1);
  REQUIRE(old.attribute("max", 1.0f).input({4}, x).run<clip>({dtype::f32}));
  CHECK(old.output<float>(0)[2] == -most);
  const std::vector<float16> narrow{float16{infinity}, float16{-infinity}};
  REQUIRE(half.input({2}, narrow).run<clip>({dtype::f16}));
  CHECK(float(half.output<float16>(0)[0]) == 65504);
  CHECK(float(half.output<float16>(0)[1]) == -65504);
  REQUIRE(threshold.input({4}, x).run<unary<op::ThresholdedRelu>>({dtype::f32}));
  CHECK(test::elements_of<float>(threshold) == std::vector<float>{0, infinity, 0, 2});
  REQUIRE(shrink.attribute("bias", 0.5f).input({4}, x).run<unary<op::Shrink>>({dtype::f32}));
  CHECK(test::elements_of<float>(shrink) == std::vector<float>{0, infinity, -infinity, 1.5f});
}

TEST_CASE("bounds of Clip must be scalars, and max has precedence over a larger min") {
  const std::vector<std::int8_t> x{-9, 0, 9}, low{5}, high{-5};
  kernel_rig crossed{12}, wide{12};
  REQUIRE(crossed.input({3}, x).input({}, low).input({}, high).run<clip>({dtype::i8}));
  CHECK(test::elements_of<std::int8_t>(crossed) == std::vector<std::int8_t>{-5, -5, -5});
  wide.checked_as<op::Clip>();
  CHECK(wide.input({3}, x).input({3}, x).run<clip>({dtype::i8}).code() == status_code::invalid_argument);
}

TEST_CASE("Neg, Abs and Shrink are defined at the ends of integer types") {
  const std::vector<std::int8_t> x{-128, 127};
  kernel_rig neg{13}, abs{13}, shrunk{9};
  REQUIRE(neg.input({2}, x).run<unary<op::Neg>>({dtype::i8}));
  CHECK(test::elements_of<std::int8_t>(neg) == std::vector<std::int8_t>{-128, -127});
  REQUIRE(abs.input({2}, x).run<unary<op::Abs>>({dtype::i8}));
  CHECK(test::elements_of<std::int8_t>(abs) == std::vector<std::int8_t>{-128, 127});
  shrunk.attribute("bias", -1000.0f).input({2}, x);
  REQUIRE(shrunk.run<unary<op::Shrink>>({dtype::i8}));
  CHECK(test::elements_of<std::int8_t>(shrunk) == std::vector<std::int8_t>{-128, 127});
}

TEST_CASE("any number of operands broadcast together, those of 16 bits too") {
  std::mt19937 random{11};
  for (int round = 0; round < 50; ++round) {
    const auto rows = std::int64_t(random() % 3 + 1), columns = std::int64_t(random() % 700 + 1);
    const auto whole = test::random_numbers<float16>(random, rows * columns);
    const auto row = test::random_numbers<float16>(random, columns),
               column = test::random_numbers<float16>(random, rows);
    kernel_rig rig{13, 3};
    rig.input({columns}, row).input({rows, 1}, column).input({rows, columns}, whole);
    REQUIRE(rig.run<variadic<op::Max>>({dtype::f16}));
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < columns; ++c) {
        const float want = std::max(
            {float(row[std::size_t(c)]), float(column[std::size_t(r)]), float(whole[std::size_t(r * columns + c)])});
        REQUIRE(float(rig.output<float16>(0)[r * columns + c]) == want);
      }
  }
}

TEST_CASE("Where reads any byte but 0 as true and moves elements of every size") {
  std::vector<std::uint8_t> bytes{0, 1, 2};
  const std::vector<complex128> x{{1, 2}}, y{{3, 4}, {5, 6}, {7, 8}};
  kernel_rig rig{16};
  rig.input({3}, bytes).input({1}, x).input({3}, y);
  REQUIRE(rig.run<eps::where>({dtype::c128}));
  CHECK(rig.output<complex128>(0)[0] == y[0]);
  CHECK(rig.output<complex128>(0)[1] == x[0]);
  CHECK(rig.output<complex128>(0)[2] == x[0]);
}

TEST_CASE("every elementwise row of the list has code for each type that it accepts") {
  const std::string_view others[] = {"Pow", "Cast", "CastLike"};
  std::size_t bound = 0;
  for (const detail::kernel_row& row : cpu_kernels::table.rows) {
    const op_row* named = nullptr;
    for (const op_row& op : cpu_kernels::table.ops)
      if (op.id == row.op) named = &op;
    REQUIRE(named);
    if (row.rule_count != 1 || std::find(std::begin(others), std::end(others), named->name) != std::end(others))
      continue;
    const detail::kernel_rule& rule = cpu_kernels::table.rules[row.rules];
    const std::string_view elementwise[] = {
        "Add",    "Sub",    "Mul",       "Div",       "And",         "Or",
        "Xor",    "Equal",  "Less",      "Greater",   "LessOrEqual", "GreaterOrEqual",
        "PRelu",  "Sum",    "Min",       "Max",       "Mean",        "Clip",
        "Abs",    "Neg",    "Sign",      "Exp",       "Relu",        "Erf",
        "IsNaN",  "IsInf",  "ReduceSum", "ReduceMax", "ReduceL2",    "ArgMax",
        "CumSum", "Softmax"};
    if (std::find(std::begin(elementwise), std::end(elementwise), named->name) == std::end(elementwise)) continue;
    for (std::size_t t = 1; t < std::size_t(dtype::count); ++t) {
      if (!(rule.allowed >> t & 1)) continue;
      detail::heap_arena memory, hint_memory;
      detail::arena_vector<detail::output_hint> hints{hint_memory};
      const operand tensor{type_kind::tensor, dtype(t), true, false, false, {}, nullptr};
      const operand operands[] = {tensor, tensor};
      bind_context once{named->name, "node", row.last, {}, operands, {operands, 1}, 0, memory, true, hints};
      INFO("operator ", named->name, ", t ", t);
      CHECK(row.bind(once, false));
      ++bound;
    }
  }
  CHECK(bound > 250);
}
