#include <cameo/eps/cpu/cast.hpp>

#include "each_target.hpp"
#include "kernel_rig.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <limits>

using namespace cameo;
using cameo::eps::cast;
using cameo::test::infinity;
using cameo::test::kernel_rig;
using cameo::test::not_a_number;

namespace {

template <class To, class From>
std::vector<To> cast_to(const std::vector<From>& from, status_code expected = status_code::ok, int saturate = 1) {
  kernel_rig rig{24};
  rig.attribute("to", std::int64_t(dtype_of<To>)).attribute("saturate", std::int64_t{saturate});
  rig.input({std::int64_t(from.size())}, from);
  const status ran = rig.run<cast>({dtype_of<To>});
  CHECK(ran.code() == expected);
  if (!ran) return {};
  const auto out = rig.output<To>(0);
  return std::vector<To>(out.begin(), out.end());
}

/// Every number of a narrow type, and one more, so that the length is not a multiple of a vector's.
template <class T>
std::vector<T> all_numbers() {
  std::vector<T> all;
  for (unsigned bits = 0; bits < 1u << (8 * sizeof(T)); ++bits) all.push_back(T::from_bits(decltype(T::bits)(bits)));
  all.push_back(T{1.0f});
  return all;
}
template <class T>
std::vector<std::uint32_t> bits_of_all(const std::vector<T>& numbers) {
  std::vector<std::uint32_t> bits(numbers.size());
  for (std::size_t i = 0; i < bits.size(); ++i) std::memcpy(&bits[i], &numbers[i], sizeof(T));
  return bits;
}
/// Casts of a narrow float, to float and back, against the definition; a NaN only has to become a NaN.
template <class T>
void check_widening() {
  const std::vector<T> narrow = all_numbers<T>();
  const std::vector<float> wide = cast_to<float>(narrow);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    const auto expected = float(narrow[i]);
    wrong += expected == expected ? std::memcmp(&expected, &wide[i], 4) != 0 : wide[i] == wide[i];
  }
  CHECK(wrong == 0);
}
template <class T>
void check_narrowing(std::vector<std::uint32_t>& first) {
  std::vector<float> wide;
  for (std::uint64_t bits = 0; bits <= UINT32_MAX; bits += 1021) {
    float each = 0;
    std::memcpy(&each, &bits, sizeof each);
    wide.push_back(each);
  }
  for (const T each : all_numbers<T>())  // and numbers in the middle of two, which round to even
    for (std::uint32_t step : {0u, 1u}) {
      const auto at = float(each), after = float(T::from_bits(decltype(T::bits)(each.bits + step)));
      wide.push_back((at + after) / 2);
    }
  const std::vector<T> narrow = cast_to<T>(wide);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < wide.size(); ++i)
    wrong += wide[i] == wide[i] ? narrow[i].bits != T{wide[i]}.bits : float(narrow[i]) == float(narrow[i]);
  CHECK(wrong == 0);
  const std::vector<std::uint32_t> bits = bits_of_all(narrow);
  if (first.empty()) first = bits;
  CHECK_MESSAGE(bits == first, "the bits, including those of NaN, are the same on each instruction set");
}

}  // namespace

TEST_CASE("casts between float and narrower floats follow the definition, with the same bits on each instruction set") {
  std::vector<std::uint32_t> halves, brains;
  cameo::test::for_each_target([&] {
    check_widening<float16>();
    check_widening<bfloat16>();
    check_widening<float8e4m3fn>();
    check_widening<float8e4m3fnuz>();
    check_widening<float8e5m2>();
    check_widening<float8e5m2fnuz>();
    check_narrowing<float16>(halves);
    check_narrowing<bfloat16>(brains);
  });
}

