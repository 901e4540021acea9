#include <cameo/eps/cpu/tokens.hpp>
#include <cameo/op/attributes/microsoft.hpp>

#include <algorithm>
#include <cstring>
#include <limits>

#include "operands/operand_values.hpp"
#include "operands/outputs.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

std::uint32_t turned_left(std::uint32_t x, int bits) { return x << bits | x >> (32 - bits); }

std::uint32_t murmur3(const unsigned char* data, std::size_t size, std::uint32_t hash) {
  constexpr std::uint32_t first = 0xcc9e2d51, second = 0x1b873593;
  const auto mixed = [](std::uint32_t word) { return turned_left(word * first, 15) * second; };
  for (std::size_t i = 0; i + 4 <= size; i += 4) {
    const std::uint32_t word = std::uint32_t(data[i]) | std::uint32_t(data[i + 1]) << 8 |
                               std::uint32_t(data[i + 2]) << 16 | std::uint32_t(data[i + 3]) << 24;
    hash = turned_left(hash ^ mixed(word), 13) * 5 + 0xe6546b64;
  }
  std::uint32_t rest = 0;
  for (std::size_t i = size; i-- > size / 4 * 4;) rest = rest << 8 | data[i];
  if (size % 4) hash ^= mixed(rest);
  hash ^= std::uint32_t(size);
  hash = (hash ^ hash >> 16) * 0x85ebca6b;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35;
  return hash ^ hash >> 16;
}

/// The inputs of a hash of n-grams of tokens, which have been checked.
template <class T>
struct ngram_tables {
  using bits = std::make_unsigned_t<T>;
  std::int64_t orders, heads, count;
  const T *multipliers, *sizes, *offsets;  // `offsets` may be null
  T filler;                                // the token that replaces missing ones
  const T* end;                            // the token after which a new text begins; null: none

  /// Writes the hashes of the n-grams that end with the token at all[at]. Tokens before `begin` count as the filler.
  void write(const T* all, std::int64_t at, std::int64_t begin, T* to) const {
    bits mixed = bits(all[at]) * bits(multipliers[0]);
    for (std::int64_t n = 2; n <= orders; ++n) {
      const std::int64_t from = at - (n - 1);
      mixed ^= bits(from < begin ? filler : all[from]) * bits(multipliers[n - 1]);
      for (std::int64_t h = 0; h < heads; ++h, ++to) {
        const std::int64_t table = (n - 2) * heads + h;
        const T rest = T(T(mixed) % sizes[table]);
        *to = T(bits(rest < 0 ? rest + sizes[table] : rest) + (offsets ? bits(offsets[table]) : bits(0)));
      }
    }
  }

  /// Writes the hashes of all tokens but the first `before`, which precede a text. Tokens before an end of text or
  /// before a segment count as the filler. `segment`, unless null, has the segments of the tokens from `first` on.
  void write_all(std::span<const T> all, std::int64_t before, const std::int32_t* segment, std::int64_t first,
                 T* to) const {
    std::int64_t begin = 0;
    for (std::int64_t i = 0; i < std::int64_t(all.size()); ++i) {
      const bool ends = i > 0 && end && all[std::size_t(i - 1)] == *end;
      if (ends || (segment && i > first && segment[i - first] != segment[i - first - 1])) begin = i;
      if (i >= before) write(all.data(), i, begin, to + (i - before) * count);
    }
  }
};

