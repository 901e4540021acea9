#include <cameo/eps/cpu/layout.hpp>

#include "../../../tests/transform/rule_rig.hpp"
#include "../src/layout/min_cut.hpp"

using namespace cameo;
using namespace cameo::test;

namespace {

class images : public model_builder {
 public:
  value_id image(std::int64_t channels, std::int64_t side = 12) {
    return input("x", dtype::f32, {symbol("N"), dim::fixed(channels), dim::fixed(side), dim::fixed(side)});
  }
  value_id conv(value_id x, std::int64_t in, std::int64_t out, std::int64_t kernel = 3, std::int64_t group = 1) {
    const std::string n = std::to_string(next_++);
    const std::int64_t per = in / group;
    const value_id w = constant("w" + n, {out, per, kernel, kernel},
                                ramp(std::size_t(out * per * kernel * kernel), 0.001f / float(per)));
    const std::vector<std::int64_t> pads(4, kernel / 2);
    return node("Conv", {x, w, constant("b" + n, {out}, ramp(std::size_t(out), 0.001f))},
                {attribute_of("group", group), attribute_of("pads", std::span<const std::int64_t>{pads})});
  }
  value_id pool(value_id x) {
    static constexpr std::int64_t two[] = {2, 2};
    return node("MaxPool", {x},
                {attribute_of("kernel_shape", std::span<const std::int64_t>{two}),
                 attribute_of("strides", std::span<const std::int64_t>{two})});
  }

 private:
  int next_ = 0;
};

constexpr std::string_view transform = "NchwcTransformer";

}  // namespace

TEST_CASE("a whole region is blocked: the first convolution reads the plain layout, and one reorder is at the end") {
  const session s = check_fires<eps::nchwc_layout>(transform, [] {
    images m;
    value_id y = m.node("Relu", {m.conv(m.image(3), 3, 32)});
    y = m.pool(y);
    const value_id sum = m.node("Add", {m.conv(y, 32, 32), m.conv(y, 32, 32, 1)});
    m.output(m.node("Sigmoid", {m.conv(sum, 32, 24, 3, 1)}));
    return m.take();
  });
  CHECK(count_of(s, "ReorderInput") == 0);
  CHECK(count_of(s, "ReorderOutput") == 1);
  CHECK(first_of(s, "Conv")->domain == "com.microsoft.nchwc");
  CHECK(first_of(s, "MaxPool")->domain == "com.microsoft.nchwc");
}

TEST_CASE("the reorder is where it moves the fewest elements: behind the pool, not before it") {
  const session s = check_fires<eps::nchwc_layout>(transform, [] {
    images m;
    const value_id y = m.pool(m.node("Relu", {m.conv(m.image(16), 16, 32)}));
    m.output(m.node("Flatten", {y}));
    return m.take();
  });
  CHECK(count_of(s, "ReorderInput") == 1);
  CHECK(first_of(s, "MaxPool")->domain == "com.microsoft.nchwc");
  CHECK(count_of(s, "ReorderOutput") == 1);
}

TEST_CASE("a graph output must be plain: a pool that reads it does not get a second reorder") {
  const session s = check_fires<eps::nchwc_layout>(transform, [] {
    images m;
    const value_id y = m.conv(m.image(3), 3, 32);
    m.output(y);
    m.output(m.node("Flatten", {m.pool(y)}));
    return m.take();
  });
  CHECK(count_of(s, "ReorderOutput") == 1);
  CHECK(first_of(s, "MaxPool")->domain.empty());
}

TEST_CASE("one pixel of full blocks needs no reorder") {
  const session s = check_fires<eps::nchwc_layout>(transform, [] {
    images m;
    const value_id y = m.node("GlobalAveragePool", {m.conv(m.image(3), 3, 32)});
    m.output(m.node("Flatten", {y}));
    return m.take();
  });
  CHECK(count_of(s, "ReorderOutput") == 0);
}

TEST_CASE("a value that plain and blocked nodes read, and that is a graph output, is reordered once") {
  const session s = check_fires<eps::nchwc_layout>(transform, [] {
    images m;
    const value_id y = m.conv(m.image(16), 16, 16);
    m.output(y);
    m.output(m.node("ReduceSum", {y}));
    m.output(m.conv(y, 16, 40));
    return m.take();
  });
  CHECK(count_of(s, "ReorderOutput") == 2);
  CHECK(s.outputs()[0].name == "Conv_0_out");
}

