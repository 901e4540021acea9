// The shapes that operators state for their inputs: those that kernels take, in every version, and those that they do
// not.
#include <doctest/doctest.h>
#include <cameo/op/contrib.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/ml.hpp>
#include <cameo/op/nchwc.hpp>
#include <cameo/op/onnx.hpp>
#include <cameo/op/shape_contract.hpp>
#include <cameo/op/training.hpp>

#include <algorithm>

namespace shape_contracts {

using namespace cameo;
using namespace cameo::op;

/// The shape of an input, or nothing for an absent one.
struct shape {
  std::int64_t sizes[6]{};
  std::size_t rank = 0;
  bool is_given = true;
};
constexpr shape s(std::integral auto... sizes) { return {{std::int64_t(sizes)...}, sizeof...(sizes)}; }
constexpr shape scalar{}, none{.is_given = false};

/// Whether an operator takes inputs of these shapes at an opset.
template <class Op>
constexpr bool takes(int opset, std::initializer_list<shape> inputs, std::span<const geometry::named_size> known = {}) {
  const op_version* version = nullptr;
  for (const op_version& each : Op::versions)
    if (each.since <= opset) version = &each;
  if (!version->shapes) return true;
  geometry::named_shape<std::int64_t> all[16]{};
  std::size_t count = 0;
  for (const shape& each : inputs) {
    if (each.is_given) all[count].shape = std::span{each.sizes, each.rank};
    ++count;
  }
  return bool(geometry::check_shapes<std::int64_t>(version->shapes, std::span{all, count}, known));
}
template <class Op>
constexpr bool refuses(int opset, std::initializer_list<shape> inputs,
                       std::span<const geometry::named_size> known = {}) {
  return !takes<Op>(opset, inputs, known);
}

constexpr geometry::named_size blocks_of_two[] = {{"blocksize", 2}};

static_assert(takes<GridSample>(16, {s(2, 3, 4, 5), s(2, 6, 7, 2)}) &&
              refuses<GridSample>(16, {s(2, 3, 4, 5), s(2, 6, 7, 3)}) &&
              refuses<GridSample>(16, {s(2, 3, 4, 5), s(1, 6, 7, 2)}) &&
              takes<GridSample>(20, {s(2, 3, 4), s(2, 6, 1)}) &&
              takes<GridSample>(20, {s(0, 3, 4, 5, 6), s(0, 6, 7, 8, 3)}) &&
              refuses<GridSample>(20, {s(2, 3), s(2, 1)}));
static_assert(takes<microsoft::GridSample>(1, {s(2, 3, 4, 5), s(2, 6, 7, 2)}));
static_assert(takes<RoiAlign>(10, {s(2, 3, 4, 5), s(7, 4), s(7)}) &&
              takes<RoiAlign>(22, {s(2, 3, 4, 5), s(0, 4), s(0)}) &&
              refuses<RoiAlign>(16, {s(2, 3, 4, 5), s(7, 4), s(6)}) &&
              refuses<RoiAlign>(16, {s(2, 3, 4), s(7, 4), s(7)}));
static_assert(takes<microsoft::CropAndResize>(1, {s(2, 3, 4, 5), s(7, 4), s(7), s(2)}) &&
              refuses<microsoft::CropAndResize>(1, {s(2, 3, 4, 5), s(7, 4), s(7), s(1)}));
static_assert(takes<MaxRoiPool>(1, {s(2, 3, 4, 5), s(7, 5)}) && refuses<MaxRoiPool>(22, {s(2, 3, 4, 5), s(7, 4)}));
static_assert(refuses<Upsample>(1, {s(2, 3, 4)}) && takes<Upsample>(7, {s(2, 3, 4)}) &&
              takes<Upsample>(9, {s(2, 3, 4), s(3)}) && takes<Upsample>(1, {s(2, 3, 4, 5)}));
static_assert(takes<contrib::Crop>(1, {s(2, 3, 4, 5)}) && refuses<contrib::Crop>(1, {s(2, 3, 4)}));
static_assert(takes<ImageDecoder>(20, {s(0)}) && refuses<ImageDecoder>(20, {scalar}) &&
              takes<microsoft::Unique>(1, {s(4)}));
static_assert(takes<NonMaxSuppression>(10, {s(1, 6, 4), s(1, 2, 6), s(1), scalar, none}) &&
              refuses<NonMaxSuppression>(11, {s(1, 6, 4), s(2, 2, 6)}) &&
              refuses<NonMaxSuppression>(11, {s(1, 6, 4), s(1, 2, 5)}));
static_assert(takes<DFT>(17, {s(3, 1)}) && takes<DFT>(17, {s(2, 5, 2), scalar}) && refuses<DFT>(17, {s(2)}) &&
              refuses<DFT>(20, {s(2, 3)}) && takes<DFT>(20, {s(2, 3, 1), none, s(1)}) &&
              refuses<DFT>(20, {s(2, 3, 1), none, s(2)}));
static_assert(takes<STFT>(17, {s(2, 9), scalar, s(4), s(1)}) && takes<STFT>(17, {s(2, 9, 2), scalar, none, none}) &&
              refuses<STFT>(17, {s(2, 9, 3), scalar}) && refuses<STFT>(17, {s(9), scalar}) &&
              refuses<STFT>(17, {s(2, 9), scalar, s(1, 4)}));
static_assert(takes<MelWeightMatrix>(17, {scalar, s(1), s(1, 1), scalar, scalar}) &&
              refuses<MelWeightMatrix>(17, {scalar, s(2), scalar, scalar, scalar}));
static_assert(takes<microsoft::DynamicTimeWarping>(1, {s(3, 4)}) &&
              takes<microsoft::DynamicTimeWarping>(1, {s(1, 3, 4)}) &&
              refuses<microsoft::DynamicTimeWarping>(1, {s(2, 3, 4)}));
static_assert(takes<microsoft::BeamSearch>(1,
                                           {s(2, 3), s(1), scalar, s(1), s(1), none, none, s(9), s(2, 9), s(2, 3)}) &&
              takes<microsoft::BeamSearch>(1, {s(2, 3, 4), s(1)}) &&
              refuses<microsoft::BeamSearch>(1, {s(2, 3), s(2)}));
static_assert(takes<microsoft::WhisperBeamSearch>(1, {s(2, 3, 4), s(1), scalar, s(1), s(1), none, none, none, none,
                                                      none, s(2, 4), none, s(0, 2), s(2, 0), s(1)}) &&
              refuses<microsoft::WhisperBeamSearch>(1, {s(2, 3), s(1)}) &&
              refuses<microsoft::WhisperBeamSearch>(1, {s(2, 3, 4), s(1), scalar, s(1), s(1), none, none, none, none,
                                                        none, s(1, 4)}));
static_assert(takes<microsoft::GreedySearch>(1, {s(2, 3), s(1), scalar, s(1), s(7), s(2, 7), s(2, 3)}) &&
              takes<microsoft::Sampling>(1, {s(2, 3), s(1), none, none, none, none, none, s(2, 7), s(1)}) &&
              refuses<microsoft::GreedySearch>(1, {s(2, 3), s(1), scalar, s(1), s(7), s(2, 8)}));
static_assert(takes<Det>(11, {s(3, 3)}) && takes<Det>(22, {s(2, 3, 3)}) && refuses<Det>(11, {s(3)}) &&
              refuses<Det>(11, {s(3, 2)}) && takes<Det>(11, {s(0, 0)}) && takes<microsoft::Inverse>(1, {s(3, 3)}));
static_assert(takes<microsoft::CDist>(1, {s(3, 2), s(5, 2)}) && refuses<microsoft::CDist>(1, {s(3, 2), s(5, 3)}));
static_assert(takes<microsoft::SparseToDenseMatMul>(1, {none, s(3, 4)}) &&
              refuses<microsoft::SparseToDenseMatMul>(1, {none, s(3)}));
static_assert(takes<ml::LinearRegressor>(1, {s(3)}) && takes<ml::TreeEnsemble>(5, {s(2, 3)}) &&
              refuses<ml::ZipMap>(1, {s(1, 2, 3)}) && refuses<ml::SVMClassifier>(1, {scalar}) &&
              takes<ml::ArrayFeatureExtractor>(1, {s(3), s(1, 2)}) &&
              refuses<ml::ArrayFeatureExtractor>(1, {scalar, s(1)}));
static_assert(takes<Range>(11, {scalar, s(1), scalar}) && takes<microsoft::Range>(1, {scalar, scalar, none}) &&
              refuses<Range>(11, {scalar, s(2), scalar}) && refuses<Range>(11, {s(0), scalar, scalar}));
static_assert(takes<OneHot>(9, {s(2, 3), s(1), s(2)}) && refuses<OneHot>(11, {s(2, 3), s(1), s(3)}) &&
              takes<EyeLike>(9, {s(2, 3)}) && takes<Multinomial>(7, {s(2, 3)}));
static_assert(takes<Compress>(9, {s(2, 3), scalar}) && takes<Compress>(11, {s(2, 3), s(9)}) &&
              refuses<Compress>(28, {s(2, 3), s(1, 1)}) && takes<SplitToSequence>(11, {s(2), none}) &&
              takes<SplitToSequence>(11, {s(2), scalar}) && refuses<SplitToSequence>(24, {s(2), s(1, 1)}));
static_assert(takes<Tile>(1, {s(2), scalar, s(1)}) && refuses<Tile>(1, {s(2), s(2), s(1)}) &&
              takes<Tile>(6, {s(2, 2), s(2)}) && takes<TopK>(1, {s(2)}) && takes<TopK>(10, {s(2), s(1)}) &&
              refuses<TopK>(24, {s(2), s(0)}));
static_assert(takes<GatherND>(11, {s(2), s(3, 1)}) && refuses<GatherND>(12, {scalar, s(1)}) &&
              refuses<ScatterND>(18, {s(2), scalar, scalar}) && takes<microsoft::GatherND>(1, {s(2), s(1)}));
static_assert(takes<TensorScatter>(24, {s(2, 3, 4), s(2, 1, 4), s(2)}) &&
              takes<TensorScatter>(24, {s(2, 3, 4), s(2, 1, 4), none}) &&
              refuses<TensorScatter>(24, {s(2, 3, 4), s(2, 1, 4), s(3)}));
static_assert(takes<CumSum>(11, {s(2), s(1)}) && takes<CumSum>(14, {s(2), scalar}) &&
              refuses<CumProd>(26, {s(2), s(2)}) && takes<microsoft::ExpandDims>(1, {s(2), scalar}));
static_assert(takes<DepthToSpace>(1, {s(1, 8, 2, 3)}, blocks_of_two) &&
              takes<DepthToSpace>(13, {s(1, 0, 2, 3)}, blocks_of_two) &&
              refuses<DepthToSpace>(28, {s(1, 6, 2, 3)}, blocks_of_two) &&
              refuses<DepthToSpace>(28, {s(8, 2, 3)}, blocks_of_two) &&
              takes<SpaceToDepth>(13, {s(1, 8, 2, 0)}, blocks_of_two) &&
              refuses<SpaceToDepth>(1, {s(1, 8, 2, 3)}, blocks_of_two));
static_assert(takes<Trilu>(14, {s(2, 3), scalar}) && takes<Trilu>(14, {s(0, 2, 3), none}) &&
              refuses<Trilu>(14, {s(3)}) && refuses<microsoft::Trilu>(1, {s(2, 3), s(2)}));
static_assert(takes<Col2Im>(18, {s(1, 4, 5), s(2), s(2)}) && refuses<Col2Im>(18, {s(4, 5), s(2), s(2)}) &&
              takes<GlobalAveragePool>(1, {s(1, 2)}) && refuses<GlobalLpPool>(1, {s(1)}) &&
              takes<GlobalMaxPool>(22, {s(1, 2, 3, 4)}));
static_assert(takes<microsoft::MaxpoolWithMask>(1, {s(1, 2, 3, 4), s(1, 1, 3, 4)}) &&
              refuses<microsoft::MaxpoolWithMask>(1, {s(1, 2, 3, 4), s(1, 1, 3, 5)}) &&
              refuses<microsoft::MaxpoolWithMask>(1, {s(1, 2), s(1, 2)}));
static_assert(takes<nchwc::ReorderOutput>(1, {s(1, 32, 3, 4)}) && refuses<nchwc::MaxPool>(1, {s(1, 15, 3, 3)}) &&
              takes<nchwc::Upsample>(1, {s(1, 0, 3, 3)}) && takes<nchwc::Conv>(1, {s(1, 3, 3, 3), s(16, 3, 3, 3)}) &&
              takes<nchwc::ReorderInput>(1, {s(1, 3, 4, 5)}));
static_assert(takes<training::Adam>(1, {scalar, s(1), s(3)}) && refuses<training::Momentum>(1, {scalar, s(2), s(3)}));
static_assert(takes<NegativeLogLikelihoodLoss>(12, {s(2, 3), s(2), s(3)}) &&
              takes<SoftmaxCrossEntropyLoss>(13, {s(2, 3, 4), s(2, 4), none}) &&
              refuses<NegativeLogLikelihoodLoss>(22, {s(2, 3, 4), s(2, 4), s(2)}) &&
              refuses<NegativeLogLikelihoodLoss>(22, {s(2), s(2)}));
static_assert(takes<microsoft::BiasGelu>(1, {s(2, 3), s(3)}) && refuses<microsoft::BiasGelu>(1, {s(2, 3), s(1)}) &&
              refuses<microsoft::BiasGelu>(1, {scalar, s(1)}) && takes<microsoft::FastGelu>(1, {scalar, none}) &&
              takes<microsoft::FastGelu>(1, {s(2, 3), s(3)}) && refuses<microsoft::FastGelu>(1, {s(2, 3), s(1, 3)}));

TEST_CASE("op: every pattern of shapes is well-formed") {
  std::size_t patterns = 0;
  for (const op_row& op : cameo::detail::standard_ops())
    for (const op_version& version : op.versions) {
      if (!version.shapes) continue;
      CAPTURE(op.name);
      CAPTURE(version.shapes);
      std::size_t count = 0;
      for (std::string_view rest = version.shapes; !rest.empty(); ++count) {
        std::string_view choice = geometry::detail::take(rest, ' ');
        const bool is_length = choice.find('=') != std::string_view::npos;
        if (is_length) {
          const std::string_view name = geometry::detail::take(choice, '=');
          CHECK(std::ranges::count(version.attributes, name, &attribute_rule::name) == 1);
        }
        while (!choice.empty()) {
          const std::string_view pattern = geometry::detail::take(choice, '|');
          const bool is_list = pattern.size() >= 2 && pattern.front() == '[' && pattern.back() == ']';
          CHECK((is_length || is_list || pattern == "1" || pattern == "*"));
          CHECK(pattern.find_first_not_of("abcdefghijklmnopqrstuvwxyzKN_0123456789[],.+*?") == std::string_view::npos);
        }
      }
      patterns += count;
    }
  CHECK(patterns > 300);
}

}  // namespace shape_contracts