TEST_CASE("numbers out of range are defined: int32 and larger types saturate, smaller ones keep the low bits") {
  const std::vector<float> wild{not_a_number, infinity, -infinity, 3e9f, -3e9f, 1e30f, -1.9f, 300.7f};
  using i32 = std::numeric_limits<std::int32_t>;
  using i64 = std::numeric_limits<std::int64_t>;
  CHECK(cast_to<std::int32_t>(wild) ==
        std::vector<std::int32_t>{0, i32::max(), i32::min(), i32::max(), i32::min(), i32::max(), -1, 300});
  CHECK(cast_to<std::int64_t>(wild) ==
        std::vector<std::int64_t>{0, i64::max(), i64::min(), 3000000000, -3000000000, i64::max(), -1, 300});
  CHECK(cast_to<std::uint8_t>(std::vector<float>{-1, 300.7f, 255}) == std::vector<std::uint8_t>{255, 44, 255});
  CHECK(cast_to<std::uint64_t>(std::vector<double>{1e19, 1e30, 7}) ==
        std::vector<std::uint64_t>{10000000000000000000u, std::numeric_limits<std::uint64_t>::max(), 7});
  CHECK(cast_to<std::int8_t>(std::vector<std::int16_t>{200, -129}) == std::vector<std::int8_t>{-56, 127});
}

TEST_CASE("a double becomes a float16 in one rounding") {
  // Just above the middle of two float16: rounding to float first would give the middle, which rounds down to even.
  const double above = 1 + 0x1p-11 + 0x1p-40;
  CHECK(float(cast_to<float16>(std::vector<double>{above, -above})[0]) == 1 + 0x1p-10f);
  CHECK(float(cast_to<bfloat16>(std::vector<double>{1 + 0x1p-8 + 0x1p-40})[0]) == 1 + 0x1p-7f);
  CHECK(cast_to<float16>(std::vector<double>{1e300})[0] == float16{infinity});
}

TEST_CASE("float8 saturates to its largest number, infinities too, or becomes the infinity or NaN of the format") {
  const std::vector<float> x{infinity, 1e6f, not_a_number};
  CHECK(float(cast_to<float8e4m3fn>(x)[0]) == 448);
  CHECK(float(cast_to<float8e5m2>(x)[0]) == 57344);
  CHECK(float(cast_to<float8e5m2>(x)[1]) == 57344);
  CHECK(float(cast_to<float8e5m2>(x, status_code::ok, 0)[1]) == infinity);
  const float beyond = float(cast_to<float8e4m3fn>(x, status_code::ok, 0)[1]);
  CHECK(beyond != beyond);
}

TEST_CASE("a bool is a byte that is not 0, and anything that is not 0 is true") {
  CHECK(cast_to<bool>(std::vector<float>{0, -0.0f, 0.1f, not_a_number}) == std::vector<bool>{false, false, true, true});
  const std::vector<std::uint8_t> bytes{0, 1, 7};
  kernel_rig rig{13};
  rig.attribute("to", std::int64_t(dtype::i32)).input({3}, bytes);  // as in a nonconforming bool tensor
  REQUIRE(rig.run<cast>({dtype::i32}));
}

TEST_CASE("a string is a number or INVALID_ARGUMENT") {
  using texts = std::vector<std::string_view>;
  CHECK(cast_to<float>(texts{"3.14", " 1e-5 ", "+7", "-INF", "inf", "1e99"}) ==
        std::vector<float>{3.14f, 1e-5f, 7, -infinity, infinity, infinity});
  const float parsed = cast_to<float>(texts{"NaN"})[0];
  CHECK(parsed != parsed);
  CHECK(cast_to<double>(texts{"1e999", "-1e999", "1e-999"}) ==
        std::vector<double>{double(infinity), -double(infinity), 0});
  CHECK(cast_to<std::int64_t>(texts{"-9223372036854775808", "100.5", "1E3"}) ==
        std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min(), 100, 1000});
  CHECK(cast_to<std::uint64_t>(texts{"18446744073709551615", "1e30"}) ==
        std::vector<std::uint64_t>{~std::uint64_t{}, ~std::uint64_t{}});
  for (const std::string_view bad : {"", " ", "Hello World!", "1 2", "+-3", "0x10", "1e"})
    cast_to<float>(texts{bad}, status_code::invalid_argument);
  cast_to<std::int32_t>(texts{"seven"}, status_code::invalid_argument);
}

