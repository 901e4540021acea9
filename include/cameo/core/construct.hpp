#pragma once
#include <cameo/core/abi.hpp>

#include <new>
#include <utility>

/// Names that cameo's headers use and programs do not need.
namespace CAMEO_NAMESPACE::detail {

// Replacements of std::construct_at, destroy_at and addressof, whose header <memory> costs a file of kernels more
// compile time than all that cameo declares.
template <class T, class... Args>
T* construct_at(T* at, Args&&... args) {
  return ::new (static_cast<void*>(at)) T(std::forward<Args>(args)...);  // NOLINT: see run/services.cpp
}
template <class T>
constexpr void destroy_at(T* at) noexcept {
  at->~T();
}
template <class T>
constexpr T* address_of(T& of) noexcept {
  return __builtin_addressof(of);
}

/// Owns an object on the heap, whose type is complete where it is replaced or destroyed. std::unique_ptr does the same,
/// and costs every file that includes cameo a megabyte of the compiler's memory for each type.
template <class T>
class owned {
 public:
  owned() = default;
  explicit owned(T* made) noexcept : object_{made} {}
  owned(owned&& from) noexcept : object_{std::exchange(from.object_, nullptr)} {}
  owned& operator=(owned&& from) noexcept {
    owned old{std::exchange(object_, std::exchange(from.object_, nullptr))};
    return *this;
  }
  ~owned() {
    static_assert(sizeof(T) > 0);
    delete object_;
  }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  T* get() const noexcept { return object_; }

 private:
  T* object_ = nullptr;
};

}  // namespace CAMEO_NAMESPACE::detail
