// Operators whose kernels are left out of a build.
#include <cameo/kernel/match.hpp>
#include <cameo/op/onnx.hpp>

#include <doctest/doctest.h>

#include <string>

namespace cameo::test {

TEST_CASE("an operator whose kernel is left out of a build is refused with advice for the user") {
  constexpr detail::lacking_kernel left_out[] = {{detail::op_id_of<op::RegexFullMatch>, "install RE2"}};
  const detail::kernel_table table{{}, {}, {}, left_out};
  const auto words_of = [&](detail::op_id op) {
    char line[240];
    const verdict v = match({op, 20, {}, {}}, table);
    CHECK(!v);
    return std::string{explain(v, line)};
  };
  CHECK(words_of(detail::op_id_of<op::RegexFullMatch>) == " has no kernel for it: install RE2");
  CHECK(words_of(detail::op_id_of<op::Relu>) == " has no kernel for it");
}

}  // namespace cameo::test
