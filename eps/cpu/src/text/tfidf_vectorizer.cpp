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

/// Adds the n-grams of one row of X to y, in the order of ONNX Runtime: by their steps, then by where they begin, then
/// by their lengths. Of those that share an element of y, the last one counts unless they are added.
template <class T, class P>
void count_row(const tfidf_vectorizer& how, const P* pool, const T* x, std::int64_t count, float* y) {
  const bool skips = !how.lengths.empty() && how.lengths.back().front().length > 1;
  const std::int64_t most = skips ? std::min(how.skips, count) : 0;
  for (std::int64_t step = 1; step - 1 <= most; ++step)
    for (std::int64_t i = 0; i < count; ++i)
      for (const std::span<const gram> grams : how.lengths) {
        const std::int64_t length = grams.front().length;
        if (length == 1 ? step > 1 : (count - 1 - i) / (length - 1) < step) continue;
        const auto found = std::partition_point(grams.begin(), grams.end(), [&](const gram& g) {
          return compare_gram(pool + g.first, x + i, step, length) < 0;
        });
        if (found == grams.end() || compare_gram(pool + found->first, x + i, step, length) != 0) continue;
        y[found->output] = found->weight + (how.adds ? y[found->output] : 0);
      }
}

/// The n-grams of the attribute pool.
struct gram_list {
  std::span<const std::int64_t> starts, indexes;  // where n-grams of each length start in the pool; each one's output
  std::span<const float> weights;                 // of each; empty: 1
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
        f(gram{at, length, indexes[number], weights.empty() ? 1 : weights[number]}), ++number;
  }
};

}  // namespace

result<tfidf_vectorizer> tfidf_vectorizer::bind(bind_context& c) {
  const attributes_of<op::TfIdfVectorizer> a{c.attributes};
  using modes = op::tf_idf_vectorizer_mode_choice;
  tfidf_vectorizer made;
  made.skips = a.max_skip_count;
  made.numbers = a.pool_int64s, made.texts = a.pool_strings;
  made.adds = a.mode != modes::idf;
  const bool of_texts = c.inputs[0].type == dtype::string, weighs = a.mode != modes::tf && !a.weights.empty();
  const gram_list all{a.ngram_counts, a.ngram_indexes,
                      weighs ? std::span<const float>{a.weights} : std::span<const float>{},
                      std::int64_t(of_texts ? made.texts.size() : made.numbers.size())};
  const status fits =
      check_all({check_needs("X", true, of_texts ? "pool_strings" : "pool_int64s", all.pool > 0),
                 check_number("max_gram_length", a.max_gram_length, a.min_gram_length, std::int64_t(all.starts.size())),
                 all.check(),
                 check_count("weights", std::int64_t(weighs ? a.weights.size() : all.indexes.size()),
                             std::int64_t(all.indexes.size()))});
  if (!fits) return of_model(fits);
  for (const std::int64_t index : all.indexes) made.size = std::max(made.size, index + 1);
  const result<std::span<gram>> kept = c.keep<gram>(all.indexes.size());
  if (!kept) return kept.error();
  std::size_t count = 0;
  all.each([&](const gram& g) {
    if (g.length >= a.min_gram_length && g.length <= a.max_gram_length) (*kept)[count++] = g;
  });
  const auto before = [&](const auto* pool) {
    return [pool](const gram& one, const gram& other) {
      if (one.length != other.length) return one.length < other.length;
      return compare_gram(pool + one.first, pool + other.first, 1, one.length) < 0;
    };
  };
  const std::span<gram> grams = kept->first(count);
  if (of_texts) std::stable_sort(grams.begin(), grams.end(), before(made.texts.data()));
  else std::stable_sort(grams.begin(), grams.end(), before(made.numbers.data()));
  const result<std::span<std::span<const gram>>> lengths = c.keep<std::span<const gram>>(all.starts.size());
  if (!lengths) return lengths.error();
  std::size_t used = 0;
  for (auto first = grams.begin(); first != grams.end();) {
    const auto last = std::find_if(first, grams.end(), [&](const gram& g) { return g.length != first->length; });
    (*lengths)[used++] = std::span<const gram>{first, last};
    first = last;
  }
  made.lengths = lengths->first(used);
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
      }
    });
  });
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
