#pragma once
#include <cameo/kernel/kernel_entry.hpp>

#include <array>

namespace cameo::inline CAMEO_ABI {

// What can be wrong with a line of a kernel list. One template per thing that can be wrong, so that the compiler's
// "in instantiation of" line names operator, versions, type string and type, next to a sentence to act on.

template <class Op, class Since, fixed_string S, class T>
struct type_check;
template <class Op, int First, int Last, fixed_string S, class T>
struct type_check<Op, since<First, Last>, S, T> {
  static_assert(element_type<T>, "cameo: not an element type of ONNX; core/dtype.hpp lists those and their C++ types");
  static constexpr bool allowed = [] {
    if constexpr (!element_type<T>) return true;  // said above
    else return versions_that_allow(Op::versions, {First, Last}, std::array{type_choice{S, mask_of<T>}}).last != 0;
  }();
  static_assert(allowed, "cameo: no version of this operator in the range of `since` allows this element type");
};

template <class Op, class Since, class Set>
struct set_check;
template <class Op, class Since, fixed_string S, class... Ts>
struct set_check<Op, Since, one_of<S, Ts...>> {
  static constexpr bool known = [] {
    for (const op_version& version : Op::versions)
      for (const type_rule& rule : version.types)
        if (rule.type_string == std::string_view{S}) return true;
    return false;
  }();
  static_assert(known, "cameo: the operator has no such type string; see `types` in its versions");
  static_assert(!known || (sizeof(type_check<Op, Since, S, Ts>) && ...));
};

template <class Op, int First, int Last, class... Sets>
struct entry_check<Op, since<First, Last>, constraints<Sets...>> {
  static_assert(declared_op<Op>,
                "cameo: not a declared operator; give the tag `domain`, `name` and `versions` as in op/onnx.hpp");
  static constexpr bool starts_at_a_version = [] {
    if constexpr (declared_op<Op>)
      for (const op_version& version : Op::versions)
        if (version.since == First) return true;
    return !declared_op<Op>;  // said above
  }();
  static_assert(starts_at_a_version,
                "cameo: `since` starts at a version that did not change the operator; name one that did");
  static_assert([] {
    if constexpr (declared_op<Op>) return (sizeof(set_check<Op, since<First, Last>, Sets>) && ... && true);
    else return true;
  }());
};

/// K is a kernel, with its types filled in where it is a template.
template <class K>
struct kernel_check {
  static_assert(kernel<K>,
                "cameo: a kernel needs `static result<K> bind(bind_context&)` and `status run(run_context&) const`");
  /// A kernel compiled elsewhere publishes what it is instantiated for; without this a gap would be a linker error.
  static_assert(!requires { K::instantiated; } || requires { requires K::instantiated; },
                "cameo: the kernel is not instantiated for this type; add it to its .cpp and to `instantiated`");
};

}  // namespace cameo::inline CAMEO_ABI
