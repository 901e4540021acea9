// Tests plans without weights: they compute the same bits, have small contexts, and reject models with other constants.
#include "frozen_models.hpp"

namespace cameo::test {
namespace {

/// The files of a model that is compiled without its weights.
struct light_files : compiled_files {
  explicit light_files(std::unique_ptr<cameo::model> m, const std::string& weights = {}) {
    compile_options options;
    options.input = std::move(m);
    options.output = model;
    options.external_initializers = weights;
    options.session.config = {{"ep.enable_weightless", "1"}};
    const auto report = must(frozen_runtime{}.compile(std::move(options)));
    REQUIRE(report->compiled_nodes > 0);
  }
};

TEST_CASE("a weightless plan computes the same bits as its source, for every shape") {
  const light_files files{small_network()};
  const auto restored = must(frozen_runtime{}.load(files.model));
  const std::vector<named_input> inputs{{"x", image()}};
  CHECK(bits_of(*restored, inputs) == bits_of(loaded(small_network()), inputs));
  CHECK(restored->placements()[0].provider == "frozen");
  const light_files many{over_shared_weights("Relu")};
  const auto rows = must(frozen_runtime{}.load(many.model));
  for (const std::int64_t n : {1, 7, 40}) {
    const std::vector<float> y = ramp(std::size_t(n) * 64, 0.001f);
    const std::vector<named_input> given{{"x", y, extents{n, 64}}};
    CHECK(bits_of(*rows, given) == bits_of(loaded(over_shared_weights("Relu")), given));
  }
}

TEST_CASE("constants that a body captures stay in the enclosing graph") {
  const light_files files{product_in_a_loop()};
  const auto restored = must(frozen_runtime{}.load(files.model));
  const std::int64_t trips[] = {3};
  const std::vector<float> x = ramp(8 * 16, 0.001f);
  const std::vector<named_input> inputs{{"trips", trips, extents{}}, {"x", x, extents{8, 16}}};
  CHECK(bits_of(*restored, inputs) == bits_of(loaded(product_in_a_loop()), inputs));
}

TEST_CASE("variants with one file of weights have small contexts, and their files of weights are equal") {
  const std::size_t weights = 2 * 64 * 512 * sizeof(float);
  const light_files first{over_shared_weights("Relu"), "weights.bin"};
  const light_files second{over_shared_weights("Sigmoid"), "weights.bin"};
  CHECK(slurp(first.folder / "weights.bin") == slurp(second.folder / "weights.bin"));
  CHECK(fs::file_size(first.folder / "weights.bin") >= weights);
  CHECK(fs::file_size(first.context) < 4096);
  CHECK(fs::file_size(first.model) < 4096);
  // Both can use one file.
  fs::remove(second.folder / "weights.bin");
  fs::create_hard_link(first.folder / "weights.bin", second.folder / "weights.bin");
  CHECK(verdict(frozen_runtime{}.load(second.model)) == "OK");
}

/// The status of loading the compiled model after `change` was applied to it.
template <class Change>
std::string load_after(Change change, session_options how = {}) {
  const light_files files{over_shared_weights("Relu")};
  const auto m = read(files.model);
  graph& g = m->main();
  change(*m, g, context_nodes(*m)[0].id());
  save(*m, files.model);
  return verdict(frozen_runtime{}.load(files.model, how));
}

TEST_CASE(
    "a constant of another type or shape, a missing one, and an input that is not a constant are errors with its "
    "name") {
  const auto refuses = [](const std::string& found, std::string_view words) {
    CAPTURE(found);
    CHECK(found.find("INVALID_GRAPH") == 0);
    CHECK(says(found, words));
  };
  const auto constant = [](model& m, dtype type, extents shape) {
    static const std::vector<double> zeros(1 << 16);
    return m.memory.keep(value::tensor(type, shape, zeros.data()));
  };
  CHECK(load_after([](model&, graph&, node_id) {}) == "OK");
  refuses(load_after(
              [&](model& m, graph& g, node_id n) { g[g.input(n, 1)].constant = constant(m, dtype::f64, {64, 512}); }),
          "'w' is a constant of another type or shape");
  refuses(load_after(
              [&](model& m, graph& g, node_id n) { g[g.input(n, 1)].constant = constant(m, dtype::f32, {512, 64}); }),
          "'w' is a constant of another type or shape");
  refuses(load_after([](model&, graph& g, node_id n) { g.set_inputs(n, std::vector{g.input(n, 0), g.input(n, 1)}); }),
          "input 2 is missing");
  refuses(load_after([](model&, graph& g, node_id n) {
            g.set_inputs(n, std::vector{g.input(n, 0), g.input(n, 1), g.input(n, 2), g.input(n, 2)});
          }),
          "another number of inputs");
  refuses(load_after([](model& m, graph& g, node_id n) {
            const value_id v =
                g.add_value("given", m.keep(value_type::tensor(dtype::f32, {dim::fixed(64), dim::fixed(512)})));
            g.add_input(v);
            g.set_input(n, 1, v);
          }),
          "'given' is not a constant");
  refuses(load_after([](model&, graph& g, node_id n) { g.set_input(n, 1, value_id::none); }), "is left out");
  // An initializer that callers may replace is not a constant either.
  refuses(load_after([](model& m, graph& g, node_id n) { m.ir_version = 8, g.add_input(g.input(n, 1)); }),
          "is not a constant");
}

TEST_CASE("constants with other numbers run, and are rejected if weights are verified") {
  const auto other = [](model& m, graph& g, node_id n) {
    const value& was = *g[g.input(n, 1)].constant;
    value now = was;
    now.data = m.memory.allocate(was.bytes(), 64);
    std::memcpy(now.data, was.data, was.bytes());
    static_cast<float*>(now.data)[5] += 1;
    g[g.input(n, 1)].constant = m.memory.keep(now);
  };
  CHECK(load_after(other) == "OK");
  const std::string refused = load_after(other, keys({{"ep.frozen.verify", "1"}}));
  CHECK(says(refused, "INVALID_GRAPH"));
  CHECK(says(refused, "'w' has other numbers"));
  CHECK(load_after([](model&, graph&, node_id) {}, keys({{"ep.frozen.verify", "1"}})) == "OK");
}

TEST_CASE("a weightless plan with changed bytes and valid checksums is rejected, or can be loaded") {
  const light_files files{over_shared_weights("Relu")};
  const std::string whole = slurp(files.context);
  REQUIRE(whole.size() < 4096);
  std::size_t refused = 0, all = 0;
  for (std::size_t at = sizeof(eps::frozen_file::header); at < whole.size(); at += 3, ++all) {
    CAPTURE(at);
    std::string changed = whole;
    changed[at] = char(changed[at] ^ (1 << at % 8));
    reseal(bytes_of(changed));
    spill(files.context, changed);
    const auto s = frozen_runtime{}.load(files.model);
    refused += !s;
    if (!s) CHECK(s.error().code() == status_code::invalid_graph);
  }
  CHECK(refused > all / 5);
}

}  // namespace
}  // namespace cameo::test