TEST_CASE("floating-point numbers become strings as numpy writes them: the fewest digits, a point or an exponent") {
  using texts = std::vector<std::string_view>;
  const auto text_of = [](auto from) {
    std::vector<std::string> made;
    kernel_rig rig{24};
    rig.attribute("to", std::int64_t(dtype::string)).input({std::int64_t(from.size())}, from);
    REQUIRE(rig.run<cast>({dtype::string}));
    for (std::string_view each : rig.output<std::string_view>(0)) made.emplace_back(each);
    return made;
  };
  const auto same = [](const std::vector<std::string>& got, const texts& want) {
    CHECK(std::vector<std::string>(want.begin(), want.end()) == got);
  };
  const float edge = 1e-4f;  // as a float, less than 0.0001
  same(text_of(std::vector<float>{1, -0.0f, 0.1f, 3.14159274f, 65504, 999999, 1e6f, 123456789.0f, 1e16f, edge, 1e-5f}),
       {"1.0", "-0.0", "0.1", "3.1415927", "65504.0", "999999.0", "1e+06", "1.2345679e+08", "1e+16", "1e-04", "1e-05"});
  same(text_of(std::vector<float>{not_a_number, infinity, -infinity, 3.4028235e38f, 1e-45f}),
       {"nan", "inf", "-inf", "3.4028235e+38", "1e-45"});
  same(text_of(std::vector<double>{1, 0.1, 1e15, 1e16, 9999999999999998.0, 0.0001, 1e-5, 5e-324, 1.0 / 3}),
       {"1.0", "0.1", "1000000000000000.0", "1e+16", "9999999999999998.0", "0.0001", "1e-05", "5e-324",
        "0.3333333333333333"});
  same(text_of(std::vector<float16>{float16{1.0f}, float16{0.1f}, float16{3.14f}, float16{999.0f}, float16{65504.0f},
                                    float16{1e-5f}}),
       {"1.0", "0.1", "3.14", "999.0", "6.55e+04", "1e-05"});
  same(text_of(std::vector<bfloat16>{bfloat16{1.0f}, bfloat16{0.1f}, bfloat16{3.14f}, bfloat16{1e16f}}),
       {"1.0", "0.1", "3.14", "1e+16"});
}

TEST_CASE("floats are truncated to integers independently, even if a block of them has some beyond int32") {
  const auto same = [](const std::vector<float>& x, auto integer) {
    using to = decltype(integer);
    const std::vector<to> y = cast_to<to>(x);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < x.size(); ++i) wrong += y[i] != cast_to<to>(std::vector<float>{x[i]})[0];
    CHECK(wrong == 0);
    CHECK(cast_to<to>(std::vector<double>(x.begin(), x.end())) == y);
  };
  std::vector<float> within, beyond;
  for (int i = 0; i < 700; ++i) within.push_back(float(i * 37 % 1999 - 1000) * 0.37f);
  beyond = within;
  for (std::size_t at = 3; const float far : {0x1p31f, -0x1p31f, -0x1p32f, 3e9f, 0x1p62f, not_a_number})
    beyond[at += 31] = far;
  for (const auto& x : {within, beyond}) {
    same(x, std::int8_t{}), same(x, std::uint8_t{}), same(x, std::int16_t{}), same(x, std::uint16_t{});
    same(x, std::int32_t{}), same(x, std::uint32_t{}), same(x, std::int64_t{}), same(x, std::uint64_t{});
  }
  CHECK(cast_to<std::int64_t>(within)[1] == std::int64_t(within[1]));
  CHECK(cast_to<std::int64_t>(std::vector<float>{3e9f, -3e9f, not_a_number}) ==
        std::vector<std::int64_t>{3000000000, -3000000000, 0});
}

TEST_CASE("a result that is written around the caches equals that of the same elements in a small tensor") {
  // 64 MB and more, and not a multiple of a block.
  const std::size_t count = (std::size_t{64} << 20) / 8 + 777;
  std::vector<std::int8_t> x(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = std::int8_t(i * 7 + i / 251);
  const std::vector<double> y = cast_to<double>(x);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) wrong += y[i] != double(x[i]);
  CHECK(wrong == 0);
}

TEST_CASE("a cast to an invalid type or to complex numbers is refused when it is bound") {
  const std::vector<float> x{1};
  for (const std::int64_t to : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{99}, std::int64_t(dtype::c64)}) {
    kernel_rig rig{13};
    CHECK(rig.attribute("to", to).input({1}, x).run<cast>({dtype::f32}).code() == status_code::not_implemented);
  }
  kernel_rig old{1};
  REQUIRE(old.attribute("to", std::string_view{"INT64"}).input({1}, x).run<cast>({dtype::i64}));
  CHECK(old.output<std::int64_t>(0)[0] == 1);
}
