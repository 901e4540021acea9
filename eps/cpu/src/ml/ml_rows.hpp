#pragma once
#include <cameo/eps/cpu/ml_features.hpp>
#include <cameo/eps/cpu/ml_labels.hpp>
#include <cameo/eps/cpu/ml_linear.hpp>
#include <cameo/eps/cpu/ml_trees.hpp>
#include <cameo/op/ml.hpp>

#include "skeletons/row_list.hpp"

namespace CAMEO_NAMESPACE::eps {

/// The operators of the domain ai.onnx.ml.
// clang-format off
using ml_rows = row_list<
    takes_any<op::ml::ZipMap, since<1>, zip_map>,
    computes<op::ml::LinearRegressor, since<1>, linear_regressor>,
    computes<op::ml::LinearClassifier, since<1>, linear_classifier>,
    computes<op::ml::SVMRegressor, since<1>, svm_regressor>,
    computes<op::ml::SVMClassifier, since<1>, svm_classifier>,
    computes<op::ml::LabelEncoder, since<1>, label_encoder, "T1", "T2">,
    computes<op::ml::CategoryMapper, since<1>, category_mapper, "T1", "T2">,
    moves<op::ml::ArrayFeatureExtractor, since<1>, array_feature_extractor>,
    computes<op::ml::CastMap, since<1>, cast_map, "T2">,
    computes<op::ml::DictVectorizer, since<1>, dict_vectorizer, "T2">,
    computes<op::ml::Binarizer, since<1>, binarizer>,
    computes<op::ml::Scaler, since<1>, scaler>,
    computes<op::ml::Normalizer, since<1>, normalizer>,
    computes<op::ml::Imputer, since<1>, imputer>,
    computes<op::ml::FeatureVectorizer, since<1>, feature_vectorizer>,
    computes<op::ml::OneHotEncoder, since<1>, one_hot_encoder>,
    computes<op::ml::TreeEnsembleRegressor, since<1>, tree_ensemble_regressor>,
    computes<op::ml::TreeEnsembleClassifier, since<1>, tree_ensemble_classifier>,
    computes<op::ml::TreeEnsemble, since<5>, tree_ensemble>
>;
// clang-format on

}  // namespace CAMEO_NAMESPACE::eps
