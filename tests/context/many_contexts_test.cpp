// Tests the cost of restoring many contexts, which must be linear in their number: a file decides how many there are.
#include "context/compiled.hpp"

#include "full_speed.hpp"
#include "processor_time.hpp"

namespace cameo::test {
namespace {

/// A provider whose contexts contain the name of their only graph, which returns its input.
struct counting_provider {
  static constexpr std::string_view name = "counts", long_name = "Counts";
  static constexpr context_source sources[] = {{"Counts"}};
  using context_builder = std::string;
  std::shared_ptr<std::size_t> restored = std::make_shared<std::size_t>(0);

  struct program {
    status run(run_context& c) const {
      const auto x = c.input<float>(0);
      const auto y = c.output<float>(0, x.shape());
      if (!y) return y.error();
      std::copy(x.begin(), x.end(), y->begin());
      return {};
    }
  };
  bool insists = false;

  result<std::vector<node_group>> groups(const graph_view& g) const {
    std::vector<node_group> branches;
    for (node_view n : g.nodes())
      if (n.op_type() == "If" && n.provider() < 0) branches.push_back({{n.id()}, "branch", insists});
    return branches;
  }
  result<std::vector<compiled_node>> compile(std::span<const fused_view>) const { return status_code::fail; }
  result<context_part> store(std::string&, const fused_view&, const compiled_node&) const { return status_code::fail; }
  status write(const std::string&, byte_sink) const { return status_code::fail; }
  static std::string text_of(const context_binary& binary) {
    return {reinterpret_cast<const char*>(binary.bytes().data()), binary.bytes().size()};
  }
  result<compiled_node> restore(const context_binary& binary, const context_node& node) const {
    ++*restored;
    if (text_of(binary) != node.graph_name) return status_code::not_found;
    return compiled(program{});
  }
  result<std::vector<std::string>> graphs(const context_binary& binary) const {
    return std::vector<std::string>{text_of(binary)};
  }
};

/// A chain of `mains` nodes with a context each (embedded, or by a name), followed by as many secondary nodes for the
/// same graphs in reverse order.
std::unique_ptr<model> compiled_row(std::size_t mains, bool is_embedded, bool with_secondary, bool with_types = true) {
  model_builder b;
  b.whole().imports.push_back({"com.microsoft", 1});
  value_id last = b.input("x", dtype::f32, {dim::fixed(1)});
  for (std::size_t i = 0; i < (with_secondary ? 2 : 1) * mains; ++i) {
    const bool is_main = i < mains;
    const std::string graph = "g" + std::to_string(is_main ? i : 2 * mains - 1 - i);
    std::vector<attribute> all{text_attribute("source", "Counts"), text_attribute("partition_name", graph),
                               number_attribute("main_context", is_main), number_attribute("embed_mode", is_embedded)};
    if (is_main) all.push_back(text_attribute("ep_cache_context", graph));
    last = b.node("EPContext", {last}, all, "com.microsoft", 1);
    if (with_types) b.main()[last].type = b.main()[b.main().inputs()[0]].type;
  }
  b.output(last);
  return b.take();
}

session_options plainly() {
  session_options options;
  options.optimize = optimization_level::none;
  options.threads = 1;
  return options;
}

double time_of_loading(std::size_t contexts) {
  double least = 1e9;
  for (int i = 0; i < (full_speed ? 3 : 1); ++i) {
    session_options options = plainly();
    options.read_context = [](std::string_view name) -> result<std::vector<std::byte>> {
      const auto bytes = std::as_bytes(std::span{name});
      return std::vector<std::byte>(bytes.begin(), bytes.end());
    };
    auto m = compiled_row(contexts, false, false);
    const double start = processor_seconds();
    const auto s = runtime{counting_provider{}, eps::cpu{}}.load(std::move(m), options);
    const double end = processor_seconds();
    REQUIRE(verdict(s) == "OK");
    least = std::min(least, end - start);
  }
  return least;
}

}  // namespace

TEST_CASE("of many contexts, only the one that lists a secondary node's graph restores it") {
  for (const std::size_t count : {20, 200}) {
    const counting_provider counts;
    const auto s = runtime{counts, eps::cpu{}}.load(compiled_row(count, true, true), plainly());
    REQUIRE(verdict(s) == "OK");
    CHECK(*counts.restored == 2 * count);
    const auto y = s->run({{"x", std::vector<float>{3}}});
    REQUIRE(y);
    CHECK((*y)[0].value.as_unchecked<float>()[0] == 3);
  }
}

TEST_CASE("a compiled node whose output has no type is INVALID_GRAPH, because it would have no memory") {
  CHECK(verdict(runtime{counting_provider{}, eps::cpu{}}.load(compiled_row(2, true, false, false), plainly())) ==
        "INVALID_GRAPH: node 'EPContext_0' (com.microsoft.EPContext): the model does not declare the type of its "
        "output 'EPContext_0_out'");
}

TEST_CASE("a group is skipped if its subgraphs contain a node that the provider compiled before") {
  const auto branching = [] {
    model_builder b;
    model& m = b.whole();
    m.imports.push_back({"com.microsoft", 1});
    const value_id x = b.input("x", dtype::f32, {dim::fixed(1)}), which = b.input("which", dtype::boolean, {});
    graph& g = b.main();
    std::vector<graph*> branches;
    for (const char* name : {"yes", "no"}) {
      graph& branch = m.add_graph(&g);
      const value_id in = branch.capture_of(x), out = branch.add_value(name, g[x].type);
      const std::vector<attribute> all{text_attribute("source", "Counts"), text_attribute("partition_name", "g"),
                                       text_attribute("ep_cache_context", "g"), number_attribute("main_context", 1),
                                       number_attribute("embed_mode", 1)};
      branch.add_node({name, "com.microsoft", "EPContext", {}, {}, 1, {&in, 1}, {&out, 1}, all});
      branch.add_output(out);
      branches.push_back(&branch);
    }
    attribute first{"then_branch", attribute_kind::g}, second{"else_branch", attribute_kind::g};
    second.i = 1;
    const value_id y = g.add_value("y", g[x].type);
    const std::vector<attribute> both{first, second};
    g.add_node({"if", "", "If", {}, {}, 17, {&which, 1}, {&y, 1}, both, branches});
    b.output(y);
    return b.take();
  };
  counting_provider counts;
  const auto s = runtime{counts, eps::cpu{}}.load(branching(), plainly());
  REQUIRE(verdict(s) == "OK");
  CHECK(*counts.restored == 2);
  REQUIRE(s->placements().size() == 3);
  CHECK(s->placements()[0].provider == "cpu");
  counts.insists = true;
  CHECK(verdict(runtime{counts, eps::cpu{}}.load(branching(), plainly())) ==
        "FAIL: Counts: claims node 'yes' (com.microsoft.EPContext), which Counts has already");
}

TEST_CASE("20,000 contexts with different names load in little more than twice the time of half of them") {
  bool grows_as_the_model = false;
  for (int round = 0; round < 5 && !grows_as_the_model; ++round) {
    const double half = time_of_loading(10'000), whole = time_of_loading(20'000);
    MESSAGE("half: ", half, " s, whole: ", whole, " s");
    grows_as_the_model = whole < 3 * half;  // quadratic time would be four times as long
  }
  CHECK(grows_as_the_model);
}

}  // namespace cameo::test
