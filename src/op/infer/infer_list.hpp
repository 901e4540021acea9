#pragma once
#include <cameo/op/contrib.hpp>
#include <cameo/op/cost.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/ml.hpp>
#include <cameo/op/nchwc.hpp>
#include <cameo/op/onnx.hpp>
#include <cameo/op/preview.hpp>
#include <cameo/op/training.hpp>

namespace CAMEO_NAMESPACE {

/// Shape functions. Several operators may share one.
namespace infer {
using signature = status(infer_context&);
signature like_input, pointwise, broadcast, identity, add, subtract, multiply, divide, gated, qlinear_binary, where,
    prelu, cast, cast_like, bit_cast, dropout, quantize_linear, dequantize_linear, dynamic_quantize_linear;
signature reduce, normalize, arg_extreme, cumulative, top_k;
signature constant, constant_of_shape, range, eye_like, random, random_like, multinomial, window, expand;
signature shape, size, reshape, flatten, transpose, squeeze, unsqueeze, depth_to_space, space_to_depth, tile;
signature concat, qlinear_concat, split, slice, pad, upsample, resize;
signature gather, gather_elements, gather_nd, scatter_elements, scatter_nd, tensor_scatter, compress, unique, non_zero,
    one_hot, non_max_suppression;
signature matmul, matmul_integer, matmul_integer_to_float, qlinear_matmul, gemm, qgemm, einsum;
signature conv, conv_integer, qlinear_conv, conv_transpose, pool, pool_of_channels_last, global_pool, max_unpool,
    max_roi_pool, roi_align, grid_sample;
signature nchwc_conv, nchwc_reorder_input, nchwc_reorder_output, nchwc_upsample;
signature batch_normalization, layer_normalization, recurrent;
signature attention, loss, determinant, affine_grid, center_crop_pad, col2im, deform_conv;
signature dft, stft, mel_weight_matrix;
signature if_, loop, scan, sequence_map, flex_attention;
signature sequence_construct, sequence_empty, sequence_at, sequence_erase, sequence_insert, sequence_length,
    concat_from_sequence, split_to_sequence, optional, optional_has_element, optional_get_element, string_split,
    string_normalizer;
signature fused_matmul, matmul_nbits, gather_block_quantized, skip_layer_normalization, expand_dims;
signature projected_attention, multi_head_attention, group_query_attention, embed_layer_normalization;
signature gradient, varlen_ngram_hash, sparse_attention, sparse_matmul, token_search, beam_search;
signature murmur_hash, linear_attention, optimizer, optimizer_with_two, unique_of_list, quantized_embedding;
signature ml_float_like_input, ml_array_feature_extractor, ml_label_encoder, ml_category_mapper, ml_dict_vectorizer,
    ml_feature_vectorizer, ml_one_hot_encoder, ml_cast_map, ml_regressor, ml_linear_regressor, ml_tree_ensemble,
    ml_classifier, ml_linear_classifier, ml_zip_map;
}  // namespace infer

/// Functions that count the operations of a node; see op/cost.hpp.
namespace cost {
using number = std::optional<double>;
using signature = number(const detail::node_in_run&);
signature nothing, each_output, each_input;
signature product, einsum, conv, qlinear_conv, conv_transpose, pool, recurrent;
signature attention, multi_head_attention, group_query_attention, projected_attention;
}  // namespace cost

namespace detail {
struct infer_row {
  op_id id{};
  infer_function infer = nullptr;
  cost::signature* cost = nullptr;  // null: implied by roles
};

/// The shape function that roles imply.
constexpr infer_function infer_of(role roles) {
  if (has_role(roles, role::is_pointwise)) return infer::pointwise;
  if (has_role(roles, role::broadcasts)) return infer::broadcast;
  if (has_role(roles, role::normalizes)) return infer::normalize;
  return has_role(roles, role::reduces) ? infer::reduce : infer_nothing;
}

/// The only list of what roles do not imply: one row per operator, with its shape function and, where roles do not
/// imply the number of operations, a function that counts them. Operators without a shape function leave their outputs
/// unknown.
inline constexpr auto infer_rows = std::to_array<infer_row>({
    // Elementwise
    {op_id_of<op::MeanVarianceNormalization>, infer::like_input, cost::each_input},
    {op_id_of<op::GroupNormalization>, infer::like_input, cost::each_input},
    {op_id_of<op::contrib::ImageScaler>, infer::like_input, cost::each_input},
    {op_id_of<op::ReverseSequence>, infer::like_input},
    {op_id_of<op::RotaryEmbedding>, infer::like_input, cost::each_output},
    {op_id_of<op::TensorScatter>, infer::tensor_scatter, cost::nothing},
    {op_id_of<op::Trilu>, infer::like_input, cost::nothing},
    {op_id_of<op::Identity>, infer::identity},
    {op_id_of<op::Add>, infer::add},
    {op_id_of<op::Sub>, infer::subtract},
    {op_id_of<op::Mul>, infer::multiply},
    {op_id_of<op::Div>, infer::divide},
    {op_id_of<op::SwiGLU>, infer::gated, cost::each_output},
    {op_id_of<op::Where>, infer::where},
    {op_id_of<op::PRelu>, infer::prelu, cost::each_output},
    {op_id_of<op::Cast>, infer::cast},
    {op_id_of<op::CastLike>, infer::cast_like},
    {op_id_of<op::BitCast>, infer::bit_cast},
    {op_id_of<op::Dropout>, infer::dropout},
    {op_id_of<op::QuantizeLinear>, infer::quantize_linear, cost::each_output},
    {op_id_of<op::DequantizeLinear>, infer::dequantize_linear, cost::each_output},
    {op_id_of<op::DynamicQuantizeLinear>, infer::dynamic_quantize_linear, cost::each_input},
    // Operators along axes
    {op_id_of<op::ArgMax>, infer::arg_extreme, cost::each_input},
    {op_id_of<op::ArgMin>, infer::arg_extreme, cost::each_input},
    {op_id_of<op::CumProd>, infer::cumulative, cost::each_input},
    {op_id_of<op::CumSum>, infer::cumulative, cost::each_input},
    {op_id_of<op::TopK>, infer::top_k},
    // Sources of values
    {op_id_of<op::Constant>, infer::constant},
    {op_id_of<op::ConstantOfShape>, infer::constant_of_shape, cost::nothing},
    {op_id_of<op::Range>, infer::range, cost::each_output},
    {op_id_of<op::EyeLike>, infer::eye_like, cost::nothing},
    {op_id_of<op::RandomNormal>, infer::random},
    {op_id_of<op::RandomUniform>, infer::random},
    {op_id_of<op::Bernoulli>, infer::random_like},
    {op_id_of<op::RandomNormalLike>, infer::random_like},
    {op_id_of<op::RandomUniformLike>, infer::random_like},
    {op_id_of<op::Multinomial>, infer::multinomial},
    {op_id_of<op::BlackmanWindow>, infer::window},
    {op_id_of<op::HammingWindow>, infer::window},
    {op_id_of<op::HannWindow>, infer::window},
    {op_id_of<op::Expand>, infer::expand},
    // Shapes
    {op_id_of<op::Shape>, infer::shape, cost::nothing},
    {op_id_of<op::Size>, infer::size, cost::nothing},
    {op_id_of<op::Reshape>, infer::reshape},
    {op_id_of<op::Flatten>, infer::flatten},
    {op_id_of<op::Transpose>, infer::transpose},
    {op_id_of<op::Squeeze>, infer::squeeze},
    {op_id_of<op::Unsqueeze>, infer::unsqueeze},
    {op_id_of<op::DepthToSpace>, infer::depth_to_space},
    {op_id_of<op::SpaceToDepth>, infer::space_to_depth},
    {op_id_of<op::Tile>, infer::tile},
    // Joining and splitting
    {op_id_of<op::Concat>, infer::concat, cost::nothing},
    {op_id_of<op::Split>, infer::split, cost::nothing},
    {op_id_of<op::Slice>, infer::slice},
    {op_id_of<op::Pad>, infer::pad, cost::nothing},
    {op_id_of<op::Upsample>, infer::upsample, cost::each_output},
    {op_id_of<op::Resize>, infer::resize, cost::each_output},
    // Indexing
    {op_id_of<op::Gather>, infer::gather},
    {op_id_of<op::GatherElements>, infer::gather_elements},
    {op_id_of<op::GatherND>, infer::gather_nd},
    {op_id_of<op::Scatter>, infer::scatter_elements, cost::nothing},
    {op_id_of<op::ScatterElements>, infer::scatter_elements, cost::nothing},
    {op_id_of<op::ScatterND>, infer::scatter_nd, cost::nothing},
    {op_id_of<op::Compress>, infer::compress, cost::nothing},
    {op_id_of<op::Unique>, infer::unique},
    {op_id_of<op::NonZero>, infer::non_zero},
    {op_id_of<op::OneHot>, infer::one_hot},
    {op_id_of<op::NonMaxSuppression>, infer::non_max_suppression},
    // Matrix products
    {op_id_of<op::MatMul>, infer::matmul, cost::product},
    {op_id_of<op::MatMulInteger>, infer::matmul_integer, cost::product},
    {op_id_of<op::QLinearMatMul>, infer::qlinear_matmul, cost::product},
    {op_id_of<op::Gemm>, infer::gemm, cost::product},
    {op_id_of<op::Einsum>, infer::einsum, cost::einsum},
    // Sliding windows
    {op_id_of<op::Conv>, infer::conv, cost::conv},
    {op_id_of<op::ConvInteger>, infer::conv_integer, cost::conv},
    {op_id_of<op::QLinearConv>, infer::qlinear_conv, cost::qlinear_conv},
    {op_id_of<op::ConvTranspose>, infer::conv_transpose, cost::conv_transpose},
    {op_id_of<op::AveragePool>, infer::pool, cost::pool},
    {op_id_of<op::LpPool>, infer::pool, cost::pool},
    {op_id_of<op::MaxPool>, infer::pool, cost::pool},
    {op_id_of<op::GlobalAveragePool>, infer::global_pool, cost::each_input},
    {op_id_of<op::GlobalLpPool>, infer::global_pool, cost::each_input},
    {op_id_of<op::GlobalMaxPool>, infer::global_pool, cost::each_input},
    {op_id_of<op::MaxUnpool>, infer::max_unpool},
    {op_id_of<op::MaxRoiPool>, infer::max_roi_pool},
    {op_id_of<op::RoiAlign>, infer::roi_align},
    {op_id_of<op::GridSample>, infer::grid_sample},
    // Normalization and recurrence
    {op_id_of<op::BatchNormalization>, infer::batch_normalization, cost::each_input},
    {op_id_of<op::InstanceNormalization>, infer::like_input, cost::each_input},
    {op_id_of<op::LRN>, infer::like_input},
    {op_id_of<op::LayerNormalization>, infer::layer_normalization, cost::each_input},
    {op_id_of<op::RMSNormalization>, infer::layer_normalization, cost::each_input},
    {op_id_of<op::contrib::SimplifiedLayerNormalization>, infer::layer_normalization, cost::each_input},
    {op_id_of<op::GRU>, infer::recurrent, cost::recurrent},
    {op_id_of<op::LSTM>, infer::recurrent, cost::recurrent},
    {op_id_of<op::RNN>, infer::recurrent, cost::recurrent},
    // Attention, losses, and single operators
    {op_id_of<op::Attention>, infer::attention, cost::attention},
    {op_id_of<op::LinearAttention>, infer::linear_attention},
    {op_id_of<op::NegativeLogLikelihoodLoss>, infer::loss},
    {op_id_of<op::SoftmaxCrossEntropyLoss>, infer::loss},
    {op_id_of<op::Det>, infer::determinant},
    {op_id_of<op::AffineGrid>, infer::affine_grid},
    {op_id_of<op::CenterCropPad>, infer::center_crop_pad, cost::nothing},
    {op_id_of<op::Col2Im>, infer::col2im},
    {op_id_of<op::DeformConv>, infer::deform_conv, cost::conv},
    {op_id_of<op::DFT>, infer::dft},
    {op_id_of<op::STFT>, infer::stft},
    {op_id_of<op::MelWeightMatrix>, infer::mel_weight_matrix},
    // Control flow
    {op_id_of<op::If>, infer::if_},
    {op_id_of<op::Loop>, infer::loop},
    {op_id_of<op::Scan>, infer::scan},
    {op_id_of<op::SequenceMap>, infer::sequence_map},
    // Sequences, optionals, strings
    {op_id_of<op::SequenceConstruct>, infer::sequence_construct},
    {op_id_of<op::SequenceEmpty>, infer::sequence_empty},
    {op_id_of<op::SequenceAt>, infer::sequence_at},
    {op_id_of<op::SequenceErase>, infer::sequence_erase},
    {op_id_of<op::SequenceInsert>, infer::sequence_insert},
    {op_id_of<op::SequenceLength>, infer::sequence_length},
    {op_id_of<op::ConcatFromSequence>, infer::concat_from_sequence},
    {op_id_of<op::SplitToSequence>, infer::split_to_sequence},
    {op_id_of<op::Optional>, infer::optional},
    {op_id_of<op::OptionalHasElement>, infer::optional_has_element},
    {op_id_of<op::OptionalGetElement>, infer::optional_get_element},
    {op_id_of<op::StringSplit>, infer::string_split},
    {op_id_of<op::StringNormalizer>, infer::string_normalizer},
    // com.microsoft
    {op_id_of<op::microsoft::BiasGelu>, infer::like_input, cost::each_input},
    {op_id_of<op::microsoft::BiasSoftmax>, infer::like_input, cost::each_input},
    {op_id_of<op::microsoft::FastGelu>, infer::like_input, cost::each_input},
    {op_id_of<op::microsoft::Gelu>, infer::like_input, cost::each_input},
    {op_id_of<op::microsoft::QuickGelu>, infer::like_input, cost::each_input},
    {op_id_of<op::microsoft::RotaryEmbedding>, infer::like_input, cost::each_input},
    {op_id_of<op::microsoft::Trilu>, infer::like_input, cost::nothing},
    {op_id_of<op::microsoft::QGemm>, infer::qgemm, cost::product},
    {op_id_of<op::microsoft::QLinearConv>, infer::qlinear_conv, cost::qlinear_conv},
    {op_id_of<op::microsoft::QLinearAveragePool>, infer::pool, cost::pool},
    {op_id_of<op::microsoft::QLinearGlobalAveragePool>, infer::global_pool, cost::each_input},
    {op_id_of<op::microsoft::NhwcMaxPool>, infer::pool_of_channels_last, cost::pool},
    {op_id_of<op::microsoft::QLinearAdd>, infer::qlinear_binary, cost::each_output},
    {op_id_of<op::microsoft::QLinearMul>, infer::qlinear_binary, cost::each_output},
    {op_id_of<op::microsoft::QLinearConcat>, infer::qlinear_concat, cost::nothing},
    {op_id_of<op::microsoft::QLinearLeakyRelu>, infer::like_input, cost::each_input},
    {op_id_of<op::microsoft::QLinearSigmoid>, infer::like_input, cost::each_input},
    {op_id_of<op::microsoft::QLinearSoftmax>, infer::like_input, cost::each_input},
    {op_id_of<op::microsoft::GroupNorm>, infer::like_input, cost::each_input},
    {op_id_of<op::microsoft::BiasAdd>, infer::like_input, cost::each_input},
    {op_id_of<op::microsoft::FusedGemm>, infer::gemm, cost::product},
    {op_id_of<op::microsoft::FusedConv>, infer::conv, cost::conv},
    {op_id_of<op::microsoft::FusedMatMul>, infer::fused_matmul, cost::product},
    {op_id_of<op::microsoft::TransposeMatMul>, infer::fused_matmul, cost::product},
    {op_id_of<op::microsoft::SkipLayerNormalization>, infer::skip_layer_normalization, cost::each_input},
    {op_id_of<op::microsoft::SkipSimplifiedLayerNormalization>, infer::skip_layer_normalization, cost::each_input},
    {op_id_of<op::microsoft::EmbedLayerNormalization>, infer::embed_layer_normalization},
    {op_id_of<op::microsoft::Attention>, infer::projected_attention, cost::projected_attention},
    {op_id_of<op::microsoft::MultiHeadAttention>, infer::multi_head_attention, cost::multi_head_attention},
    {op_id_of<op::microsoft::GroupQueryAttention>, infer::group_query_attention, cost::group_query_attention},
    {op_id_of<op::microsoft::QuantizeLinear>, infer::quantize_linear, cost::each_input},
    {op_id_of<op::microsoft::DequantizeLinear>, infer::dequantize_linear, cost::each_input},
    {op_id_of<op::microsoft::ExpandDims>, infer::expand_dims, cost::nothing},
    {op_id_of<op::microsoft::Range>, infer::range},
    {op_id_of<op::microsoft::GatherND>, infer::gather_nd, cost::nothing},
    {op_id_of<op::microsoft::MatMulInteger16>, infer::matmul_integer, cost::product},
    {op_id_of<op::microsoft::DynamicQuantizeMatMul>, infer::matmul, cost::product},
    {op_id_of<op::microsoft::MatMulIntegerToFloat>, infer::matmul_integer_to_float, cost::product},
    {op_id_of<op::microsoft::GatherBlockQuantized>, infer::gather_block_quantized, cost::nothing},
    {op_id_of<op::microsoft::MatMulNBits>, infer::matmul_nbits, cost::product},
    {op_id_of<op::microsoft::BranchwiseRMSNorm>, infer::like_input, cost::each_input},
    {op_id_of<op::microsoft::EngramGate>, infer::like_input, cost::each_input},
    {op_id_of<op::microsoft::GatedAdd>, infer::like_input, cost::each_input},
    {op_id_of<op::microsoft::GatedRMSNorm>, infer::like_input, cost::each_input},
    {op_id_of<op::microsoft::HyperConnectionPostMix>, infer::like_input, cost::each_input},
    {op_id_of<op::microsoft::Inverse>, infer::like_input},
    {op_id_of<op::microsoft::LinearAttention>, infer::linear_attention},
    {op_id_of<op::microsoft::LinearAttentionGate>, infer::like_input, cost::each_input},
    {op_id_of<op::microsoft::MRotaryEmbedding>, infer::like_input, cost::each_input},
    {op_id_of<op::microsoft::MoE>, infer::like_input},
    {op_id_of<op::microsoft::AttnLSTM>, infer::recurrent, cost::recurrent},
    {op_id_of<op::microsoft::BeamSearch>, infer::beam_search},
    {op_id_of<op::microsoft::WhisperBeamSearch>, infer::beam_search},
    {op_id_of<op::microsoft::GreedySearch>, infer::token_search},
    {op_id_of<op::microsoft::Sampling>, infer::token_search},
    {op_id_of<op::microsoft::SparseAttention>, infer::sparse_attention},
    {op_id_of<op::microsoft::SparseToDenseMatMul>, infer::sparse_matmul},
    {op_id_of<op::microsoft::VarlenNGramHashMapping>, infer::varlen_ngram_hash},
    {op_id_of<op::microsoft::MurmurHash3>, infer::murmur_hash, cost::each_input},
    {op_id_of<op::microsoft::QMoE>, infer::like_input},
    {op_id_of<op::microsoft::QEmbedLayerNormalization>, infer::quantized_embedding},
    {op_id_of<op::microsoft::SampleOp>, infer::identity, cost::nothing},
    {op_id_of<op::microsoft::ScaledSiLU>, infer::like_input, cost::each_input},
    {op_id_of<op::microsoft::GridSample>, infer::grid_sample},
    {op_id_of<op::microsoft::Unique>, infer::unique_of_list},
    // ai.onnx.preview
    {op_id_of<op::preview::FlexAttention>, infer::flex_attention},
    // ai.onnx.preview.training
    {op_id_of<op::training::Adagrad>, infer::optimizer, cost::each_input},
    {op_id_of<op::training::Adam>, infer::optimizer_with_two, cost::each_input},
    {op_id_of<op::training::Gradient>, infer::gradient},
    {op_id_of<op::training::Momentum>, infer::optimizer, cost::each_input},
    // com.microsoft.nchwc
    {op_id_of<op::nchwc::AveragePool>, infer::pool, cost::pool},
    {op_id_of<op::nchwc::Conv>, infer::nchwc_conv, cost::conv},
    {op_id_of<op::nchwc::GlobalAveragePool>, infer::global_pool, cost::each_input},
    {op_id_of<op::nchwc::GlobalMaxPool>, infer::global_pool, cost::each_input},
    {op_id_of<op::nchwc::MaxPool>, infer::pool, cost::pool},
    {op_id_of<op::nchwc::ReorderInput>, infer::nchwc_reorder_input, cost::nothing},
    {op_id_of<op::nchwc::ReorderOutput>, infer::nchwc_reorder_output, cost::nothing},
    {op_id_of<op::nchwc::Upsample>, infer::nchwc_upsample, cost::nothing},
    // ai.onnx.ml
    {op_id_of<op::ml::ArrayFeatureExtractor>, infer::ml_array_feature_extractor},
    {op_id_of<op::ml::Binarizer>, infer::like_input, cost::each_input},
    {op_id_of<op::ml::CastMap>, infer::ml_cast_map},
    {op_id_of<op::ml::CategoryMapper>, infer::ml_category_mapper},
    {op_id_of<op::ml::DictVectorizer>, infer::ml_dict_vectorizer},
    {op_id_of<op::ml::FeatureVectorizer>, infer::ml_feature_vectorizer},
    {op_id_of<op::ml::Imputer>, infer::like_input, cost::each_input},
    {op_id_of<op::ml::LabelEncoder>, infer::ml_label_encoder},
    {op_id_of<op::ml::LinearClassifier>, infer::ml_linear_classifier},
    {op_id_of<op::ml::LinearRegressor>, infer::ml_linear_regressor},
    {op_id_of<op::ml::Normalizer>, infer::ml_float_like_input, cost::each_input},
    {op_id_of<op::ml::OneHotEncoder>, infer::ml_one_hot_encoder},
    {op_id_of<op::ml::SVMClassifier>, infer::ml_classifier},
    {op_id_of<op::ml::SVMRegressor>, infer::ml_regressor},
    {op_id_of<op::ml::Scaler>, infer::ml_float_like_input, cost::each_input},
    {op_id_of<op::ml::TreeEnsemble>, infer::ml_tree_ensemble},
    {op_id_of<op::ml::TreeEnsembleClassifier>, infer::ml_classifier},
    {op_id_of<op::ml::TreeEnsembleRegressor>, infer::ml_regressor},
    {op_id_of<op::ml::ZipMap>, infer::ml_zip_map},
});

/// The function is not constexpr: a call ends constant evaluation, and the compiler's error names the function.
void infer_rows_names_an_operator_twice_or_one_that_is_not_in_the_list();

/// The rows with their shape functions filled in. A row of `infer_rows` that names no operator does not compile.
template <std::size_t N>
consteval std::array<op_row, N> with_infer_functions(std::array<op_row, N> rows) {
  auto sorted = infer_rows;
  sort_rows(sorted.data(), sorted.size(), [](const infer_row& a, const infer_row& b) { return a.id < b.id; });
  std::size_t used = 0;
  for (op_row& row : rows)
    row.infer = used < sorted.size() && sorted[used].id == row.id ? sorted[used++].infer : infer_of(row.roles);
  if (used != sorted.size()) infer_rows_names_an_operator_twice_or_one_that_is_not_in_the_list();
  return rows;
}
}  // namespace detail

}  // namespace CAMEO_NAMESPACE
