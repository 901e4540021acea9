#pragma once
#include <cameo/plan/planner.hpp>

namespace CAMEO_NAMESPACE {

/// Memory plans for recent input shapes: the offsets of values whose shapes are only known in a run. A run with new
/// shapes allocates blocks and records them; a plan is made once from this record. Bounded: the least recently used
/// plan is replaced, and only for shapes that come twice in a row, so shapes that do not return cost nothing.
class shape_plans {
 public:
  struct entry {
    std::span<std::int64_t> key;
    std::span<value> values;  // per slot: its shape, if it has an offset
    std::span<std::size_t> offsets;
    std::size_t bytes = 0, key_size = 0;
    std::uint64_t last_used = 0;
    bool filled = false;
    bool covers(slot s) const { return offsets[s] != not_planned; }
  };

  explicit shape_plans(const plan_view& plan) : plan_{plan} {}
  /// Allocates the tables. Returns false when the arena is full, or when the plan has too many values; then the object
  /// must not be used.
  [[nodiscard]] bool open(arena& tables);

  /// The plan for these inputs. If it is null, call note() for each value until learn() is called.
  const entry* find(std::span<const value> inputs);
  bool noting() const { return noting_; }
  void note(slot s, const value& v) {
    seen_[s] = v;
    seen_in_[s] = run_;
  }
  /// Makes a plan after a successful run without one. `scratch` has needed_scratch() bytes. Returns the bytes that a
  /// run with the new plan takes in one block.
  std::size_t learn(std::span<std::byte> scratch);
  bool wants_to_learn() const;
  std::size_t needed_scratch() const { return 4096 + plan_.initial.size() * 256; }

 private:
  static constexpr std::size_t count = 4, longest_key = 128, most_values = 1 << 14;

  bool write_key(std::span<const value> inputs);

  const plan_view& plan_;
  arena* tables_ = nullptr;
  entry entries_[count];
  std::int64_t key_[longest_key] = {}, last_key_[longest_key] = {};
  std::size_t key_size_ = 0, last_key_size_ = 0;
  std::span<value> seen_;
  std::span<std::uint64_t> seen_in_;
  std::span<std::size_t> bytes_;
  std::uint64_t run_ = 0;
  bool noting_ = false, repeated_ = false;
};

}  // namespace CAMEO_NAMESPACE