/// Reads the inputs of ngram_hash, or of its variant without padding; `offsets` and `end` are the indices of optional
/// inputs.
template <class T>
result<ngram_tables<T>> read_tables(const ngram_hash& how, run_context& c, std::size_t offsets, std::size_t end) {
  const tensor_view<const T> multipliers = c.input<T>(1), sizes = c.input<T>(2);
  const std::int64_t count = (how.orders - 1) * how.heads;
  const std::int64_t starts = c.input(offsets) ? c.input(offsets).shape.count() : count;
  const status checked =
      check_all({check_at_least("the number of multipliers", multipliers.count(), how.orders),
                 check_count("vocab_sizes", sizes.count(), count), check_count("head_offsets", starts, count)});
  if (!checked) return checked;
  for (const T size : sizes)
    if (status fits = check_at_least("an element of vocab_sizes", size, 1); !fits) return fits;
  const T* const last = c.input(end) ? c.input<T>(end).data() : nullptr;
  const T* const head_offsets = c.input(offsets) ? c.input<T>(offsets).data() : nullptr;
  const T filler = last ? *last : T(how.pad);
  const T* const text_end = how.resets ? last : nullptr;
  return ngram_tables<T>{how.orders,   how.heads,    count,  multipliers.data(),
                         sizes.data(), head_offsets, filler, text_end};
}

/// Checks that a state, which may be absent, has `before` elements for each request.
status check_state(const value& state, std::int64_t before) {
  return state ? check_count("the past of a request", state.shape[1], before) : status{};
}

/// Checks cumulative_sequence_length: the tokens of request b are [starts[b], starts[b + 1]).
status check_requests(const value& starts, std::int64_t tokens) {
  constexpr std::string_view name = "cumulative_sequence_length";
  const tensor_view<const std::int32_t> at = starts.as_unchecked<std::int32_t>();
  if (status s = check_at_least("the size of cumulative_sequence_length", at.count(), 2); !s) return s;
  if (status s = check_element(name, at[0], 0, 0); !s) return s;
  for (std::int64_t b = 1; b < at.count(); ++b)
    if (status s = check_element(name, at[b], std::int64_t(at[b - 1]) + 1, tokens); !s) return s;
  return check_element(name, at[at.count() - 1], tokens, tokens);
}

/// Concatenates the `before` elements that precede a request (from `past`, or `filler`) and the request's elements.
template <class T>
void join_history(const value& past, std::int64_t request, std::int64_t before, T filler, std::span<const T> own,
                  T* to) {
  if (past) std::copy_n(static_cast<const T*>(past.data) + request * before, before, to);
  else std::fill_n(to, before, filler);
  std::ranges::copy(own, to + before);
}

}  // namespace

result<ngram_repeat_block> ngram_repeat_block::bind(bind_context& c) {
  return ngram_repeat_block{attributes_of<op::microsoft::NGramRepeatBlock>{c.attributes}.ngram_size};
}

status ngram_repeat_block::run(run_context& c) const {
  const tensor_view<const std::int64_t> ids = c.input<std::int64_t>(0);
  const tensor_view<const float> scores = c.input<float>(1);
  const result<tensor_view<float>> y = c.output<float>(0, scores.shape());
  if (!y) return y.error();
  std::copy(scores.begin(), scores.end(), y->begin());
  const std::int64_t length = ids.dim(1), words = scores.dim(1);
  if (length < size) return {};
  for (std::int64_t row = 0; row < ids.dim(0); ++row) {
    const std::int64_t* const all = ids.data() + row * length;
    for (std::int64_t i = 0; i + size <= length; ++i) {
      if (!std::equal(all + i, all + i + size - 1, all + length - size + 1)) continue;
      const std::int64_t word = all[i + size - 1];
      if (status s = check_element("input_ids", word, 0, words - 1); !s) return s;
      (*y)[row * words + word] = -std::numeric_limits<float>::infinity();
    }
  }
  return {};
}

result<bifurcation_detector> bifurcation_detector::bind(bind_context& c) {
  const attributes_of<op::microsoft::BifurcationDetector> a{c.attributes};
  if (status s = of_model(check_at_least("max_ngram_size", a.max_ngram_size, a.min_ngram_size)); !s) return s;
  return bifurcation_detector{a.min_ngram_size, a.max_ngram_size};
}

