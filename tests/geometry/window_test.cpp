#include <doctest/doctest.h>
#include <cameo/geometry/conv.hpp>

using namespace cameo;
using namespace cameo::geometry;

namespace {

// Contracts are evaluated by the compiler: shapes and refusals are constants of the program.
using numbers = std::span<const std::int64_t>;
using sizes = shape_view<std::int64_t>;
using dims = shape_view<dim>;

constexpr std::int64_t image[] = {1, 3, 224, 224}, seven[] = {64, 3, 7, 7}, twos[] = {2, 2}, threes[] = {3, 3, 3, 3};
constexpr window strided{.strides = twos, .pads = threes};

constexpr bool has_shape(const result<conv>& c, std::int64_t maps, std::int64_t height, std::int64_t width) {
  return c && c->maps == maps && c->window.axes[0].out == height && c->window.axes[1].out == width;
}
static_assert(has_shape(conv_of<std::int64_t>(strided, 1, numbers{image}, numbers{seven}, {}), 64, 112, 112));

constexpr bool says(const status& s, std::string_view words) { return !status::has_words || s.words() == words; }
static_assert(says(conv_of<std::int64_t>({}, 2, numbers{image}, numbers{seven}, {}).error(),
                   "X has 3 channels, must have 3 for each of 2 groups"));
static_assert(says(conv_of<std::int64_t>({}, 5, numbers{image}, numbers{seven}, {}).error(),
                   "W has 64 maps, must have a multiple of group, 5"));
static_assert(says(conv_of<std::int64_t>({.strides = threes}, 1, numbers{image}, numbers{seven}, {}).error(),
                   "attribute strides has 4 elements, must have 2 for 2 spatial axes"));
constexpr std::int64_t small[] = {1, 3, 5, 9};
static_assert(
    says(conv_of<std::int64_t>({}, 1, numbers{small}, numbers{seven}, {}).error(),
         "the kernel reaches over 7 elements of spatial axis 0, which has 5 with its pads: the kernel must not "
         "be larger than the input"));

// Sizes that are unknown stay unknown, symbols stay what they are, and what is wrong for any size is refused.
constexpr dim batch = dim::named(1), side = dim::named(2);
constexpr dim open[] = {batch, dim::fixed(3), side, dim{}},
              filters[] = {dim::fixed(8), dim::fixed(3), dim::fixed(3), dim{}};
constexpr std::int64_t ones[] = {1, 1, 1, 1};
constexpr bool keeps_symbols() {
  const result<basic_conv<dim>> c =
      conv_of<dim>({.pads = ones}, 1, std::span<const dim>{open}, std::span<const dim>{filters}, {});
  return c && c->images.same(batch) && c->window.axes[0].out.same(side) && !c->window.axes[1].out.known();
}
static_assert(keeps_symbols());
static_assert(says(conv_of<dim>({}, 3, std::span<const dim>{open}, std::span<const dim>{filters}, {}).error(),
                   "W has 8 maps, must have a multiple of group, 3"));

constexpr std::int64_t two[] = {1, 1, 2}, point[] = {1, 1, 1}, three[] = {3};
constexpr bool ends_with_its_windows() {
  const result<conv> c = conv_transpose_of<std::int64_t>({.pad = padding::same_upper, .strides = three}, 1,
                                                         numbers{two}, numbers{point}, {}, {}, {});
  return c && c->window.axes[0].in == 4;  // ONNX Runtime's size; stride times the length would be 6
}
static_assert(ends_with_its_windows());

}  // namespace

TEST_CASE("a window has one position for all kinds of size, and refuses in the same words") {
  for (std::int64_t in = 0; in < 9; ++in)
    for (std::int64_t kernel = 1; kernel < 5; ++kernel)
      for (std::int64_t stride = 1; stride < 4; ++stride)
        for (std::int64_t pad = 0; pad < 3; ++pad)
          for (const padding mode : {padding::given, padding::valid, padding::same_upper, padding::same_lower})
            for (const bool ceil : {false, true})
              for (const bool may_exceed : {false, true}) {
                INFO("in " << in << ", kernel " << kernel << ", stride " << stride << ", pads " << pad << ", mode "
                           << int(mode));
                const std::int64_t x[] = {1, 1, in}, strides[] = {stride}, pads[] = {pad, pad}, k[] = {kernel};
                const dim open_x[] = {dim::fixed(1), dim::fixed(1), dim::fixed(in)}, open_k[] = {dim::fixed(kernel)};
                window w{.pad = mode, .ceil = ceil, .strides = strides, .pads = pads};
                const result<placed_window> run = w.place<std::int64_t>(numbers{x}, numbers{k}, may_exceed);
                const auto load = w.place<dim>(std::span<const dim>{open_x}, std::span<const dim>{open_k}, may_exceed);
                REQUIRE(bool(run) == bool(load));
                CHECK(run.error().words() == load.error().words());
                if (!run) continue;
                CHECK(run->axes[0].out == load->axes[0].out.size);
                CHECK(run->axes[0].pad_begin == load->axes[0].pad_begin);
                CHECK(run->axes[0].pad_end == load->axes[0].pad_end);
              }
}

TEST_CASE(
    "codes of a refusal: INVALID_GRAPH while loading and for attributes, INVALID_ARGUMENT for the shapes of a run") {
  CHECK(conv_of<std::int64_t>({}, 5, numbers{image}, numbers{seven}, {}).error().code() ==
        status_code::invalid_argument);
  CHECK(conv_of<dim>({}, 3, std::span<const dim>{open}, std::span<const dim>{filters}, {}).error().code() ==
        status_code::invalid_graph);
  const std::int64_t negative[] = {0, 0, -1, 0};
  const status s = conv_of<std::int64_t>({.pads = negative}, 1, numbers{image}, numbers{seven}, {}).error();
  CHECK(s.code() == status_code::invalid_graph);
  CHECK(s.words() == "attribute pads has -1, must be 0 or more");
}