TEST_CASE("depthwise, groups of whole blocks, and concatenation of whole blocks are blocked, too") {
  const session s = check_fires<eps::nchwc_layout>(transform, [] {
    images m;
    const value_id x = m.image(32);
    const value_id y = m.node("Concat", {m.conv(x, 32, 32, 3, 32), m.conv(x, 32, 64, 3, 2)}, {attribute_of("axis", 1)});
    m.output(m.conv(y, 96, 16, 1));
    return m.take();
  });
  CHECK(count_of(s, "ReorderInput") == 1);
  CHECK(count_of(s, "ReorderOutput") == 1);
}

TEST_CASE("every pointwise operator runs on blocks, and the padding of blocks does not reach a channel") {
  const session s = check_fires<eps::nchwc_layout>(transform, [] {
    images m;
    const value_id y = m.conv(m.image(16), 16, 24);  // half of the last block is padding
    const value_id inverse = m.node("Reciprocal", {m.node("Exp", {y})});
    const value_id roots = m.node("Pow", {inverse, m.node("Softsign", {m.node("Abs", {y})})});
    m.output(m.conv(m.node("Div", {roots, m.node("Atan", {inverse})}), 24, 20));
    return m.take();
  });
  CHECK(count_of(s, "ReorderInput") == 1);
  CHECK(count_of(s, "ReorderOutput") == 1);
}

TEST_CASE("nodes that cannot be blocked stay unchanged") {
  SUBCASE("weights that are computed") {
    check_idle<eps::nchwc_layout>(transform, [] {
      images m;
      const value_id w = m.input("w", dtype::f32, {dim::fixed(16), dim::fixed(16), dim::fixed(1), dim::fixed(1)});
      m.output(m.node("Conv", {m.image(16), w}));
      return m.take();
    });
  }
  SUBCASE("groups of half a block") {
    check_idle<eps::nchwc_layout>(transform, [] {
      images m;
      m.output(m.conv(m.image(16), 16, 32, 3, 2));
      return m.take();
    });
  }
  SUBCASE("one dimension") {
    check_idle<eps::nchwc_layout>(transform, [] {
      images m;
      const value_id x = m.input("x", dtype::f32, {dim::fixed(1), dim::fixed(16), dim::fixed(20)});
      m.output(m.node("Conv", {x, m.constant("w", {16, 16, 3}, ramp(16 * 16 * 3))}));
      return m.take();
    });
  }
  SUBCASE("double") {
    const auto make = [] {
      images m;
      const value_id x = m.input("x", dtype::f64, {dim::fixed(1), dim::fixed(16), dim::fixed(4), dim::fixed(4)});
      m.output(m.node("Conv", {x, m.constant("w", {16, 16, 1, 1}, std::vector<double>(256, 0.5))}));
      return m.take();
    };
    check_idle<eps::nchwc_layout>(transform, make);
  }
  SUBCASE("a broadcast over blocked images") {
    const session s = check_fires<eps::nchwc_layout>(transform, [] {
      images m;
      const value_id y = m.conv(m.image(16), 16, 32);
      const value_id gate = m.node("Sigmoid", {m.node("GlobalAveragePool", {y})});
      m.output(m.node("Mul", {y, gate}));
      return m.take();
    });
    CHECK(first_of(s, "Mul")->domain.empty());
  }
}

TEST_CASE("minimum cut") {
  eps::min_cut cut;
  const std::uint32_t a = cut.add_vertex(), b = cut.add_vertex(), c = cut.add_vertex();
  cut.add_edge(eps::min_cut::source, a, 5);
  cut.add_edge(a, b, 3);
  cut.add_edge(a, c, 1);
  cut.add_edge(c, b, 9);
  cut.add_edge(b, eps::min_cut::sink, 10);
  const std::vector<bool> near = cut.solve();
  CHECK(near[a]);
  CHECK_FALSE(near[b]);
  CHECK_FALSE(near[c]);
}