status bifurcation_detector::run(run_context& c) const {
  using tokens = tensor_view<const std::int64_t>;
  const tokens source = c.input<std::int64_t>(0), current = c.input<std::int64_t>(1), at = c.input<std::int64_t>(2);
  std::int64_t right = 0;
  const std::int64_t* guessed = nullptr;
  if (c.has_input(3)) {
    if (status s = check_number("prev_suffix_match_idx", at[0], 0, source.count()); !s) return s;
    const std::int64_t left = source.count() - at[0];
    if (status s = check_count("pred_tokens", c.input(3).shape.count(), left + 1); !s) return s;
    guessed = c.input<std::int64_t>(3).data();
    while (right < left && guessed[right] == source[at[0] + right]) ++right;
    ++right;
  }
  const result<tensor_view<std::int64_t>> y = c.output<std::int64_t>(0, {current.count() + right});
  const result<tensor_view<std::int64_t>> match = c.output<std::int64_t>(1, {});
  if (!y) return y.error();
  if (!match) return match.error();
  std::copy(current.begin(), current.end(), y->begin());
  std::copy_n(guessed, right, y->begin() + current.count());
  std::int64_t& found = (*match)[0];
  found = -1;
  for (std::int64_t n = least; n <= most && n <= y->count(); ++n) {
    const auto* const first = std::search(source.begin(), source.end(), y->end() - n, y->end());
    if (first == source.end()) break;
    found = first - source.begin() + n;
    if (found >= source.count()) break;
    const auto* const next = std::search(first + 1, source.end(), y->end() - n, y->end());
    if (next == source.end()) break;
    found = -1;
  }
  return {};
}

result<murmur_hash> murmur_hash::bind(bind_context& c) {
  return murmur_hash{std::uint32_t(attributes_of<op::microsoft::MurmurHash3>{c.attributes}.seed)};
}

status murmur_hash::run(run_context& c) const {
  const value& x = c.input(0);
  const result<value*> y = c.output(0, x.shape);
  if (!y) return y.error();
  auto* const to = static_cast<std::uint32_t*>((*y)->data);
  elements::call(x.type, [&]<class T>(std::type_identity<T>) {
    const T* const from = static_cast<const T*>(x.data);
    parallel_for(c, x.shape.count(), 1 << 12, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        if constexpr (std::is_same_v<T, std::string_view>) {
          to[i] = murmur3(reinterpret_cast<const unsigned char*>(from[i].data()), from[i].size(), seed);
        } else {
          unsigned char bytes[sizeof(T)];
          std::memcpy(bytes, from + i, sizeof(T));
          to[i] = murmur3(bytes, sizeof(T), seed);
        }
      }
    });
  });
  return {};
}

result<ngram_hash> ngram_hash::bind(bind_context& c) {
  return read(attributes_of<op::microsoft::NGramHashMapping>{c.attributes});
}

template <class T>
status ngram_hash::run_as(run_context& c) const {
  const value &ids = c.input(0), &past = c.input(3), &segments = c.input(6);
  const std::int64_t before = orders - 1;
  const std::int64_t batches = ids.shape[0], length = ids.shape[1];
  const result<ngram_tables<T>> tables = read_tables<T>(*this, c, 4, 5);
  if (!tables) return tables.error();
  if (status fits = check_state(past, before); !fits) return fits;
  const result<tensor_view<T>> y = c.output<T>(0, {batches, length, tables->count});
  if (!y) return y.error();
  const result<T*> present = optional_output<T>(c, 1, {batches, before});
  if (!present) return present.error();
  const result<std::span<T>> room = c.scratch<T>(std::size_t(length + before));
  if (!room) return room.error();
  T* const all = room->data();  // the past tokens of one batch, and then its tokens
  for (std::int64_t b = 0; b < batches; ++b) {
    if (past) std::copy_n(c.input<T>(3).data() + b * before, before, all);
    else std::fill_n(all, before, tables->filler);
    std::copy_n(static_cast<const T*>(ids.data) + b * length, length, all + before);
    const std::int32_t* const segment = segments ? c.input<std::int32_t>(6).data() + b * length : nullptr;
    tables->write_all(*room, before, segment, before, y->data() + b * length * tables->count);
    if (*present) std::copy_n(all + length, before, *present + b * before);
  }
  return {};
}

