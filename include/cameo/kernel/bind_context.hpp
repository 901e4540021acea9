#pragma once
#include <cameo/core/arena.hpp>
#include <cameo/kernel/operand.hpp>

namespace CAMEO_NAMESPACE {

namespace detail {
/// A promise that a kernel makes to the planner about its outputs when it is bound.
struct output_hint {
  /// The promise: see may_overwrite(), views() and pack().
  enum class use : std::uint8_t { may_overwrite, views, packs } kind;
  std::uint32_t output, input;
};

struct draft_node;  // defined in plan/draft.hpp

/// Supplies aligned copies of constants, which may be unaligned in a file: `persistent` ones live as long as the plan,
/// `transient` ones until the next call. The default is for constants that are aligned.
struct constant_store {
  void* self = nullptr;
  const value* (*persistent)(void* self, std::size_t input, const value&) = [](void*, std::size_t, const value& v) {
    return &v;
  };
  const value* (*transient)(void* self, std::size_t input, const value&) = [](void*, std::size_t, const value& v) {
    return &v;
  };
};

/// Stores packed constants for longer than one plan, also for plans of other graphs, so packed data must not depend on
/// the shapes of other inputs. Plans of one draft pack the same data in the same order. Without `self` it stores
/// nothing.
struct pack_keeper {
  void* self = nullptr;
  /// Returns the `bytes` that were packed when the draft was planned before: aligned to 64 bytes, valid as long as the
  /// plan. Null if the kernel has to pack them. An error ends planning.
  result<const void*> (*find)(void* self, std::size_t bytes) = [](void*, std::size_t) -> result<const void*> {
    return static_cast<const void*>(nullptr);
  };
  /// Receives the data that was packed. An error ends planning.
  status (*packed)(void* self, const void* made, std::size_t bytes) = [](void*, const void*, std::size_t) -> status {
    return {};
  };
};
}  // namespace detail

/// What a kernel reads when it is bound, once per plan. For one thread; spans live as long as the plan unless noted.
class bind_context {
 public:
  std::string_view op_type, node_name;
  int since = 0;  // version of the operator
  std::span<const attribute> attributes;
  std::span<const operand> inputs, outputs;  // valid only during bind
  std::size_t subgraph_count = 0;
  arena& state;         // lives as long as the plan: for the kernel's data, such as packed weights
  bool prepack = true;  // false: make no copies of constants (session.disable_prepacking)
  detail::arena_vector<detail::output_hint>& hints;
  detail::constant_store constants = {};
  detail::pack_keeper packs = {};
  std::uint32_t choice = 0;  // what the provider's hook `before_bind` set for this node; 0 without that hook
  const detail::draft_node* node = nullptr;  // valid only during bind; see subgraph_input()

  const attribute* find(std::string_view name) const { return detail::find_attribute(attributes, name); }
  /// An integer attribute, or `otherwise` when the node does not have it. An attribute of the wrong kind counts as
  /// absent; there is none in a checked model.
  std::int64_t int_or(std::string_view name, std::int64_t otherwise) const {
    const attribute* a = find(name);
    return a && a->kind == attribute_kind::i ? a->i : otherwise;
  }
  /// A float attribute; see int_or().
  float float_or(std::string_view name, float otherwise) const {
    const attribute* a = find(name);
    return a && a->kind == attribute_kind::f ? a->f : otherwise;
  }
  /// A string attribute; see int_or().
  std::string_view string_or(std::string_view name, std::string_view otherwise) const {
    const attribute* a = find(name);
    return a && a->kind == attribute_kind::s ? a->s : otherwise;
  }
  /// An attribute with integers; see int_or().
  std::span<const std::int64_t> ints_or(std::string_view name, std::span<const std::int64_t> otherwise = {}) const {
    const attribute* a = find(name);
    return a && a->kind == attribute_kind::ints ? a->ints : otherwise;
  }
  /// An attribute with floats; see int_or().
  std::span<const float> floats_or(std::string_view name, std::span<const float> otherwise = {}) const {
    const attribute* a = find(name);
    return a && a->kind == attribute_kind::floats ? a->floats : otherwise;
  }
  /// An attribute with strings; empty when the node does not have it. See int_or().
  std::span<const std::string_view> strings_or(std::string_view name) const {
    const attribute* a = find(name);
    return a && a->kind == attribute_kind::strings ? a->strings : std::span<const std::string_view>{};
  }
  bool has_input(std::size_t i) const { return i < inputs.size() && inputs[i].present; }
  bool has_output(std::size_t i) const { return i < outputs.size() && outputs[i].present; }
  /// The constant of input i, or null. It lives as long as the plan, and its elements are aligned. (Those of
  /// operand::constant may be unaligned: read only its type and shape.)
  const value* constant(std::size_t i) const {
    return is_constant(i) ? constants.persistent(constants.self, i, *inputs[i].constant) : nullptr;
  }
  bool is_constant(std::size_t i) const { return has_input(i) && inputs[i].constant; }
  /// The index of a graph attribute among the node's subgraphs, for run_context::open; -1 when it is absent.
  int subgraph(std::string_view name) const {
    const attribute* a = find(name);
    return a && a->kind == attribute_kind::g ? int(a->i) : -1;
  }

