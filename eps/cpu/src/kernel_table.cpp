// The list: one line per kernel, in the order of the operator list. The build collects the headers of all kernels.
#include <cameo/eps/cpu.hpp>
#include <cameo/eps/cpu/all_kernels.hpp>
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/entry_words.hpp>
#include <cameo/op/contrib.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/ml.hpp>
#include <cameo/op/nchwc.hpp>
#include <cameo/op/onnx.hpp>

#include "quantised/quantised_rows.hpp"
#include "skeletons/map_rows.hpp"
#include "skeletons/zip_rows.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

// clang-format off
using others = kernel_list<
    // elementwise, reductions, normalisation
    erased_entry<op::Pow, since<1, 7>, constrain<"T", float16, float, double>, binary<op::Pow>>,
    erased_entry<op::Pow, since<12>, base_types<"T"> && number_types<"T1">, binary<op::Pow>>,
    erased_entry<op::Where, since<9>, basic_types<"T">, where>,
    erased_entry<op::Clip, since<1>, number_types<"T">, clip>,
    erased_entry<op::Cast, since<1>, cast_types<"T1"> && cast_types<"T2">, cast>,
    erased_entry<op::CastLike, since<15>, cast_like_types<"T1"> && cast_like_types<"T2">, cast_like>,
    erased_entry<op::ReduceSum, since<1>, large_number_types<"T">, reduce<op::ReduceSum>>,
    erased_entry<op::ReduceMean, since<1>, large_number_types<"T">, reduce<op::ReduceMean>>,
    erased_entry<op::ReduceProd, since<1>, large_number_types<"T">, reduce<op::ReduceProd>>,
    erased_entry<op::ReduceL1, since<1>, large_number_types<"T">, reduce<op::ReduceL1>>,
    erased_entry<op::ReduceL2, since<1>, large_number_types<"T">, reduce<op::ReduceL2>>,
    erased_entry<op::ReduceLogSum, since<1>, large_number_types<"T">, reduce<op::ReduceLogSum>>,
    erased_entry<op::ReduceLogSumExp, since<1>, large_number_types<"T">, reduce<op::ReduceLogSumExp>>,
    erased_entry<op::ReduceSumSquare, since<1>, large_number_types<"T">, reduce<op::ReduceSumSquare>>,
    erased_entry<op::ReduceMax, since<1>, extreme_types<"T">, reduce<op::ReduceMax>>,
    erased_entry<op::ReduceMin, since<1>, extreme_types<"T">, reduce<op::ReduceMin>>,
    erased_entry<op::ArgMax, since<1>, number_types<"T">, arg_extreme<op::ArgMax>>,
    erased_entry<op::ArgMin, since<1>, number_types<"T">, arg_extreme<op::ArgMin>>,
    erased_entry<op::CumSum, since<11>, large_number_types<"T">, cumulative<op::CumSum>>,
    erased_entry<op::CumProd, since<26>, large_number_types<"T">, cumulative<op::CumProd>>,
    erased_entry<op::Softmax, since<1>, float_types<"T">, softmax<op::Softmax>>,
    erased_entry<op::LogSoftmax, since<1>, float_types<"T">, softmax<op::LogSoftmax>>,
    erased_entry<op::Hardmax, since<1>, float_types<"T">, softmax<op::Hardmax>>,
    erased_entry<op::BatchNormalization, since<1, 9>, constrain<"T", float16, float, double>, batch_normalization>,
    erased_entry<op::BatchNormalization, since<14, 14>, float_types<"T"> && float_types<"U">, batch_normalization>,
    erased_entry<op::BatchNormalization, since<15>, float_types<"T"> && float_types<"T1"> && float_types<"T2">,
                 batch_normalization>,
    erased_entry<op::InstanceNormalization, since<1>, float_types<"T">, group_normalization<op::InstanceNormalization>>,
    erased_entry<op::GroupNormalization, since<18>, float_types<"T">, group_normalization<op::GroupNormalization>>,
    erased_entry<op::contrib::LayerNormalization, since<1, 16>, float_types<"T"> && float_types<"V">,
                 layer_normalization<op::LayerNormalization>>,
    erased_entry<op::LayerNormalization, since<17>, float_types<"T"> && constrain<"U", float, bfloat16>,
                 layer_normalization<op::LayerNormalization>>,
    erased_entry<op::RMSNormalization, since<23>, float_types<"T"> && float_types<"V">,
                 layer_normalization<op::RMSNormalization>>,
    erased_entry<op::contrib::SimplifiedLayerNormalization, since<1>, float_types<"T"> && float_types<"V">,
                 layer_normalization<op::contrib::SimplifiedLayerNormalization>>,
    erased_entry<op::LpNormalization, since<1>, float_types<"T">, lp_normalization>,
    erased_entry<op::LRN, since<1>, float_types<"T">, lrn>,
    erased_entry<op::MeanVarianceNormalization, since<9>, float_types<"T">, mean_variance_normalization>,
    erased_entry<op::Dropout, since<1, 7>, constrain<"T", float16, float, double>, dropout>,
    erased_entry<op::Dropout, since<10>, float_types<"T">, dropout>,
    erased_entry<op::microsoft::SkipLayerNormalization, since<1>, constrain<"T", float16, bfloat16, float>,
                 skip_layer_normalization<op::microsoft::SkipLayerNormalization>>,
    erased_entry<op::microsoft::SkipSimplifiedLayerNormalization, since<1>, constrain<"T", float16, bfloat16, float>,
                 skip_layer_normalization<op::microsoft::SkipSimplifiedLayerNormalization>>,
    erased_entry<op::microsoft::EmbedLayerNormalization, since<1>, constrain<"T", float16, float>,
                 embed_layer_normalization>,
    erased_entry<op::microsoft::Attention, since<1>, constrain<"T", float16, bfloat16, float>, projected_attention>,
    erased_entry<op::microsoft::MultiHeadAttention, since<1>, constrain<"T", float16, bfloat16, float>,
                 multi_head_attention>,
    erased_entry<op::microsoft::GroupQueryAttention, since<1>, constrain<"T", float16, bfloat16, float> &&
                 constrain<"T_CACHE", float16, bfloat16, float>, group_query_attention>,
    // movement, sequences, strings, control flow
    erased_entry<op::Reshape, since<1>, any_types, reshape>,
    erased_entry<op::Flatten, since<1>, any_types, flatten>,
    erased_entry<op::Squeeze, since<1>, any_types, squeeze>,
    erased_entry<op::Unsqueeze, since<1>, any_types, unsqueeze>,
    erased_entry<op::Identity, since<1>, any_types, identity>,
    erased_entry<op::Shape, since<1>, any_types, shape_of>,
    erased_entry<op::Size, since<1>, any_types, size_of>,
    erased_entry<op::Constant, since<1>, any_types, constant>,
    erased_entry<op::ConstantOfShape, since<9>, any_types, constant_of_shape>,
    erased_entry<op::Transpose, since<1>, byte_types<"T">, transpose>,
    erased_entry<op::Concat, since<1>, basic_types<"T">, concat>,
    erased_entry<op::Split, since<1, 1>, constrain<"T", float16, float, double>, split>,
    erased_entry<op::Split, since<2>, basic_types<"T">, split>,
    erased_entry<op::Slice, since<1>, basic_types<"T">, slice>,
    erased_entry<op::Gather, since<1>, basic_types<"T">, gather>,
    erased_entry<op::GatherElements, since<11>, basic_types<"T">, gather_elements>,
    erased_entry<op::GatherND, since<11>, basic_types<"T">, gather_nd>,
    erased_entry<op::Scatter, since<9>, first_types<"T">, scatter_elements>,
    erased_entry<op::ScatterElements, since<11>, basic_types<"T">, scatter_elements>,
    erased_entry<op::ScatterND, since<11>, basic_types<"T">, scatter_nd>,
    erased_entry<op::Expand, since<8>, basic_types<"T">, expand>,
    erased_entry<op::Tile, since<1, 1>, constrain<"T", float16, float, double>, tile>,
    erased_entry<op::Tile, since<6>, basic_types<"T">, tile>,
    erased_entry<op::Pad, since<1>, byte_types<"T">, pad>,
    erased_entry<op::DepthToSpace, since<1>, basic_types<"T">, depth_to_space>,
    erased_entry<op::SpaceToDepth, since<1>, basic_types<"T">, space_to_depth>,
    erased_entry<op::Range, since<11>, any_types, range_of>,
    erased_entry<op::NonZero, since<9>, basic_types<"T">, non_zero>,
    erased_entry<op::OneHot, since<9>, basic_types<"T3">, one_hot>,
    erased_entry<op::EyeLike, since<9>, any_types, eye_like>,
    erased_entry<op::Compress, since<9>, basic_types<"T">, compress>,
    erased_entry<op::Unique, since<11>, real_types<"T">, unique>,
    erased_entry<op::TopK, since<1>, any_types, top_k>,
    erased_entry<op::ReverseSequence, since<10>, basic_types<"T">, reverse_sequence>,
    erased_entry<op::Trilu, since<14>, basic_types<"T">, trilu>,
    erased_entry<op::SequenceConstruct, since<11>, any_types, sequence_construct>,
    erased_entry<op::SequenceEmpty, since<11>, any_types, sequence_empty>,
    erased_entry<op::SequenceAt, since<11>, any_types, sequence_at>,
    erased_entry<op::SequenceInsert, since<11>, any_types, sequence_insert>,
    erased_entry<op::SequenceErase, since<11>, any_types, sequence_erase>,
    erased_entry<op::SequenceLength, since<11>, any_types, sequence_length>,
    erased_entry<op::SplitToSequence, since<11>, basic_types<"T">, split_to_sequence>,
    erased_entry<op::ConcatFromSequence, since<11>, any_types, concat_from_sequence>,
    erased_entry<op::SequenceMap, since<17>, any_types, sequence_map>,
    erased_entry<op::Optional, since<15>, any_types, optional_of>,
    erased_entry<op::OptionalHasElement, since<15>, any_types, optional_has_element>,
    erased_entry<op::OptionalGetElement, since<15>, any_types, optional_get_element>,
    erased_entry<op::If, since<1>, any_types, if_else>,
    erased_entry<op::Loop, since<1>, any_types, loop>,
    erased_entry<op::Scan, since<8, 8>, any_types, batched_scan>,
    erased_entry<op::Scan, since<9>, any_types, scan>,
    erased_entry<op::StringConcat, since<20>, any_types, string_concat>,
    erased_entry<op::StringSplit, since<20>, any_types, string_split>,
    erased_entry<op::StringNormalizer, since<10>, any_types, string_normalizer>,
