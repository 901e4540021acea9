// Compiled plans: the same bits as without, from files, embedded, shared, at once; and what is refused.
#include "frozen_models.hpp"

#include <thread>

namespace cameo::test {
namespace {

using eps::cpu;

std::vector<float> image() { return ramp(3 * 64, 0.002f); }

TEST_CASE("a compiled model gives the bits of the model it was made of, from files and embedded") {
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

TEST_CASE("what is compiled while a model is loaded runs at once, with the same bits for all shapes") {
  const auto made = frozen_runtime{}.load(four_branches());
  REQUIRE(verdict(made) == "OK");
  const session plain = loaded(four_branches());
  for (const std::int64_t rows : {1, 5, 33, 5, 0}) {
    const std::vector<float> x = ramp(std::size_t(rows) * 64, 0.001f);
    const std::vector<named_input> inputs{{"x", x, extents{rows, 64}}};
    CHECK(bits_of(*made, inputs) == bits_of(plain, inputs));
  }
}

TEST_CASE("nodes of texts and sequences stay with the next provider, between plans") {
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

TEST_CASE("weights that are only packed are in the context once, and packed") {
  const compiled_files files;
  compile(files, over_shared_weights("Relu"));
  const std::size_t weights = 2 * 64 * 512 * sizeof(float);
  CHECK(fs::file_size(files.context) < weights + 3 * 4096);
  CHECK(fs::file_size(files.context) >= weights);
}

}  // namespace
}  // namespace cameo::test
