#include <cameo/eps/cpu/tfidf_vectorizer.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <algorithm>

#include "operands/operand_values.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

using gram = tfidf_vectorizer::gram;

/// Compares an n-gram with as many elements of X, which are `step` apart; returns -1, 0 or 1.
template <class T, class P>
int compare_gram(const P* pool, const T* x, std::int64_t step, std::int64_t length) {
  for (std::int64_t i = 0; i < length; ++i) {
    const P other(x[i * step]);
    if (pool[i] < other) return -1;
    if (other < pool[i]) return 1;
  }
  return 0;
}

/// Counts the n-grams of one row of X.
template <class T, class P>
void count_row(const tfidf_vectorizer& how, const P* pool, const T* x, std::int64_t count, float* y) {
  for (auto first = how.grams.begin(); first != how.grams.end();) {
    const std::int64_t length = first->length;
    const auto last = std::find_if(first, how.grams.end(), [&](const gram& g) { return g.length != length; });
    for (std::int64_t step = 1; step - 1 <= (length == 1 ? 0 : how.skips); ++step) {
      if (length > 1 && (count - 1) / (length - 1) < step) break;
      for (std::int64_t i = 0; i + (length - 1) * step < count; ++i) {
        const auto found = std::partition_point(
            first, last, [&](const gram& g) { return compare_gram(pool + g.first, x + i, step, length) < 0; });
        if (found != last && compare_gram(pool + found->first, x + i, step, length) == 0) y[found->output] += 1;
      }
    }
    first = last;
  }
}

/// The n-grams of the attribute pool.
struct gram_list {
  std::span<const std::int64_t> starts, indexes;  // where n-grams of each length start in the pool; each one's output
  std::int64_t pool;                              // the elements of the pool

  std::int64_t end(std::size_t i) const { return i + 1 < starts.size() ? starts[i + 1] : pool; }
  /// Checks that the n-grams of each length are a part of the pool, and that each has an output.
  status check() const {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const std::int64_t elements = end(i) - starts[i], length = std::int64_t(i) + 1;
      if (status s = check_element("ngram_counts", starts[i], 0, end(i)); !s) return s;
      if (status s = check_element("ngram_counts", end(i), 0, pool); !s) return s;
      if (status s = check_multiple("the size of the pool's n-grams", elements, length, "their length"); !s) return s;
      count += elements / length;
    }
    return check_count("ngram_indexes", std::int64_t(indexes.size()), count);
  }
  /// Calls f(n-gram) for each.
  template <class F>
  void each(F&& f) const {
    std::size_t number = 0;
    for (std::size_t i = 0; i < starts.size(); ++i)
      for (std::int64_t at = starts[i], length = std::int64_t(i) + 1; at < end(i); at += length)
        f(gram{at, length, indexes[number++]});
  }
};

status keep_weights(bind_context& c, std::span<const float> given, const gram_list& all, tfidf_vectorizer& made) {
  using weight = tfidf_vectorizer::weight;
  const result<std::span<weight>> kept = c.keep<weight>(given.size());
  if (!kept) return kept.error();
  for (std::size_t i = 0; i < given.size(); ++i) (*kept)[i] = {all.indexes[i], given[i]};
  // If n-grams share an output, the weight of the last one counts: it is sorted before the others, which are removed.
  std::reverse(kept->begin(), kept->end());
  std::stable_sort(kept->begin(), kept->end(), [](const weight& a, const weight& b) { return a.output < b.output; });
  const auto end =
      std::unique(kept->begin(), kept->end(), [](const weight& a, const weight& b) { return a.output == b.output; });
  made.weights = kept->first(std::size_t(end - kept->begin()));
  return {};
}

}  // namespace

result<tfidf_vectorizer> tfidf_vectorizer::bind(bind_context& c) {
  const attributes_of<op::TfIdfVectorizer> a{c.attributes};
  using modes = op::tf_idf_vectorizer_mode_choice;
  tfidf_vectorizer made;
  made.least = a.min_gram_length, made.most = a.max_gram_length, made.skips = a.max_skip_count;
  made.numbers = a.pool_int64s, made.texts = a.pool_strings;
  made.counts = a.mode != modes::idf, made.weighs = a.mode != modes::tf;
  const bool of_texts = c.inputs[0].type == dtype::string, weighs = made.weighs && !a.weights.empty();
  const gram_list all{a.ngram_counts, a.ngram_indexes,
                      std::int64_t(of_texts ? made.texts.size() : made.numbers.size())};
  const status fits =
      check_all({check_needs("X", true, of_texts ? "pool_strings" : "pool_int64s", all.pool > 0),
                 check_number("max_gram_length", made.most, made.least, std::int64_t(all.starts.size())), all.check(),
                 check_count("weights", std::int64_t(weighs ? a.weights.size() : all.indexes.size()),
                             std::int64_t(all.indexes.size()))});
  if (!fits) return of_model(fits);
  for (const std::int64_t index : all.indexes) made.size = std::max(made.size, index + 1);
  const result<std::span<gram>> kept = c.keep<gram>(all.indexes.size());
  if (!kept) return kept.error();
  std::size_t count = 0;
  all.each([&](const gram& g) {
    if (g.length >= made.least && g.length <= made.most) (*kept)[count++] = g;
  });
  const auto before = [&](const auto* pool) {
    return [pool](const gram& one, const gram& other) {
      if (one.length != other.length) return one.length < other.length;
      return compare_gram(pool + one.first, pool + other.first, 1, one.length) < 0;
    };
  };
  const auto last = kept->begin() + std::ptrdiff_t(count);
  if (of_texts) std::stable_sort(kept->begin(), last, before(made.texts.data()));
  else std::stable_sort(kept->begin(), last, before(made.numbers.data()));
  made.grams = kept->first(count);
  if (weighs)
    if (status s = keep_weights(c, a.weights, all, made); !s) return s;
  return made;
}

status tfidf_vectorizer::run(run_context& c) const {
  const value& x = c.input(0);
  extents shape = x.shape;
  shape[shape.rank() - 1] = size;
  const result<tensor_view<float>> y = c.output<float>(0, shape);
  if (!y) return y.error();
  std::fill(y->begin(), y->end(), 0.0f);
  const std::int64_t rows = x.shape.rank() == 1 ? 1 : x.shape[0], count = x.shape.back();
  if (y->empty()) return {};
  elements::call(x.type, [&]<class T>(std::type_identity<T>) {
    const T* const from = static_cast<const T*>(x.data);
    parallel_for(c, rows, 1 + 256 / (count + 1), [&](std::int64_t r, std::int64_t last) {
      for (; r < last; ++r) {
        float* const to = y->data() + r * size;
        if constexpr (std::is_same_v<T, std::string_view>) count_row(*this, texts.data(), from + r * count, count, to);
        else count_row(*this, numbers.data(), from + r * count, count, to);
        for (const weight& w : weights)
          if (to[w.output] > 0) to[w.output] = (counts ? to[w.output] : 1) * w.factor;
        if (!counts && weights.empty())
          for (std::int64_t i = 0; i < size; ++i) to[i] = to[i] > 0 ? 1.0f : 0.0f;
      }
    });
  });
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
