#include <cameo/eps/cpu/word_embedding.hpp>
#include <cameo/kernel/run_context.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "operands/refuse.hpp"
#include "operands/usable_sizes.hpp"

namespace CAMEO_NAMESPACE::eps {

status word_conv_embedding::run(run_context& c) const {
  const value &words = c.input(0), &w = c.input(1), &bias = c.input(2), &table = c.input(3);
  if (status s = usable_inputs(c, {0, 1, 3}); !s) return s;
  const std::int64_t length = words.shape[1], filters = w.shape[0], window = w.shape[2], size = w.shape[3];
  if (status s = check_number("the window of W", window, 1, length); !s) return s;
  const std::int32_t* const all = words.as_unchecked<std::int32_t>().data();
  for (std::int64_t i = 0; i < words.shape.count(); ++i)
    if (status s = check_element("Sequence", all[i], 0, table.shape[0] - 1); !s) return s;
  const result<tensor_view<float>> y = c.output<float>(0, {words.shape[0], filters});
  if (!y) return y.error();
  const float *const weights = w.as_unchecked<float>().data(), *const rows = table.as_unchecked<float>().data();
  const float* const added = bias.as_unchecked<float>().data();
  parallel_each(c, words.shape[0], 1 + (1 << 12) / (filters * window * size + 1), [&](std::int64_t word, std::size_t) {
    const std::int32_t* const text = all + word * length;
    const std::int64_t count = std::max(window, length - std::count(text, text + length, 0));
    for (std::int64_t f = 0; f < filters; ++f) {
      float most = -std::numeric_limits<float>::infinity();
      for (std::int64_t at = 0; at + window <= count; ++at) {
        float sum = added[f];
        for (std::int64_t i = 0; i < window; ++i)
          for (std::int64_t j = 0; j < size; ++j)
            sum += weights[(f * window + i) * size + j] * rows[text[at + i] * size + j];
        most = std::max(most, sum);
      }
      (*y)[word * filters + f] = text[0] == 0 ? 0.0f : std::tanh(most);
    }
  });
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
