#pragma once
#include <cameo/core/abi.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace CAMEO_NAMESPACE {

/// Kinds of processors, with ONNX Runtime's numbers.
enum class device_kind : std::uint8_t { cpu = 0, gpu = 1, npu = 2 };

namespace detail {
/// The names of the kinds, by number.
inline constexpr std::string_view device_kind_words[] = {"cpu", "gpu", "npu"};

/// The name of a kind: "cpu", "gpu" or "npu".
constexpr std::string_view name_of(device_kind kind) { return detail::device_kind_words[std::size_t(kind)]; }

/// The kind with this name, in either case; std::nullopt for any other word.
CAMEO_API std::optional<device_kind> device_kind_named(std::string_view word);

/// A set of kinds of processors.
class device_kinds {
 public:
  /// Adds a kind to the set.
  constexpr void add(device_kind kind) { bits_ = std::uint8_t(bits_ | 1u << unsigned(kind)); }
  /// True if the kind is in the set.
  constexpr bool has(device_kind kind) const { return (bits_ >> unsigned(kind) & 1u) != 0; }

 private:
  std::uint8_t bits_ = 0;
};
}  // namespace detail

}  // namespace CAMEO_NAMESPACE
