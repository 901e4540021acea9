#include <doctest/doctest.h>
#include <cameo/graph/check.hpp>
#include <cameo/graph/shapes_of.hpp>
#include <cameo/kernel/shapes_of.hpp>

#include "session/models.hpp"

namespace geometry_of_nodes {

using namespace cameo;
using numbers = geometry::sizes<std::int64_t>;
using dims = geometry::sizes<dim>;

constexpr std::int64_t pads[] = {1, 1, 1, 1}, perm[] = {1, 0};
constexpr attribute padded[] = {{.name = "pads", .kind = attribute_kind::ints, .ints = pads}};
constexpr attribute turned[] = {{.name = "perm", .kind = attribute_kind::ints, .ints = perm}};
constexpr attribute in_groups[] = {{.name = "group", .kind = attribute_kind::i, .i = 2}};
constexpr dim open{};

constexpr bool says(const status& s, status_code code, std::string_view words) {
  return s.code() == code && (!status::has_words || s.words() == words);
}

// The compiler evaluates the geometry of nodes, and refuses the same shapes in the same words.
constexpr node_shapes<std::int64_t> image{numbers{1, 3, 8, 8}, numbers{4, 3, 3, 3}};
constexpr auto same = geometry_of<op::Conv>(padded, image), valid = geometry_of<op::Conv>({}, image);
static_assert(same->window.axes[0].out == 8 && valid->window.axes[1].out == 6);
static_assert(says(geometry_of<op::Conv>(in_groups, image).error(), status_code::invalid_argument,
                   "X has 3 channels, must have 3 for each of 2 groups"));
constexpr node_shapes<dim> open_image{dims{open, dim::fixed(3), open}, dims{open, dim::fixed(3), open}};
static_assert(says(geometry_of<op::Conv>(in_groups, open_image).error(), status_code::invalid_graph,
                   "X has 3 channels, must have 3 for each of 2 groups"));
constexpr node_shapes<dim> matrices{dims{open, dim::fixed(3)}, dims{dim::fixed(3), dim::fixed(5)}};
constexpr auto product = geometry_of<op::MatMul>({}, matrices);
static_assert(product->n.size == 5 && !product->m.known());
static_assert(!geometry_of<op::MatMul>({}, node_shapes<std::int64_t>{numbers{2, 3}, numbers{4, 5}}));
constexpr auto permuted = geometry_of<op::Transpose>(turned, node_shapes<std::int64_t>{numbers{2, 3}});
static_assert(permuted->out[0] == 3);
constexpr auto sum = geometry_of<op::Add>({}, node_shapes<std::int64_t>{numbers{2, 1}, numbers{5}});
static_assert(sum->view()[1] == 5);

TEST_CASE("geometry_of: a node of a graph and a node that is bound have the same geometry") {
  test::model_builder b;
  const value_id x = b.input("x", dtype::f32, {dim{}, dim::fixed(3), dim::fixed(8), dim::fixed(8)});
  const value_id w = b.constant<float>("w", {4, 3, 3, 3}, std::vector<float>(108, 1.0F));
  attribute around = test::model_builder::integer("pads", 0);
  around.kind = attribute_kind::ints, around.ints = pads;
  b.output(b.node("Conv", {x, w}, {around}));
  const std::unique_ptr<model> made = b.take();
  REQUIRE(check_model(*made, op_table{cameo::detail::standard_ops()}));
  REQUIRE(infer_types(made->main()));
  for (const node_view node : graph_view{made->main()}.nodes()) {
    const auto g = geometry_of<op::Conv>(node);
    REQUIRE(g);
    CHECK(g->maps.size == 4);
    CHECK(g->window.rank == 2);
    CHECK(g->window.axes[0].out.size == 8);
    CHECK(!g->images.known());
  }
}

TEST_CASE("geometry_of: what is known of the shapes of operands") {
  operand in[3];
  in[0] = {type_kind::tensor, dtype::f32, true, false, true, {-1, 3}, nullptr};
  in[1] = {type_kind::tensor, dtype::f32, true, false, true, {3, 5}, nullptr};
  const node_shapes<dim> known = shapes_of(in);
  REQUIRE(known.size() == 3);
  CHECK(!known[0][0].known());
  CHECK(known[0][1].size == 3);
  CHECK(known[1].rank() == 2);
  CHECK(!known[2]);
  CHECK(!known[7]);
  const auto g = geometry_of<op::MatMul>({}, known);
  REQUIRE(g);
  CHECK(g->n.size == 5);
  in[1].shape = {4, 5};
  CHECK(!geometry_of<op::MatMul>({}, shapes_of(in)));
}

}  // namespace geometry_of_nodes
