#pragma once
#include <cameo/core/abi.hpp>

#include <new>
#include <utility>

/// Names that cameo's headers use and programs do not need.
CAMEO_BEGIN_NAMESPACE
namespace detail {

// Replacements of std::construct_at, destroy_at and addressof, whose header <memory> costs a file of kernels more
// compile time than all that cameo declares.
template <class T, class... Args>
T* construct_at(T* at, Args&&... args) {
  return ::new (static_cast<void*>(at)) T(std::forward<Args>(args)...);
}
template <class T>
void destroy_at(T* at) noexcept {
  at->~T();
}
template <class T>
constexpr T* address_of(T& of) noexcept {
  return __builtin_addressof(of);
}

}  // namespace detail
CAMEO_END_NAMESPACE
