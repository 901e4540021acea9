#pragma once
#include <cameo/core/result.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace CAMEO_NAMESPACE {

/// The bytes of a message in several spans: weights are borrowed, not copied.
struct wire_pieces {
  struct piece {
    std::size_t at;  // position in `text` before which the span belongs
    std::span<const std::byte> bytes;
  };
  std::string text;
  std::vector<piece> borrowed;  // in order of position
  std::size_t borrowed_bytes = 0;

  std::size_t size() const { return text.size() + borrowed_bytes; }
  void append(const wire_pieces&);
  void borrow(std::span<const std::byte>);
  /// All spans in order.
  std::vector<std::span<const std::byte>> spans() const;
  /// The message in one string.
  std::string joined() const;
};

}  // namespace CAMEO_NAMESPACE
