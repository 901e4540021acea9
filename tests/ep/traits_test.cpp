#include <cameo/ep/provider.hpp>
#include <cameo/plan/plan.hpp>

#include "partition/reference_providers.hpp"

#include <cstdlib>

/// A vendor's class without name and hooks, which a user can't edit.
namespace acme {
struct device {
  int calls_allowed = 1000;
  bool can_do(std::string_view what) const { return what == "Relu" || what == "Add"; }
};
}  // namespace acme

namespace CAMEO_NAMESPACE {
template <>
struct ep_traits<acme::device> {
  static constexpr std::string_view name = "acme", long_name = "AcmeExecutionProvider";
  static bool claims(const acme::device& d, const node_view& n) { return d.can_do(n.op_type()); }
  static status execute(const acme::device& d, const step_view& step, run_context& c) {
    if (d.calls_allowed == 0) return {status_code::ep_fail, "no calls left"};
    return test::provider_b{}.execute(step, c);
  }
};
}  // namespace CAMEO_NAMESPACE

/// Another vendor's class, whose hooks fuse groups and allocate device memory.
namespace acme {
struct compiler {};
}  // namespace acme

namespace CAMEO_NAMESPACE {
template <>
struct ep_traits<acme::compiler> {
  static constexpr std::string_view name = "acme_compiler", long_name = "AcmeCompiler";
  static result<std::vector<node_group>> groups(const acme::compiler&, const graph_view& g) {
    return test::provider_a{}.groups(g);
  }
  static result<std::vector<compiled_node>> compile(const acme::compiler&, std::span<const fused_view> groups) {
    return test::chains(groups);
  }
  static void* allocate(const acme::compiler&, std::size_t bytes, std::size_t alignment) {
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
  static void release(const acme::compiler&, void* memory, std::size_t) { std::free(memory); }
  static status copy_from_host(const acme::compiler&, void* to, const void* from, std::size_t bytes) {
    return std::memcpy(to, from, bytes), status_code::ok;
  }
  static status copy_to_host(const acme::compiler&, void* to, const void* from, std::size_t bytes) {
    return std::memcpy(to, from, bytes), status_code::ok;
  }
};
}  // namespace CAMEO_NAMESPACE

namespace cameo::test {
namespace {

static_assert(execution_provider<acme::device> && claims_nodes<acme::device> && executes<acme::device>);
static_assert(!compiler<acme::device> && !memory_provider<acme::device> && !fallback_provider<acme::device>);
static_assert(compiler<acme::compiler> && memory_provider<acme::compiler> && !executes<acme::compiler>);
static_assert(fallback_provider<eps::cpu> && !memory_provider<eps::cpu>);

TEST_CASE("a class that can't be edited is a provider by its ep_traits") {
  const auto s = load(runtime{acme::device{}, eps::cpu{}}, chain());
  CHECK(placed(s) == "matmul:cpu relu:acme add:acme");
  CHECK(agrees_with_cpu(s, chain()));
}

TEST_CASE("static hooks receive the object that was passed to the runtime") {
  const auto s = load(runtime{acme::device{0}, eps::cpu{}}, chain());
  const auto ran = run(*s);
  REQUIRE(!ran);
  CHECK(ran.error().code() == status_code::ep_fail);
  CHECK(says(ran.error(), "no calls left"));
}

TEST_CASE("groups, programs and memory may be hooks of ep_traits, too") {
  const auto s = load(runtime{acme::compiler{}, acme::device{}, eps::cpu{}}, chain());
  CHECK(placed(s) == "AcmeCompiler_chain_0:acme_compiler add:acme");
  CHECK(agrees_with_cpu(s, chain()));
  std::size_t copies = 0;
  for (const plan_step& step : s->plan().steps) copies += step.op_type != "Add" && step.name != "AcmeCompiler_chain_0";
  CHECK(copies == 3);  // x and w are copied to the device, and the output back
}

}  // namespace
}  // namespace cameo::test
