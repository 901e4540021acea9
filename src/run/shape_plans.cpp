#include "run/shape_plans.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE {

bool shape_plans::open(arena& tables) {
  const std::size_t n = plan_.initial.size();
  if (n > most_values) return false;
  const result<std::span<value>> seen = tables.take<value>(n);
  const result<std::span<std::uint64_t>> seen_in = tables.take<std::uint64_t>(n);
  const result<std::span<std::size_t>> bytes = tables.take<std::size_t>(n);
  if (!seen || !seen_in || !bytes) return false;
  seen_ = *seen, seen_in_ = *seen_in, bytes_ = *bytes;
  tables_ = &tables;
  return true;
}

/// Writes the ranks and dims of all inputs. False when they do not fit, or when the elements of a sequence would count.
bool shape_plans::write_key(std::span<const value> inputs) {
  key_size_ = 0;
  for (const value& v : inputs) {
    if (v.kind != value_kind::tensor || key_size_ + v.shape.rank() + 1 > longest_key) return false;
    key_[key_size_++] = std::int64_t(v.shape.rank());
    for (std::int64_t d : v.shape) key_[key_size_++] = d;
  }
  return true;
}

const shape_plans::entry* shape_plans::find(std::span<const value> inputs) {
  ++run_;
  noting_ = repeated_ = false;
  if (!write_key(inputs)) return nullptr;
  const std::span<const std::int64_t> key{key_, key_size_};
  for (entry& e : entries_)
    if (e.filled && std::ranges::equal(e.key.first(e.key_size), key)) {
      e.last_used = run_;
      return &e;
    }
  repeated_ = std::ranges::equal(key, std::span<const std::int64_t>{last_key_, last_key_size_});
  std::copy_n(key_, key_size_, last_key_);
  last_key_size_ = key_size_;
  noting_ = true;
  return nullptr;
}

bool shape_plans::wants_to_learn() const {
  if (!noting_) return false;
  for (const entry& e : entries_)
    if (!e.filled) return true;
  return repeated_;
}

std::size_t shape_plans::learn(std::span<std::byte> scratch) {
  entry* to = &entries_[0];
  for (entry& e : entries_)
    if (!e.filled || (to->filled && e.last_used < to->last_used)) to = &e;
  const std::size_t n = plan_.initial.size();
  if (to->values.empty()) {
    const result<std::span<value>> values = tables_->take<value>(n);
    const result<std::span<std::size_t>> offsets = tables_->take<std::size_t>(n);
    const result<std::span<std::int64_t>> key = tables_->take<std::int64_t>(longest_key);
    if (!values || !offsets || !key) return 0;
    to->values = *values, to->offsets = *offsets, to->key = *key;
  }
  to->filled = false;
  for (std::size_t s = 0; s < n; ++s) {
    bytes_[s] = not_planned;
    if (seen_in_[s] != run_ || plan_.fixed.offsets[s] != not_planned || seen_[s].memory != 0) continue;
    bytes_[s] = seen_[s].bytes();
    to->values[s] = seen_[s];
  }
  std::size_t regions[8] = {};
  arena work{scratch};
  const placement_request request{plan_.steps, plan_.initial, plan_.outputs, bytes_, false};
  if (!place_values(request, work, {to->offsets, std::span{regions, 1}})) return 0;
  to->bytes = regions[0];
  std::copy_n(key_, key_size_, to->key.begin());
  to->key_size = key_size_;
  to->last_used = run_;
  to->filled = true;
  return to->bytes;
}

}  // namespace CAMEO_NAMESPACE
