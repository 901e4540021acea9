#pragma once
#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>
#include <cameo/transform/transform.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "../session/models.hpp"

/// Runs a model before and after one family of transforms, and compares the outputs.
namespace cameo::test {

/// The cpu provider with only these transforms.
template <class... Families>
struct cpu_with : eps::cpu {
  using transforms = transform_set<Families...>;
};

/// A family that is always applied, even if it is meant for models that are saved.
template <class Family>
struct applied {
  static constexpr optimization_level level = Family::level;
  static const transform_table& table() {
    static const transform_table made = [] {
      transform_table copy = Family::table();
      if (copy.when.phase == transform_phase::before_saving) copy.when.phase = transform_phase::at_level;
      return copy;
    }();
    return made;
  }
};

/// The runtime whose sessions one family rewrites, before or after partitioning according to its level; or a set of
/// families.
template <class Family>
struct rewriting_runtime {
  using type =
      std::conditional_t<Family::level <= optimization_level::basic, runtime<transforms<applied<Family>>, cpu_with<>>,
                         runtime<transforms<>, cpu_with<Family>>>;
};
template <class... Families>
struct rewriting_runtime<transform_set<Families...>> {
  using type = runtime<transforms<Families...>, cpu_with<>>;
};
template <class Family>
result<session> rewritten(std::unique_ptr<model> net, session_options options = {}) {
  return typename rewriting_runtime<Family>::type{}.load(std::move(net), options);
}
inline result<session> as_written(std::unique_ptr<model> net) {
  session_options options;
  options.optimize = optimization_level::none;
  return runtime<transforms<>, cpu_with<>>{}.load(std::move(net), options);
}

/// The number of nodes of an operator, without constants.
inline std::size_t count_of(const graph& g, std::string_view op) {
  std::size_t found = 0;
  for (node_id n : g.order()) found += g[n].op_type == op && !g[n].removed;
  return found;
}
inline std::size_t count_of(const session& s, std::string_view op) { return count_of(s.graph().main(), op); }
inline const detail::graph_node* first_of(const session& s, std::string_view op) {
  for (node_id n : s.graph().main().order())
    if (s.graph().main()[n].op_type == op) return &s.graph().main()[n];
  return nullptr;
}
/// The number of changes of a transform.
inline std::size_t changes(const session& s, std::string_view transform) {
  for (const transform_log::entry& e : s.rewrites().transforms)
    if (e.name == transform) return e.changes;
  return 0;
}

/// Random inputs for all graph inputs: floats from -2 to 2, integers from 0 to 3. Symbols become `symbol_size`.
inline std::vector<std::pair<std::string, any_value>> random_feeds(const session& s, std::uint32_t seed,
                                                                   std::int64_t symbol_size = 3) {
  std::mt19937 random{seed};
  std::vector<std::pair<std::string, any_value>> feeds;
  for (const io_info& info : s.inputs()) {
    if (info.optional) continue;
    extents shape;
    for (const dim& d : *info.type.shape) shape.push_back(d.known() ? d.size : symbol_size);
    const std::size_t count = std::size_t(shape.count());
    const auto fill = [&]<class T>(T, auto next) {
      std::vector<T> all(count);
      for (T& each : all) each = T(next());
      feeds.emplace_back(info.name, any_value::tensor<T>(shape, all));
    };
    std::uniform_real_distribution<float> real{-2, 2};
    const auto small = [&] { return int(random() % 4); };
    switch (info.type.type) {
      case dtype::f32: fill(float{}, [&] { return real(random); }); break;
      case dtype::f64: fill(double{}, [&] { return real(random); }); break;
      case dtype::i64: fill(std::int64_t{}, small); break;
      case dtype::i32: fill(std::int32_t{}, small); break;
      case dtype::u8: fill(std::uint8_t{}, small); break;
      case dtype::i8: fill(std::int8_t{}, small); break;
      default: FAIL("random_feeds: no numbers for input ", info.name);
    }
  }
  return feeds;
}

/// Checks that both sessions give the same outputs for random inputs, up to `tolerance` of the largest number.
inline void check_same(const session& a, const session& b, double tolerance = 1e-5, std::int64_t symbol_size = 3) {
  for (std::uint32_t seed : {1u, 2u}) {
    const auto feeds = random_feeds(a, seed, symbol_size);
    std::vector<named_input> inputs;
    for (const auto& [name, v] : feeds) inputs.emplace_back(name, v);
    auto left = a.run(inputs), right = b.run(inputs);
    REQUIRE_MESSAGE(left, left.error().words());
    REQUIRE_MESSAGE(right, right.error().words());
    REQUIRE(left->size() == right->size());
    for (std::size_t i = 0; i < left->size(); ++i) {
      const value x = (*left)[i].value.view(), y = (*right)[i].value.view();
      REQUIRE(x.type == y.type);
      REQUIRE(x.shape == y.shape);
      if (x.type != dtype::f32) {
        CHECK(std::memcmp(x.data, y.data, x.bytes()) == 0);
        continue;
      }
      double largest = 1e-3, worst = 0;
      for (std::int64_t k = 0; k < x.shape.count(); ++k) {
        const double p = x.as_unchecked<float>()[k], q = y.as_unchecked<float>()[k];
        largest = std::max(largest, std::abs(p));
        if (!(p == q)) worst = std::max(worst, std::isnan(p - q) ? INFINITY : std::abs(p - q));
      }
      CHECK_MESSAGE(worst <= tolerance * largest, "output ", i, " differs by ", worst, " of ", largest);
    }
  }
}

/// Checks that the family rewrites the model of `make`, by `transform` among others, and that both models agree.
/// Returns the rewritten session.
template <class Family, class Make>
session check_fires(std::string_view transform, Make make, double tolerance = 1e-5) {
  result<session> plain = as_written(make()), done = rewritten<Family>(make());
  REQUIRE_MESSAGE(plain, plain.error().words());
  REQUIRE_MESSAGE(done, done.error().words());
  CHECK_MESSAGE(changes(*done, transform) > 0, transform, " did not change anything");
  for (const std::string& each : done->rewrites().unsaid) FAIL_CHECK(each, ", and does not say so");
  check_same(*plain, *done, tolerance);
  return std::move(*done);
}
/// Checks that the transform does not apply (and that both models agree).
template <class Family, class Make>
void check_idle(std::string_view transform, Make make) {
  result<session> plain = as_written(make()), done = rewritten<Family>(make());
  REQUIRE_MESSAGE(plain, plain.error().words());
  REQUIRE_MESSAGE(done, done.error().words());
  CHECK_MESSAGE(changes(*done, transform) == 0, transform, " changed something");
  check_same(*plain, *done);
}

}  // namespace cameo::test
