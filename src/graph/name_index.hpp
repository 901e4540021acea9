#pragma once
#include <cameo/core/abi.hpp>

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace CAMEO_NAMESPACE {

/// A map from names to numbers; names stay where they are stored. An entry has eight bytes, so that the index of a
/// graph of a hundred thousand nodes fits the processor's caches. Open addressing with linear probing. `name_of`
/// returns the name of a number. Throws std::bad_alloc as vectors do.
class name_index {
 public:
  static constexpr std::uint32_t none = 0xFFFFFFFF;

  /// The number of a name, or `none`.
  template <class NameOf>
  std::uint32_t find(std::string_view name, NameOf name_of) const {
    if (entries_.empty()) return none;
    const std::uint32_t hash = hash_of(name);
    for (std::size_t at = hash & mask();; at = (at + 1) & mask()) {
      const entry& e = entries_[at];
      if (e.number == none) return none;
      if (e.number != erased && e.hash == hash && name_of(e.number) == name) return e.number;
    }
  }
  /// Reserves space for so many names in all.
  void reserve(std::size_t names) {
    while (4 * names > 3 * entries_.size()) grow();
  }
  /// Adds a name; has no effect if it is in the index.
  template <class NameOf>
  void insert(std::string_view name, std::uint32_t number, NameOf name_of) {
    if (find(name, name_of) != none) return;
    if (4 * (used_ + 1) > 3 * entries_.size()) grow();
    place({hash_of(name), number});
  }
  /// Removes a name, but only if its number is this one.
  template <class NameOf>
  void erase(std::string_view name, std::uint32_t number, NameOf name_of) {
    if (find(name, name_of) != number) return;
    for (std::size_t at = hash_of(name) & mask();; at = (at + 1) & mask())
      if (entries_[at].number == number) {
        entries_[at].number = erased;
        return;
      }
  }

 private:
  static constexpr std::uint32_t erased = 0xFFFFFFFE;
  struct entry {
    std::uint32_t hash = 0, number = none;
  };
  static std::uint32_t hash_of(std::string_view name) {
    const std::uint64_t h = std::hash<std::string_view>{}(name);
    return std::uint32_t(h ^ h >> 32);
  }
  std::size_t mask() const { return entries_.size() - 1; }
  void place(entry e) {
    std::size_t at = e.hash & mask();
    while (entries_[at].number != none) at = (at + 1) & mask();
    entries_[at] = e;
    ++used_;
  }
  void grow() {
    std::vector<entry> old(entries_.empty() ? 16 : 2 * entries_.size());
    old.swap(entries_);
    used_ = 0;
    for (const entry& e : old)
      if (e.number < erased) place(e);
  }

  std::vector<entry> entries_;
  std::size_t used_ = 0;  // including erased ones
};

}  // namespace CAMEO_NAMESPACE