status ngram_hash::run(run_context& c) const {
  return c.input(0).type == dtype::i64 ? run_as<std::int64_t>(c) : run_as<std::int32_t>(c);
}

result<varlen_ngram_hash> varlen_ngram_hash::bind(bind_context& c) {
  const attributes_of<op::microsoft::VarlenNGramHashMapping> a{c.attributes};
  const bool has_segments = c.has_input(7);
  const status fits =
      check_all({check_together("state_update_capacity", a.state_update_capacity > 0, "capture_count", c.has_input(9)),
                 check_needs("past_segment_ids", c.has_input(8), "segment_ids", has_segments),
                 check_needs("present_segment_ids", c.has_output(2), "segment_ids", has_segments)});
  if (!fits) return of_model(fits);
  return varlen_ngram_hash{read(a), a.state_update_capacity};
}

template <class T>
status varlen_ngram_hash::run_as(run_context& c) const {
  const value &ids = c.input(0), &starts = c.input(3), &past = c.input(4), &segments = c.input(7),
              &past_segments = c.input(8), &captured = c.input(9);
  const std::int64_t before = orders - 1;
  const std::int64_t tokens = ids.shape[0];
  const result<ngram_tables<T>> tables = read_tables<T>(*this, c, 5, 6);
  if (!tables) return tables.error();
  if (status fits = check_requests(starts, tokens); !fits) return fits;
  const std::int64_t requests = starts.shape[0] - 1;
  const extents state{requests, before};
  if (status fits = check_all({check_state(past, before), check_state(past_segments, before)}); !fits) return fits;
  const result<tensor_view<T>> y = c.output<T>(0, {tokens, tables->count});
  if (!y) return y.error();
  const result<T*> present = optional_output<T>(c, 1, state),
                   states = optional_output<T>(c, 3, {requests, capacity, before});
  const result<std::int32_t*> present_segments = optional_output<std::int32_t>(c, 2, state);
  const result<std::span<T>> room = c.scratch<T>(std::size_t(tokens + before));
  const auto segment_room = c.scratch<std::int32_t>(segments ? std::size_t(tokens + before) : 0);
  if (!present || !states || !present_segments || !room || !segment_room) return status_code::out_of_memory;
  T* const all = room->data();
  std::int32_t* const segment = segments ? segment_room->data() : nullptr;
  for (std::int64_t b = 0; b < requests; ++b) {
    const std::int64_t first = c.input<std::int32_t>(3)[b], length = c.input<std::int32_t>(3)[b + 1] - first;
    join_history<T>(past, b, before, tables->filler, {static_cast<const T*>(ids.data) + first, std::size_t(length)},
                    all);
    if (segment)
      join_history<std::int32_t>(past_segments, b, before, c.input<std::int32_t>(7)[first],
                                 {c.input<std::int32_t>(7).data() + first, std::size_t(length)}, segment);
    tables->write_all({all, std::size_t(before + length)}, before, segment, 0, y->data() + first * tables->count);
    if (*present) std::copy_n(all + length, before, *present + b * before);
    if (*present_segments) std::copy_n(segment + length, before, *present_segments + b * before);
    const std::int64_t kept =
        captured ? std::clamp<std::int64_t>(c.input<std::int32_t>(9)[b], 0, std::min(capacity, length)) : 0;
    for (std::int64_t i = 0; *states && i < capacity; ++i) {
      T* const to = *states + (b * capacity + i) * before;
      if (i < kept) std::copy_n(all + i + 1, before, to);
      else std::fill_n(to, before, T(pad));
    }
  }
  return {};
}

status varlen_ngram_hash::run(run_context& c) const {
  return c.input(0).type == dtype::i64 ? run_as<std::int64_t>(c) : run_as<std::int32_t>(c);
}

}  // namespace CAMEO_NAMESPACE::eps