namespace {

/// Quantized images: u8 with a scale of 1/4 and a zero point of 3.
class coded_images : public model_builder {
 public:
  value_id image(std::int64_t channels, std::int64_t side = 12) {
    return input("x", dtype::u8, {symbol("N"), dim::fixed(channels), dim::fixed(side), dim::fixed(side)});
  }
  value_id conv(value_id x, std::int64_t in, std::int64_t out, std::int64_t kernel = 3, std::int64_t group = 1) {
    const std::int64_t per = in / group;
    std::vector<std::int8_t> w(std::size_t(out * per * kernel * kernel));
    for (std::size_t i = 0; i < w.size(); ++i) w[i] = std::int8_t(int(i * 37 % 101) - 50);
    const value_id weights = constant(name("w"), {out, per, kernel, kernel}, w);
    const std::vector<std::int64_t> pads(4, kernel / 2);
    return node("QLinearConv",
                {x, scale(), zero(), weights, constant(name("s"), {}, std::vector<float>{0.01f}),
                 constant(name("z"), {}, std::vector<std::int8_t>{0}), scale(), zero()},
                {attribute_of("group", group), attribute_of("pads", std::span<const std::int64_t>{pads})});
  }
  value_id add(value_id a, value_id b) {
    return microsoft("QLinearAdd", {a, scale(), zero(), b, scale(), zero(), scale(), zero()});
  }
  value_id concat(value_id a, value_id b) {
    return microsoft("QLinearConcat", {scale(), zero(), a, scale(), zero(), b, scale(), zero()},
                     {attribute_of("axis", 1)});
  }
  value_id mean(value_id x) { return microsoft("QLinearGlobalAveragePool", {x, scale(), zero(), scale(), zero()}); }
  value_id pool(value_id x) {
    static constexpr std::int64_t two[] = {2, 2};
    return node("MaxPool", {x},
                {attribute_of("kernel_shape", std::span<const std::int64_t>{two}),
                 attribute_of("strides", std::span<const std::int64_t>{two})});
  }
  value_id microsoft(std::string_view op, std::vector<value_id> inputs, std::vector<attribute> attributes = {}) {
    return node(op, std::move(inputs), std::move(attributes), "com.microsoft", 1);
  }
  value_id scale() { return constant(name("s"), {}, std::vector<float>{0.25f}); }
  value_id zero() { return constant(name("z"), {}, std::vector<std::uint8_t>{3}); }

 private:
  std::string name(const char* stem) { return stem + std::to_string(next_++); }
  int next_ = 0;
};

constexpr std::string_view turns = "NhwcTransformer";

}  // namespace

TEST_CASE(
    "a quantized region has its channels last: convolutions, sums, pools, concatenations, one Transpose at each end") {
  const session s = check_fires<eps::nchwc_layout>(turns, [] {
    coded_images m;
    value_id y = m.pool(m.conv(m.image(3), 3, 20));
    y = m.add(m.conv(y, 20, 20), m.conv(y, 20, 20, 3, 20));
    y = m.concat(y, m.conv(y, 20, 7, 1));
    m.output(m.conv(y, 27, 9));
    return m.take();
  });
  CHECK(count_of(s, "Transpose") == 2);
  CHECK(count_of(s, "NhwcMaxPool") == 1);
  CHECK(count_of(s, "QLinearConv") == 5);
  CHECK(first_of(s, "QLinearConv")->domain == "com.microsoft");
}

TEST_CASE("a value that the model itself transposed to channels first is not transposed back twice") {
  const session s = check_fires<eps::nchwc_layout>(turns, [] {
    coded_images m;
    static constexpr std::int64_t to_front[] = {0, 3, 1, 2};
    const value_id x = m.input("x", dtype::u8, {dim::fixed(2), dim::fixed(12), dim::fixed(12), dim::fixed(8)});
    const value_id turned = m.node("Transpose", {x}, {attribute_of("perm", std::span<const std::int64_t>{to_front})});
    m.output(m.mean(m.conv(turned, 8, 16)));
    return m.take();
  });
  CHECK(count_of(s, "Transpose") == 1);  // for the output of the mean
}

TEST_CASE("quantized values without a convolution keep their layout") {
  check_idle<eps::nchwc_layout>(turns, [] {
    coded_images m;
    const value_id x = m.image(16);
    m.output(m.add(m.pool(x), m.pool(x)));
    return m.take();
  });
}
