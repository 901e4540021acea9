#pragma once
// Text output, which host.cpp and cortex_m3/board.cpp implement. Besides it, the programs need only the C library.
#include <string_view>

void say(std::string_view text);

inline void say(long number) {
  char digits[12], *at = digits + sizeof digits;
  const bool negative = number < 0;
  unsigned long rest = negative ? 0ul - static_cast<unsigned long>(number) : static_cast<unsigned long>(number);
  do *--at = char('0' + rest % 10);
  while (rest /= 10);
  if (negative) *--at = '-';
  say({at, std::size_t(digits + sizeof digits - at)});
}
