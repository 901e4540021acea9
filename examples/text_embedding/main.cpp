// The similarity of sentences: a tokenizer, a transformer, the mean of its outputs for the tokens, and the cosines
// between these means. The model (examples/make_models.py) has the architecture of MiniLM and random weights, so equal
// words give similar sentences, but words of similar meaning do not. Usage: example_text_embedding MODEL VOCABULARY
// SENTENCES [EXPECTED IDS]
//
//     1.000  0.817  0.426  0.801   The cat is sleeping on the warm sofa.
//     0.817  1.000  0.635  0.861   A cat sleeps on a sofa, warmly.
//     ...
//
// With EXPECTED and IDS, .npy files of cosines and tokens, the exit status is 0 only if both agree.
#include "../digits/npy.hpp"
#include "tokenizer.hpp"

#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace {

using runtime = cameo::runtime<cameo::eps::cpu>;

/// The sentences of one run, padded to the same length with [PAD], which the mask excludes.
struct batch {
  std::int64_t rows = 0, longest = 0;
  std::vector<std::int64_t> ids, mask, types;
};

batch make_batch(const examples::tokenizer& tokenize, const std::vector<std::string>& sentences) {
  std::vector<std::vector<std::int64_t>> tokens;
  for (const std::string& each : sentences) tokens.push_back(tokenize(each));
  batch made;
  made.rows = std::int64_t(tokens.size());
  for (const auto& row : tokens) made.longest = std::max(made.longest, std::int64_t(row.size()));
  for (auto& row : tokens) {
    const std::size_t padding = std::size_t(made.longest) - row.size();
    made.mask.insert(made.mask.end(), row.size(), 1);
    made.mask.insert(made.mask.end(), padding, 0);
    made.ids.insert(made.ids.end(), row.begin(), row.end());
    made.ids.insert(made.ids.end(), padding, tokenize["[PAD]"]);
  }
  made.types.resize(made.ids.size());
  return made;
}

/// For each row, the mean over the tokens with mask 1, normalized to length 1.
std::vector<std::vector<float>> means(const cameo::tensor_view<const float>& hidden, const batch& from) {
  const std::int64_t width = hidden.dim(2);
  std::vector<std::vector<float>> all;
  for (std::int64_t row = 0; row < from.rows; ++row) {
    std::vector<float> mean(std::size_t(width), 0);
    for (std::int64_t t = row * from.longest; t < (row + 1) * from.longest; ++t)
      for (std::int64_t i = 0; from.mask[std::size_t(t)] && i < width; ++i)
        mean[std::size_t(i)] += hidden[t * width + i];
    float length = 0;
    for (const float m : mean) length += m * m;
    for (float& m : mean) m /= std::sqrt(length);
    all.push_back(std::move(mean));
  }
  return all;
}

/// Returns 0 if the tokens and cosines are those of the files.
int compare(const batch& tokens, const std::vector<float>& cosines, const char* expected, const char* ids) {
  const auto numbers = digits::read_npy<float>(expected, "<f4");
  const bool same = digits::read_npy<std::int64_t>(ids, "<i8").elements == tokens.ids;
  float largest = numbers.elements.size() == cosines.size() ? 0 : 1;
  for (std::size_t i = 0; largest < 1 && i < cosines.size(); ++i)
    largest = std::max(largest, std::abs(cosines[i] - numbers.elements[i]));
  std::printf("the same tokens: %s; largest difference: %.1e\n", same ? "yes" : "no", double(largest));
  return same && largest < 1e-4f ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 6) {
    std::fprintf(stderr, "usage: %s MODEL VOCABULARY SENTENCES [EXPECTED IDS]\n", argv[0]);
    return 2;
  }
  const examples::tokenizer tokenize{argv[2]};
  std::vector<std::string> sentences;
  std::ifstream file{argv[3]};
  for (std::string line; std::getline(file, line);) sentences.push_back(line);
  if (!tokenize.complete() || sentences.empty()) {
    std::fprintf(stderr, "no vocabulary in %s, or no sentences in %s\n", argv[2], argv[3]);
    return 1;
  }
  auto session = runtime{}.load(argv[1]);
  if (!session) return cameo::report(session.error());

  const batch tokens = make_batch(tokenize, sentences);
  const cameo::extents shape{tokens.rows, tokens.longest};
  auto outputs = session->run({{"input_ids", tokens.ids, shape},
                               {"attention_mask", tokens.mask, shape},
                               {"token_type_ids", tokens.types, shape}});
  if (!outputs) return cameo::report(outputs.error());

  const auto hidden = outputs->get<float>("last_hidden_state");
  if (!hidden) return cameo::report(hidden.error());
  const auto embeddings = means(*hidden, tokens);
  std::vector<float> cosines;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    for (const auto& other : embeddings) {
      cosines.push_back(std::inner_product(other.begin(), other.end(), embeddings[i].begin(), 0.0f));
      std::printf("%6.3f ", double(cosines.back()));
    }
    std::printf("  %s\n", sentences[i].c_str());
  }
  return argc == 6 ? compare(tokens, cosines, argv[4], argv[5]) : 0;
}
