#pragma once
#include <cameo/transform/level.hpp>

#include <concepts>
#include <span>

namespace CAMEO_NAMESPACE {

struct transform_table;  // defined in transform/transform.hpp

/// Transform lists, of any levels, as one type: what a session is loaded with, or what a provider lists with `using
/// transforms = transform_set<...>`. A member is a transform_list, or another type with `level` and `table()`.
template <class T>
concept transform_family = requires {
  { T::level } -> std::convertible_to<optimization_level>;
  { T::table() } -> std::same_as<const transform_table&>;
};
namespace detail {
/// The base of a family that has this level.
template <optimization_level Level>
struct family_at {
  static constexpr optimization_level level = Level;
};
}  // namespace detail

/// Families in order, as one type.
template <transform_family... Families>
struct transform_set {
  /// The transform_set with the families of this set, followed by more families.
  template <transform_family... More>
  using with = transform_set<Families..., More...>;

  static constexpr optimization_level lowest = [] {
    optimization_level found = optimization_level::all;
    ((found = Families::level < found ? Families::level : found), ...);
    return found;
  }();
  static std::span<const transform_table* const> tables() {
    static const transform_table* const all[sizeof...(Families) + 1]{&Families::table()...};
    return {all, sizeof...(Families)};
  }
};

}  // namespace CAMEO_NAMESPACE
