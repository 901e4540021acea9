#include <cameo/cameo.hpp>
#include <cameo/core/elements.hpp>
#include <cameo/eps/cpu.hpp>

#include "../../../tests/session/models.hpp"
#include "each_target.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <string>

// Hashes of the outputs of elementwise kernels, reductions and normalizations for numbers of all kinds, which are
// recorded in tests/data/kernel_hashes.txt: all instruction sets with fused multiply-add give the same bits, so the
// list holds for any machine. With CAMEO_WRITE_HASHES=FILE the test writes the list of this processor.

using namespace cameo;
using namespace cameo::test;

namespace {

constexpr std::int64_t rows = 17, columns = 59, count = rows * columns;  // not a multiple of any vector's lanes

/// The contents of input `which`: numbers of both signs and zeros; for floats also infinities and NaN.
template <class T>
any_value numbers(std::size_t which) {
  const std::unique_ptr<T[]> made{new T[count]};
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t mixed = i * (which ? 104729 : 7919) % 2003, low = std::is_signed_v<T> ? 125 : 0;
    if constexpr (std::is_same_v<T, bool>) made[std::size_t(i)] = mixed % 3 != 0;
    else if constexpr (std::is_integral_v<T>) made[std::size_t(i)] = T(which ? mixed % 7 + 1 : mixed % 251 - low);
    else made[std::size_t(i)] = T(float(mixed - 1001) * 0.013f);
  }
  if constexpr (!std::is_integral_v<T>) {
    const float special[] = {0.0f, -0.0f, 1.0f, -1.0f, HUGE_VALF, -HUGE_VALF, std::nanf(""), 1e-7f};
    for (std::size_t i = 0; i < std::size(special); ++i) made[i] = T(special[which ? std::size(special) - 1 - i : i]);
  }
  return any_value::tensor<T>({rows, columns}, std::span<const T>{made.get(), std::size_t(count)});
}
constexpr std::int64_t last_axis = -1;
using hashed = detail::element_set<bool, float, double, float16, bfloat16, std::int8_t, std::int16_t, std::int32_t,
                                   std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;

/// FNV-1a of the elements; all NaN have the same hash.
std::uint64_t hash_of(const value& v) {
  std::uint64_t hash = 14695981039346656037u;
  const bool known = hashed::call(v.type, [&]<class T>(std::type_identity<T>) {
    for (std::int64_t i = 0; i < v.shape.count(); ++i) {
      T element = detail::element_at<T>(v, std::size_t(i));
      if constexpr (!std::is_integral_v<T>)
        if (std::isnan(double(float(element)))) element = T(-12345.0f);
      unsigned char bytes[sizeof(T)];
      std::memcpy(bytes, &element, sizeof(T));
      for (const unsigned char byte : bytes) hash = (hash ^ byte) * 1099511628211u;
    }
  });
  REQUIRE(known);
  return hash;
}

bool may_be_left_out(const attribute_rule& rule) { return !rule.required; }

/// Adds the lines of one operator: "Add float 0123456789abcdef".
void add_lines(const op_row& op, const detail::kernel_table& kernels, std::map<std::string, std::uint64_t>& to) {
  const op_version& version = op.versions.back();
  if (!std::all_of(version.attributes.begin(), version.attributes.end(), may_be_left_out)) return;
  const bool reduces = detail::has_role(op.roles, role::reduces);  // along the axis that its second input names
  const std::size_t inputs =
      std::max<std::size_t>(version.min_inputs, reduces || detail::has_role(op.roles, role::broadcasts) ? 2 : 1);
  if (inputs > 2) return;  // Where, whose first input has another type
  for (const detail::kernel_row& row : kernels.rows) {
    if (row.op != op.id || version.since < row.first || row.last < version.since || row.rule_count == 0) continue;
    for (const detail::dtype_row& type : detail::elements::rows) {
      const any_value x =
          hashed::visit(type.id, any_value{}, []<class T>(std::type_identity<T>) { return numbers<T>(0); });
      const any_value y =
          reduces ? any_value::tensor<std::int64_t>({1}, std::span{&last_axis, 1})
                  : hashed::visit(type.id, any_value{}, []<class T>(std::type_identity<T>) { return numbers<T>(1); });
      const detail::type_mask allowed = detail::allowed_types(version, version.inputs[0].type_string);
      if (!(kernels.rules[row.rules].allowed & allowed & detail::bit_of(type.id)) || !x) continue;
      model_builder m{28};
      m.whole().imports.push_back({"com.microsoft", 1});
      std::vector<value_id> in{m.input("x", type.id, {dim::fixed(rows), dim::fixed(columns)})};
      if (reduces) in.push_back(m.input("y", dtype::i64, {dim::fixed(1)}));
      else if (inputs == 2) in.push_back(m.input("y", type.id, {dim::fixed(rows), dim::fixed(columns)}));
      m.output(m.node(op.name, in, {}, op.domain, op.domain.empty() ? 28 : 1));
      session_options options;
      options.threads = 1;
      const result<session> s = cpu_runtime{}.load(m.take(), options);
      CAPTURE(op.name);
      REQUIRE_MESSAGE(s, s.error().words());
      const named_input given[] = {{"x", x}, {"y", y}};
      const result<named_values> ran = s->run(std::span{given}.first(inputs));
      REQUIRE_MESSAGE(ran, ran.error().words());
      to[std::string{op.name} + " " + std::string{type.name}] = hash_of((*ran)[0].value);
    }
  }
}

std::map<std::string, std::uint64_t> all_hashes() {
  std::map<std::string, std::uint64_t> made;
  const detail::kernel_table& kernels = eps::cpu_kernels::table;
  for (const op_row& op : kernels.ops)
    for (const role each : {role::is_pointwise, role::broadcasts, role::reduces, role::normalizes})
      if (detail::has_role(op.roles, each)) add_lines(op, kernels, made);
  return made;
}

}  // namespace

TEST_CASE(
    "elementwise kernels, reductions and normalizations give the recorded bits on every instruction set with fused "
    "multiplication") {
  const char *const source = std::getenv("CAMEO_SOURCE_DIR"), *const write = std::getenv("CAMEO_WRITE_HASHES");
  REQUIRE(source);
  std::map<std::string, std::uint64_t> recorded;
  std::ifstream file{std::string{source} + "/tests/data/kernel_hashes.txt"};
  for (std::string op, type, hash; file >> op >> type >> hash;)
    recorded[op + " " + type] = std::strtoull(hash.c_str(), nullptr, 16);
  for_each_target([&](const char* name) {
    const std::string_view target = name;
    if (target == "SCALAR" || target == "EMU128" || target.starts_with("SSE") || target == "SSSE3") return;
    const std::map<std::string, std::uint64_t> made = all_hashes();
    if (write) {
      std::ofstream out{write};
      for (const auto& [line, hash] : made) out << line << ' ' << std::hex << hash << std::dec << '\n';
    }
    CHECK(made.size() == recorded.size());
    for (const auto& [line, hash] : made) {
      const std::string which = line;  // clang 14 cannot capture structured bindings
      CHECK_MESSAGE(recorded[which] == hash, which);
    }
  });
}