#ifdef CAMEO_WITH_RE2
    erased_entry<op::RegexFullMatch, since<20>, any_types, regex_full_match>,
#endif
    // recurrence
    erased_entry<op::RNN, since<1>, any_types, recurrent<op::RNN>>,
    erased_entry<op::LSTM, since<1>, any_types, recurrent<op::LSTM>>,
    erased_entry<op::GRU, since<1>, any_types, recurrent<op::GRU>>,
    erased_entry<op::microsoft::DynamicQuantizeLSTM, since<1>, any_types,
                 recurrent<op::microsoft::DynamicQuantizeLSTM>>,
    // ai.onnx.ml
    erased_entry<op::ml::ZipMap, since<1>, any_types, zip_map>,
    erased_entry<op::ml::LinearRegressor, since<1>, any_types, linear_regressor>,
    erased_entry<op::ml::LinearClassifier, since<1>, any_types, linear_classifier>,
    erased_entry<op::ml::SVMRegressor, since<1>, any_types, svm_regressor>,
    erased_entry<op::ml::SVMClassifier, since<1>, any_types, svm_classifier>,
    erased_entry<op::ml::LabelEncoder, since<1>, any_types, label_encoder>,
    erased_entry<op::ml::CategoryMapper, since<1>, any_types, category_mapper>,
    erased_entry<op::ml::ArrayFeatureExtractor, since<1>, any_types, array_feature_extractor>,
    erased_entry<op::ml::DictVectorizer, since<1>, any_types, dict_vectorizer>,
    erased_entry<op::ml::Binarizer, since<1>, any_types, binarizer>,
    erased_entry<op::ml::Scaler, since<1>, any_types, scaler>,
    erased_entry<op::ml::Normalizer, since<1>, any_types, normalizer>,
    erased_entry<op::ml::Imputer, since<1>, any_types, imputer>,
    erased_entry<op::ml::FeatureVectorizer, since<1>, any_types, feature_vectorizer>,
    erased_entry<op::ml::OneHotEncoder, since<1>, any_types, one_hot_encoder>,
    erased_entry<op::ml::TreeEnsembleRegressor, since<1>, any_types, tree_ensemble_regressor>,
    erased_entry<op::ml::TreeEnsembleClassifier, since<1>, any_types, tree_ensemble_classifier>,
    erased_entry<op::ml::TreeEnsemble, since<5>, any_types, tree_ensemble>,
    // images, attention, spectra, losses, random numbers
    erased_entry<op::AffineGrid, since<20>, float_types<"T1">, affine_grid>,
    erased_entry<op::Resize, since<10>, any_types, resize>,
    erased_entry<op::Upsample, since<1>, any_types, upsample>,
    erased_entry<op::Attention, since<23>, any_types, attention>,
    erased_entry<op::RotaryEmbedding, since<23>, any_types, rotary_embedding>,
    erased_entry<op::TensorScatter, since<24>, any_types, tensor_scatter>,
    erased_entry<op::NonMaxSuppression, since<10>, any_types, non_max_suppression>,
    erased_entry<op::Einsum, since<12>, any_types, einsum>,
    erased_entry<op::SoftmaxCrossEntropyLoss, since<12>, any_types, loss>,
    erased_entry<op::NegativeLogLikelihoodLoss, since<12>, any_types, loss>,
    erased_entry<op::GridSample, since<16>, any_types, grid_sample>,
    erased_entry<op::RoiAlign, since<10>, any_types, roi_align>,
    erased_entry<op::MaxUnpool, since<9>, any_types, max_unpool>,
    erased_entry<op::Col2Im, since<18>, any_types, col2im>,
    erased_entry<op::CenterCropPad, since<18>, any_types, center_crop_pad>,
    erased_entry<op::BitCast, since<26>, any_types, bit_cast>,
    erased_entry<op::Det, since<11>, any_types, det>,
    erased_entry<op::DeformConv, since<19>, any_types, deform_conv>,
    erased_entry<op::DFT, since<17>, any_types, dft>,
    erased_entry<op::STFT, since<17>, any_types, stft>,
    erased_entry<op::MelWeightMatrix, since<17>, any_types, mel_weight_matrix>,
    erased_entry<op::RandomNormal, since<1>, any_types, random<op::RandomNormal>>,
    erased_entry<op::RandomUniform, since<1>, any_types, random<op::RandomUniform>>,
    erased_entry<op::RandomNormalLike, since<1>, any_types, random<op::RandomNormalLike>>,
    erased_entry<op::RandomUniformLike, since<1>, any_types, random<op::RandomUniformLike>>,
    erased_entry<op::Bernoulli, since<15>, any_types, random<op::Bernoulli>>,
    erased_entry<op::Multinomial, since<7>, any_types, random<op::Multinomial>>,
    // dense algebra, convolution, pooling
    kernel_entry<op::MatMul, since<1>, multiplied_types<"T">, matmul>,
    kernel_entry<op::Gemm, since<1>, multiplied_types<"T">, gemm>,
    kernel_entry<op::Conv, since<1>, constrain<"T", float, double, float16, bfloat16>, conv>,
    kernel_entry<op::ConvTranspose, since<1>, constrain<"T", float, double, float16, bfloat16>, conv_transpose>,
    kernel_entry<op::MaxPool, since<1>, constrain<"T", float, double, float16, bfloat16, std::int8_t, std::uint8_t>,
                 max_pool>,
    kernel_entry<op::AveragePool, since<1>, constrain<"T", float, double, float16, bfloat16>, average_pool>,
    kernel_entry<op::LpPool, since<1>, constrain<"T", float, double, float16, bfloat16>, lp_pool>,
    kernel_entry<op::GlobalAveragePool, since<1>, constrain<"T", float, double, float16, bfloat16>,
                 global_average_pool>,
    kernel_entry<op::microsoft::NhwcMaxPool, since<1>, constrain<"T", std::int8_t, std::uint8_t>, nhwc_max_pool>,
    kernel_entry<op::GlobalMaxPool, since<1>, constrain<"T", float, double, float16, bfloat16>, global_max_pool>,
    kernel_entry<op::GlobalLpPool, since<1>, constrain<"T", float, double, float16, bfloat16>, global_lp_pool>,
    kernel_entry<op::microsoft::FusedMatMul, since<1>, constrain<"T", float, double, float16, bfloat16>, matmul>,
    kernel_entry<op::microsoft::FusedGemm, since<1>, constrain<"T", float, double, float16>, fused_gemm>,
    // channels in blocks
    erased_entry<op::nchwc::ReorderInput, since<1>, constrain<"T", float>, nchwc_reorder_input>,
    erased_entry<op::nchwc::ReorderOutput, since<1>, constrain<"T", float>, nchwc_reorder_output>,
    erased_entry<op::nchwc::Conv, since<1>, constrain<"T", float>, nchwc_conv>,
    erased_entry<op::nchwc::MaxPool, since<1>, constrain<"T", float>, nchwc_max_pool>,
    erased_entry<op::nchwc::AveragePool, since<1>, constrain<"T", float>, nchwc_average_pool>,
    erased_entry<op::nchwc::GlobalMaxPool, since<1>, constrain<"T", float>, nchwc_global_max_pool>,
    erased_entry<op::nchwc::GlobalAveragePool, since<1>, constrain<"T", float>, nchwc_global_average_pool>,
    erased_entry<op::nchwc::Upsample, since<1>, constrain<"T", float>, nchwc_upsample>,
    kernel_entry<op::microsoft::FusedConv, since<1>, constrain<"T", float, double, float16>, fused_conv>
>;
// clang-format on
using list = decltype(all_maps{} + (all_zips{} + (quantised_rows{} + others{})));

[[maybe_unused]] constexpr lacking_kernel without_re2[] = {
    {op_id_of<op::RegexFullMatch>,
     "this build of cameo has no RE2; install RE2 (Debian: libre2-dev) and build cameo again, with CAMEO_RE2=ON"}};
constexpr std::span<const lacking_kernel> lacking{
#ifndef CAMEO_WITH_RE2
    without_re2
#endif
};

}  // namespace

constinit const kernel_table cpu_kernels::table{list::table.rows, list::table.rules, list::table.ops, lacking};
std::span<const entry_words> cpu_kernels::words() { return entry_words_of<list>(); }

}  // namespace cameo::inline CAMEO_ABI::eps
