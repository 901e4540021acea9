// Tests scratch memory of kernels, whose requested size depends on shapes and may be 0.
#include "session/models.hpp"

#include <cstdint>

namespace cameo::test {
namespace {

struct scratch_provider {
  static constexpr std::string_view name = "scratch", long_name = "Scratch";
  bool claims(const node_view& n) const { return n.op_type() == "Identity"; }
  status execute(const step_view&, run_context& c) const {
    const auto none = c.scratch<float>(0), more = c.scratch<float>(0), one = c.scratch<float>(1),
               two = c.scratch<float>(1);
    REQUIRE((none && more && one && two));
    CHECK(none->empty());
    CHECK(none->data() == more->data());  // no block is allocated, for which a run would lock its memory twice
    CHECK(one->data() != two->data());
    for (const float* each : {none->data(), one->data(), two->data()}) {
      CHECK(each != nullptr);
      CHECK(reinterpret_cast<std::uintptr_t>(each) % 64 == 0);
    }
    return c.forward(0, c.input(0));
  }
};

TEST_CASE("scratch memory without elements needs no block, but its pointer is not null") {
  model_builder b;
  b.output(b.node("Identity", {b.input("x", dtype::f32, {dim::fixed(3)})}));
  const auto s = runtime{scratch_provider{}, eps::cpu{}}.load(b.take());
  REQUIRE_MESSAGE(s, (s ? "" : s.error().words()));
  const std::vector<float> x{1, 2, 3};
  REQUIRE(s->run({{"x", x}}));
}

}  // namespace
}  // namespace cameo::test
