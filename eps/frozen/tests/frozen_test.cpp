// Compiled plans: the same bits as uncompiled, from files, embedded, shared and in memory; and errors.
#include "frozen_models.hpp"

#include <algorithm>
#include <thread>

namespace cameo::test {
namespace {

using eps::cpu;

TEST_CASE("a compiled model gives the bits of its source model, from files and embedded") {
  for (const bool embed : {false, true}) {
    const compiled_files files;
    compile(files, small_network(), embed);
    CHECK(fs::exists(files.context) == !embed);
    const auto restored = frozen_runtime{}.load(files.model);
    REQUIRE(verdict(restored) == "OK");
    const std::vector<float> x = image();
    const std::vector<named_input> inputs{{"x", x}};
    const session plain = loaded(small_network());
    CHECK(bits_of(*restored, inputs) == bits_of(plain, inputs));
    CHECK(restored->placements().size() == 1);
    CHECK(restored->placements()[0].provider == "frozen");
  }
}

TEST_CASE("a model that is compiled while it is loaded runs without a file, with the same bits for all shapes") {
  const auto made = frozen_runtime{}.load(four_branches());
  REQUIRE(verdict(made) == "OK");
  const session plain = loaded(four_branches());
  for (const std::int64_t rows : {1, 5, 33, 5, 0}) {
    const std::vector<float> x = ramp(std::size_t(rows) * 64, 0.001f);
    const std::vector<named_input> inputs{{"x", x, extents{rows, 64}}};
    CHECK(bits_of(*made, inputs) == bits_of(plain, inputs));
  }
}

TEST_CASE("inputs of a group whose dims have the same name may have different sizes") {
  const auto parts_of_two_sizes = [] {
    model_builder b;
    const value_id x = b.input("x", dtype::f32, {b.symbol("n")});
    const value_id parts = b.node("SplitToSequence", {x, b.input("sizes", dtype::i64, {dim::fixed(2)})});
    std::vector<value_id> shapes;
    for (const std::int64_t i : {0, 1}) {
      const value_id part = b.node("SequenceAt", {parts, b.constant<std::int64_t>("at" + std::to_string(i), {}, {i})});
      b.main()[part].type = b.whole().keep(value_type::tensor(dtype::f32, std::vector{b.symbol("N")}));
      shapes.push_back(b.node("Shape", {part}));
    }
    b.output(b.node("Cast", {b.node("Concat", shapes, {model_builder::integer("axis", 0)})},
                    {model_builder::integer("to", 1)}));
    return b.take();
  };
  const std::vector<float> x = ramp(6);
  const std::vector<std::int64_t> split{4, 2};
  const std::vector<named_input> inputs{{"x", x}, {"sizes", split}};
  const std::string right = bits_of(loaded(parts_of_two_sizes()), inputs);
  const auto made = frozen_runtime{}.load(parts_of_two_sizes());
  REQUIRE(verdict(made) == "OK");
  const auto placed = made->placements();
  CHECK(std::any_of(placed.begin(), placed.end(), [](const auto& each) { return each.provider == "frozen"; }));
  const auto sizes = made->run(inputs);
  REQUIRE(verdict(sizes) == "OK");
  CHECK(floats_of(sizes->items[0].value.view()) == std::vector<float>{4, 2});
  CHECK(bits_of(*made, inputs) == right);
}

TEST_CASE("nodes of strings and sequences stay with the next provider, between plans") {
  const compiled_files files;
  compile(files, texts_and_sequences());
  const auto restored = frozen_runtime{}.load(files.model);
  REQUIRE(verdict(restored) == "OK");
  const session plain = loaded(texts_and_sequences());
  const std::vector<float> x = ramp(6);
  CHECK(restored->placements().size() == 5);
  const std::vector<std::string_view> t{"a", "b", "of three"};
  const std::vector<named_input> inputs{{"x", x, extents{3, 2}}, {"t", t}};
  CHECK(bits_of(*restored, inputs) == bits_of(plain, inputs));
}

TEST_CASE("weights that are only used packed are in the context once, and packed") {
  const compiled_files files;
  compile(files, over_shared_weights("Relu"));
  const std::size_t weights = 2 * 64 * 512 * sizeof(float);
  CHECK(fs::file_size(files.context) < weights + 3 * 4096);
  CHECK(fs::file_size(files.context) >= weights);
}

TEST_CASE("models that share a context store equal weights once, and can be loaded in any order") {
  const compiled_files files;
  const frozen_runtime with;
  const std::string first = files.folder / "first.onnx", second = files.folder / "second.onnx";
  for (const bool last : {false, true}) {
    compile_options options;
    options.input = over_shared_weights(last ? "Sigmoid" : "Relu");
    options.output = last ? second : first;
    options.session.config = {{"ep.share_ep_contexts", "1"}};
    if (last) options.session.config.emplace_back("ep.stop_share_ep_contexts", "1");
    REQUIRE(verdict(with.compile(std::move(options))) == "OK");
  }
  const std::size_t weights = 2 * 64 * 512 * sizeof(float);
  std::size_t contexts = 0;
  for (const std::string& name : files.folder.files())
    if (name.ends_with(".bin")) {
      ++contexts;
      CHECK(fs::file_size(files.folder / name) < weights * 11 / 10);
    }
  CHECK(contexts == 1);
  const std::vector<float> x = ramp(64 * 7, 0.001f);
  const std::vector<named_input> inputs{{"x", x, extents{7, 64}}};
  std::optional<session> kept;
  for (const bool last : {true, false}) {
    result<session> s = with.load(last ? second : first, keys({{"ep.share_ep_contexts", "1"}}));
    REQUIRE(verdict(s) == "OK");
    CHECK(bits_of(*s, inputs) == bits_of(loaded(over_shared_weights(last ? "Sigmoid" : "Relu")), inputs));
    if (last) kept = std::move(*s);
  }
  CHECK(bits_of(*kept, inputs) == bits_of(loaded(over_shared_weights("Sigmoid")), inputs));
}

/// The number of mappings of the file in this process.
std::size_t mappings_of(const std::string& path) {
  std::ifstream maps{"/proc/self/maps"};
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) count += line.ends_with(fs::canonical(path).string());
  return count;
}
/// Overwrites the contents of a file in place.
void write_over(const std::string& path, char with) {
  std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
  file << std::string(fs::file_size(path), with);
}

TEST_CASE("a context that is copied may be overwritten and truncated in place: running sessions keep their bits") {
  const session plain = loaded(small_network());
  const std::vector<float> x = image();
  const std::vector<named_input> inputs{{"x", x}};
  session_options copying;
  copying.config = {{"ep.frozen.copy", "1"}};
  for (const bool embed : {false, true}) {
    const compiled_files files;
    compile(files, small_network(), embed);
    const std::string file = embed ? files.model : files.context;
    if (!embed) {
      const auto mapped = frozen_runtime{}.load(files.model);
      REQUIRE(verdict(mapped) == "OK");
      CHECK(mappings_of(file) > 0);  // the count works on this system
    }
    CHECK((embed || mappings_of(file) == 0));
    const auto copied = frozen_runtime{}.load(files.model, copying);
    REQUIRE(verdict(copied) == "OK");
    CHECK((embed || mappings_of(file) == 0));
    write_over(file, 'x');
    CHECK(bits_of(*copied, inputs) == bits_of(plain, inputs));
    fs::resize_file(file, 0);
    CHECK(bits_of(*copied, inputs) == bits_of(plain, inputs));
    const auto verdict_of_rest = verdict(frozen_runtime{}.load(files.model, copying));
    CHECK(verdict_of_rest != "OK");
  }
}

TEST_CASE("a session with the option `copy` also copies a context that another session has mapped") {
  const compiled_files files;
  const frozen_runtime with;
  const std::string paths[] = {files.folder / "first.onnx", files.folder / "second.onnx"};
  for (const bool last : {false, true}) {
    compile_options options;
    options.input = over_shared_weights(last ? "Sigmoid" : "Relu");
    options.output = paths[last];
    options.session.config = {{"ep.share_ep_contexts", "1"}};
    if (last) options.session.config.emplace_back("ep.stop_share_ep_contexts", "1");
    REQUIRE(verdict(with.compile(std::move(options))) == "OK");
  }
  session_options sharing;
  sharing.config = {{"ep.share_ep_contexts", "1"}};
  const auto mapped = with.load(paths[0], sharing);
  REQUIRE(verdict(mapped) == "OK");
  sharing.config.emplace_back("ep.frozen.copy", "1");
  const auto copied = with.load(paths[1], sharing);
  REQUIRE(verdict(copied) == "OK");
  for (const std::string& name : files.folder.files())
    if (name.ends_with(".bin")) write_over(files.folder / name, 'x');
  const session plain = loaded(over_shared_weights("Sigmoid"));
  const std::vector<float> x = ramp(5 * 64, 0.001f);
  const std::vector<named_input> inputs{{"x", x, extents{5, 64}}};
  CHECK(bits_of(*copied, inputs) == bits_of(plain, inputs));
}

TEST_CASE("two threads can load one context and run its sessions concurrently") {
  const compiled_files files;
  compile(files, four_branches());
  const std::vector<float> x = ramp(64 * 9, 0.001f);
  const std::vector<named_input> inputs{{"x", x, extents{9, 64}}};
  const std::string expected = bits_of(loaded(four_branches()), inputs);
  const frozen_runtime with;
  std::vector<std::string> made(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < made.size(); ++t)
    threads.emplace_back([&, t] {
      session_options options = keys({{"ep.share_ep_contexts", t % 2 ? "1" : "0"}});
      options.threads = 1 + t % 2;
      options.execution = t % 2 ? execution_mode::parallel : execution_mode::sequential;
      const auto s = with.load(files.model, options);
      if (!s) return made[t] = verdict(s), void();
      for (int i = 0; i < 5; ++i) made[t] = bits_of(*s, inputs);
    });
  for (std::thread& t : threads) t.join();
  for (const std::string& each : made) CHECK(each == expected);
}

TEST_CASE("several threads can run a compiled plan of one session concurrently") {
  const auto s = frozen_runtime{}.load(four_branches());
  REQUIRE(verdict(s) == "OK");
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (std::int64_t rows : {3, 4, 5})
    threads.emplace_back([&, rows] {
      const std::vector<float> x = ramp(std::size_t(rows) * 64, 0.001f);
      const std::vector<named_input> inputs{{"x", x, extents{rows, 64}}};
      const std::string first = bits_of(*s, inputs);
      for (int i = 0; i < 5; ++i) wrong += bits_of(*s, inputs) != first;
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
}

/// A provider of products only, so that all other nodes separate its groups.
struct products_only {
  static constexpr std::string_view name = "products", long_name = "ProductsExecutionProvider";
  struct product {
    static bool accepts(const bind_context& c) { return c.inputs[0].has_rank && c.inputs[0].shape.rank() == 2; }
    static result<product> bind(bind_context&) { return product{}; }
    status run(run_context& c) const {
      const auto a = c.input<float>(0), b = c.input<float>(1);
      if (a.rank() != 2 || b.rank() != 2 || a.dim(1) != b.dim(0)) return {status_code::invalid_argument, "shapes"};
      const auto y = c.output<float>(0, {a.dim(0), b.dim(1)});
      if (!y) return y.error();
      for (std::int64_t i = 0; i < a.dim(0); ++i)
        for (std::int64_t j = 0; j < b.dim(1); ++j) {
          float sum = 0;
          for (std::int64_t k = 0; k < a.dim(1); ++k) sum += a(i, k) * b(k, j);
          (*y)(i, j) = sum;
        }
      return {};
    }
  };
  using kernels = kernel_list<erased_entry<op::MatMul, since<1>, constrain<"T", float>, product>>;
};

TEST_CASE("groups are convex sets of nodes for which the base provider has kernels, for any base provider") {
  using few = runtime<eps::frozen<products_only>, cpu>;
  const compiled_files files;
  compile_options options;
  options.input = four_branches();
  options.output = files.model;
  const auto report = few{}.compile(std::move(options));
  REQUIRE(verdict(report) == "OK");
  CHECK(report->compiled_nodes == 8);  // two products on each of four branches, with a node of cpu between them
  const auto s = few{}.load(files.model);
  REQUIRE(verdict(s) == "OK");
  const std::vector<float> x = ramp(64 * 2, 0.001f);
  const auto y = s->run({{"x", x, extents{2, 64}}}), expected = loaded(four_branches()).run({{"x", x, extents{2, 64}}});
  REQUIRE(verdict(y) == "OK");
  REQUIRE(verdict(expected) == "OK");
  const std::vector<float> a = floats_of((*y)[0].value), b = floats_of((*expected)[0].value);
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == doctest::Approx(b[i]));
}

TEST_CASE("a plan runs in the body of a loop, whose iterations keep the outputs of earlier ones") {
  const compiled_files files;
  compile(files, product_in_a_loop());
  for (const execution_mode mode : {execution_mode::sequential, execution_mode::parallel}) {
    session_options options;
    options.execution = mode, options.threads = 2;
    const auto restored = frozen_runtime{}.load(files.model, options);
    REQUIRE(verdict(restored) == "OK");
    CHECK(restored->placements().size() > 1);
    const session plain = loaded(product_in_a_loop());
    const std::vector<float> x = ramp(128, 0.001f);
    for (const std::int64_t trips : {5, 0, 2}) {
      const std::vector<named_input> inputs{{"trips", trips}, {"x", x}};
      CHECK(bits_of(*restored, inputs) == bits_of(plain, inputs));
    }
  }
}

TEST_CASE("outputs of a plan are written to bound memory, with fixed and with dynamic shapes") {
  for (const bool fixed : {true, false}) {
    const auto made = fixed ? frozen_runtime{}.load(small_network()) : frozen_runtime{}.load(four_branches());
    REQUIRE(verdict(made) == "OK");
    const std::vector<float> x = fixed ? image() : ramp(3 * 64, 0.001f);
    const named_input input = fixed ? named_input{"x", x} : named_input{"x", x, extents{3, 64}};
    const std::string expected = bits_of(*made, {&input, 1});
    auto binding = made->bind();
    REQUIRE(verdict(binding) == "OK");
    std::vector<float> y(expected.size() / sizeof(float));
    REQUIRE(binding->bind_input(input));
    REQUIRE(binding->bind_output(made->outputs()[0].name, y));
    for (int i = 0; i < 3; ++i) {
      std::fill(y.begin(), y.end(), 0.f);
      const status ran = made->run(*binding);
      CHECK_MESSAGE(ran, std::string{ran.words()});
      CHECK(std::memcmp(y.data(), expected.data(), expected.size()) == 0);
    }
    std::vector<float> small(1);
    REQUIRE(binding->bind_output(made->outputs()[0].name, small));
    CHECK(made->run(*binding).code() == status_code::invalid_argument);
    REQUIRE(binding->bind_output(made->outputs()[0].name, y));
    std::fill(y.begin(), y.end(), 0.f);
    CHECK(made->run(*binding));
    CHECK(std::memcmp(y.data(), expected.data(), expected.size()) == 0);
  }
}

static_assert(device_provider<eps::frozen<cpu>> && !device_provider<eps::frozen<products_only>>);

TEST_CASE("the devices are those of the base provider, with its packing as architecture") {
  const auto mine = eps::frozen<cpu>{}.devices(), base = cpu{}.devices();
  REQUIRE(mine);
  REQUIRE(base);
  REQUIRE(mine->size() == base->size());
  for (std::size_t i = 0; i < base->size(); ++i) {
    CHECK((*mine)[i].hardware.kind == (*base)[i].hardware.kind);
    CHECK((*mine)[i].hardware.vendor == (*base)[i].hardware.vendor);
    REQUIRE(find_text((*mine)[i].metadata, "architecture"));
    CHECK(*find_text((*mine)[i].metadata, "architecture") == cpu::packing());
    CHECK((*mine)[i].options.empty());
  }
  session_options options;
  REQUIRE(options.prefer(device_policy::prefer_cpu));  // frozen is not a fallback, so it comes before cpu
  const auto s = frozen_runtime{}.load(small_network(), options);
  REQUIRE(verdict(s) == "OK");
  CHECK(s->providers() == std::vector<std::string>{"frozen", "cpu"});
}

}  // namespace
}  // namespace cameo::test
