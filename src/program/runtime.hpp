#pragma once
#include <cameo/program/providers.hpp>
#include <cameo/session/runtime.hpp>

namespace cameo::program {

template <class List>
struct runtime_of;
template <class... Ps>
struct runtime_of<type_list<Ps...>> {
  using type = runtime<Ps...>;
  static constexpr std::size_t count = sizeof...(Ps);
};
/// The program's runtime: the providers that the build switched on.
using program_runtime = runtime_of<providers>::type;

}  // namespace cameo::program