  /// What is known about input i of the subgraph with index `graph`; null if i is past the last input. Valid only
  /// during bind.
  CAMEO_API const operand* subgraph_input(std::size_t graph, std::size_t i) const;
  /// What is known about output i of the subgraph with index `graph`; null if i is past the last output. Valid only
  /// during bind.
  CAMEO_API const operand* subgraph_output(std::size_t graph, std::size_t i) const;
  /// Like subgraph_output(), but with the sizes that the file declares, which a run may contradict. A loop that runs no
  /// iteration needs them for the shapes of its stacked outputs. Valid only during bind.
  CAMEO_API const operand* declared_subgraph_output(std::size_t graph, std::size_t i) const;

  /// Promises that the kernel also works if output o has the memory of input i. The planner uses this if no later step
  /// reads that input and both have the same number of bytes.
  void may_overwrite(std::size_t o, std::size_t i) {
    hint({detail::output_hint::use::may_overwrite, index(o), index(i)});
  }
  /// Promises that output o always has the bytes of input i, with other extents, and that the kernel makes it with
  /// run_context::forward().
  void views(std::size_t o, std::size_t i) { hint({detail::output_hint::use::views, index(o), index(i)}); }

  /// Allocates memory, aligned to 64 bytes, for data that is computed once from constants.
  template <class T>
  result<std::span<T>> keep(std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::size_t bytes = 0;
    if (!checked_multiply(count, sizeof(T), bytes)) return status_code::out_of_memory;
    void* const memory = state.allocate(bytes, 64);
    if (!memory) return status_code::out_of_memory;
    return std::span<T>{static_cast<T*>(memory), count};
  }
  /// The constant of input i in the kernel's own layout, aligned to 64 bytes; it lives as long as the plan. `fill` is
  /// called as `status fill(const value& constant, std::span<T> to)` with uninitialized memory, and writes all of it.
  /// It is not called when the data was packed for an earlier plan. The kernel must not read the constant's elements
  /// outside `fill`: they may be released afterwards. Packed data may come from a file, so a kernel must be safe with
  /// any content: it must not contain sizes or indices.
  template <class T, class Fill>
  result<std::span<const T>> pack(std::size_t i, std::size_t count, Fill&& fill) {
    static_assert(std::is_trivially_copyable_v<T>);
    static_assert(std::is_same_v<std::invoke_result_t<Fill&, const value&, std::span<T>>, status>,
                  "cameo: packed memory is filled by `status fill(const value& constant, std::span<T> to)`");
    std::size_t bytes = 0;
    if (!is_constant(i)) return status_code::fail;
    if (!checked_multiply(count, sizeof(T), bytes)) return status_code::out_of_memory;
    hint({detail::output_hint::use::packs, 0, index(i)});
    const result<const void*> found = packs.find(packs.self, bytes);
    if (!found) return found.error();
    if (*found) return std::span<const T>{static_cast<const T*>(*found), count};
    result<std::span<T>> made = keep<T>(count);
    const value* const constant = constants.transient(constants.self, i, *inputs[i].constant);
    if (!made || !constant) return status_code::out_of_memory;
    if (status s = fill(*constant, *made); !s) return s;
    if (status s = packs.packed(packs.self, made->data(), bytes); !s) return s;
    return std::span<const T>{*made};
  }

 private:
  static std::uint32_t index(std::size_t i) { return std::uint32_t(i); }
  /// A lost hint costs memory, never correctness.
  void hint(detail::output_hint h) { static_cast<void>(hints.push_back(h)); }
};

}  // namespace CAMEO_NAMESPACE
