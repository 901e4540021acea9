#pragma once
#include <cameo/eps/cpu/regex_full_match.hpp>
#include <cameo/eps/cpu/string.hpp>
#include <cameo/eps/cpu/tfidf_vectorizer.hpp>
#include <cameo/eps/cpu/tokenizer.hpp>
#include <cameo/eps/cpu/tokens.hpp>
#include <cameo/eps/cpu/word_embedding.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/onnx.hpp>

#include "skeletons/row_list.hpp"

namespace CAMEO_NAMESPACE::eps {

/// The operators of strings and tokens.
// clang-format off
using text_rows = row_list<
#ifdef CAMEO_WITH_RE2
    computes<op::RegexFullMatch, since<20>, regex_full_match>,
    computes<op::microsoft::Tokenizer, since<1>, tokenizer>,
#endif
    computes<op::StringConcat, since<20>, string_concat>,
    computes<op::StringSplit, since<20>, string_split>,
    takes_any<op::StringNormalizer, since<10>, string_normalizer>,
    computes<op::TfIdfVectorizer, since<9>, tfidf_vectorizer>,
    computes<op::microsoft::WordConvEmbedding, since<1>, word_conv_embedding, "T1">,
    computes<op::microsoft::NGramRepeatBlock, since<1>, ngram_repeat_block, "T">,
    computes<op::microsoft::BifurcationDetector, since<1>, bifurcation_detector>,
    computes<op::microsoft::NGramHashMapping, since<1>, ngram_hash>,
    computes<op::microsoft::VarlenNGramHashMapping, since<1>, varlen_ngram_hash>,
    computes<op::microsoft::MurmurHash3, since<1>, murmur_hash>
>;
// clang-format on

}  // namespace CAMEO_NAMESPACE::eps
