#pragma once
#include <cameo/core/result.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

CAMEO_BEGIN_NAMESPACE

/// Bytes of a message in pieces: weights are borrowed, not copied.
struct wire_pieces {
  struct piece {
    std::size_t at;  // before this byte of `text`
    std::span<const std::byte> bytes;
  };
  std::string text;
  std::vector<piece> borrowed;  // in order
  std::size_t borrowed_bytes = 0;

  std::size_t size() const { return text.size() + borrowed_bytes; }
  void append(const wire_pieces&);
  void borrow(std::span<const std::byte>);
  /// In order of the message.
  std::vector<std::span<const std::byte>> spans() const;
  /// In one string.
  std::string joined() const;
};

CAMEO_END_NAMESPACE
