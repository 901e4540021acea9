#pragma once
#include <cameo/kernel/kernel_entry.hpp>

#include <array>

namespace CAMEO_NAMESPACE {

// Checks of an entry of a kernel list. Each possible mistake has its own template, so that the compiler's "in
// instantiation of" line names operator, versions, type string and type next to a message that states what to do.
// Conditions and messages are separate because clang treats nothing in a class with a failed static_assert as a
// constant. A wrong entry is not built, so that its message remains the only error.

namespace detail {
/// True if the version has a type string of this name.
constexpr bool has_string(const op_version& version, std::string_view type_string) {
  for (const type_rule& rule : version.types)
    if (rule.type_string == type_string) return true;
  return false;
}
constexpr bool has_string(std::span<const op_version> versions, std::string_view type_string) {
  for (const op_version& version : versions)
    if (has_string(version, type_string)) return true;
  return false;
}
template <class Op, int First, int Last, fixed_string S, class T>
constexpr bool type_allowed() {
  if constexpr (!element_type<T>) return false;
  else return versions_that_allow(Op::versions, {First, Last}, std::array{type_choice{S, mask_of<T>}}).last != 0;
}

template <class Op, class Since, class Constraints>
struct entry_facts;
template <class Op, int First, int Last, class... Sets>
struct entry_facts<Op, since<First, Last>, constraints<Sets...>> {
  template <fixed_string String, class... Ts>
  static constexpr bool types_allowed(one_of<String, Ts...>) {
    return has_string(Op::versions, String) && (type_allowed<Op, First, Last, String, Ts>() && ... && true);
  }
  template <fixed_string String, class... Ts>
  static constexpr bool has(const op_version& version, one_of<String, Ts...>) {
    return has_string(version, std::string_view{String});
  }
  static constexpr bool starts_at_a_version = [] {
    if constexpr (declared_op<Op>)
      for (const op_version& version : Op::versions)
        if (version.since == First) return true;
    return false;
  }();
  static constexpr bool sets_are_fine = [] {
    if constexpr (declared_op<Op>) return (types_allowed(Sets{}) && ... && true);
    else return false;
  }();
  static constexpr bool strings_meet = [] {
    if constexpr (declared_op<Op>)
      for (const op_version& version : Op::versions)
        if (First <= version.since && version.since <= Last && (has(version, Sets{}) && ... && true)) return true;
    return false;
  }();
  static constexpr bool fine = starts_at_a_version && sets_are_fine && strings_meet;
};

template <class Op, class Since, fixed_string S, class T>
struct type_check;
template <class Op, int First, int Last, fixed_string S, class T>
struct type_check<Op, since<First, Last>, S, T> {
  static_assert(element_type<T>, "cameo: not an element type of ONNX; core/dtype.hpp lists those and their C++ types");
  static_assert(!element_type<T> || type_allowed<Op, First, Last, S, T>(),
                "cameo: no version of this operator in the range of `since` allows this element type");
};

template <class Op, class Since, class Set>
struct set_check;
template <class Op, class Since, fixed_string S, class... Ts>
struct set_check<Op, Since, one_of<S, Ts...>> {
  static constexpr bool known = has_string(Op::versions, S);
  static_assert(known, "cameo: the operator has no such type string; see `types` in its versions");
  static_assert([] {
    if constexpr (known) return (sizeof(type_check<Op, Since, S, Ts>) && ... && true);
    else return true;
  }());
};

template <class Op, int First, int Last, class... Sets>
struct entry_check<Op, since<First, Last>, constraints<Sets...>> {
  using facts = entry_facts<Op, since<First, Last>, constraints<Sets...>>;
  static_assert(declared_op<Op>,
                "cameo: not a declared operator; give the tag `domain`, `name` and `versions` as in op/onnx.hpp");
  static_assert(!declared_op<Op> || facts::starts_at_a_version,
                "cameo: `since` starts at a version that did not change the operator; name one that did");
  static_assert([] {
    if constexpr (declared_op<Op>) return (sizeof(set_check<Op, since<First, Last>, Sets>) && ... && true);
    else return true;
  }());
  static_assert(facts::strings_meet || !facts::starts_at_a_version || !facts::sets_are_fine,
                "cameo: no version of this operator in the range of `since` has all these type strings at once");
};

/// Checks that K is a kernel; if it is a template, K is an instance.
template <class K>
struct kernel_check {
  static_assert(kernel<K>,
                "cameo: a kernel needs `static result<K> bind(bind_context&)` and `status run(run_context&) const`");
  /// A kernel compiled in a .cpp lists its instantiations; otherwise a missing one would be a linker error.
  static_assert(
      !requires { K::instantiated; } || requires { requires K::instantiated; },
      "cameo: the kernel is not instantiated for this type; add it to its .cpp and to `instantiated`");
};
}  // namespace detail

}  // namespace CAMEO_NAMESPACE
