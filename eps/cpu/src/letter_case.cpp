#include "letter_case.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

/// Every `stride`-th code point of [first, last] is a capital; its small letter is `distance` away, and back.
struct case_run {
  char32_t first, last;
  std::int32_t distance;
  std::uint32_t stride;
};
// clang-format off
constexpr case_run runs[] = {
    {0x41, 0x5a, 32, 1}, {0xc0, 0xd6, 32, 1}, {0xd8, 0xde, 32, 1},
    // Latin Extended-A and -B
    {0x100, 0x12e, 1, 2}, {0x132, 0x136, 1, 2}, {0x139, 0x147, 1, 2}, {0x14a, 0x176, 1, 2}, {0x178, 0x178, -121, 1},
    {0x179, 0x17d, 1, 2}, {0x181, 0x181, 210, 1}, {0x182, 0x184, 1, 2}, {0x186, 0x186, 206, 1}, {0x187, 0x187, 1, 1},
    {0x189, 0x18a, 205, 1}, {0x18b, 0x18b, 1, 1}, {0x18e, 0x18e, 79, 1}, {0x18f, 0x18f, 202, 1}, {0x190, 0x190, 203, 1},
    {0x191, 0x191, 1, 1}, {0x193, 0x193, 205, 1}, {0x194, 0x194, 207, 1}, {0x196, 0x196, 211, 1},
    {0x197, 0x197, 209, 1},
    {0x198, 0x198, 1, 1}, {0x19c, 0x19c, 211, 1}, {0x19d, 0x19d, 213, 1}, {0x19f, 0x19f, 214, 1}, {0x1a0, 0x1a4, 1, 2},
    {0x1a6, 0x1a6, 218, 1}, {0x1a7, 0x1a7, 1, 1}, {0x1a9, 0x1a9, 218, 1}, {0x1ac, 0x1ac, 1, 1}, {0x1ae, 0x1ae, 218, 1},
    {0x1af, 0x1af, 1, 1}, {0x1b1, 0x1b2, 217, 1}, {0x1b3, 0x1b5, 1, 2}, {0x1b7, 0x1b7, 219, 1}, {0x1b8, 0x1b8, 1, 1},
    {0x1bc, 0x1bc, 1, 1}, {0x1c4, 0x1c4, 2, 1}, {0x1c7, 0x1c7, 2, 1}, {0x1ca, 0x1ca, 2, 1}, {0x1cd, 0x1db, 1, 2},
    {0x1de, 0x1ee, 1, 2}, {0x1f1, 0x1f1, 2, 1}, {0x1f4, 0x1f4, 1, 1}, {0x1f6, 0x1f6, -97, 1}, {0x1f7, 0x1f7, -56, 1},
    {0x1f8, 0x21e, 1, 2}, {0x220, 0x220, -130, 1}, {0x222, 0x232, 1, 2}, {0x246, 0x24e, 1, 2},
    // Greek
    {0x370, 0x372, 1, 2}, {0x376, 0x376, 1, 1}, {0x37f, 0x37f, 116, 1}, {0x386, 0x386, 38, 1}, {0x388, 0x38a, 37, 1},
    {0x38c, 0x38c, 64, 1}, {0x38e, 0x38f, 63, 1}, {0x391, 0x3a1, 32, 1}, {0x3a3, 0x3ab, 32, 1}, {0x3cf, 0x3cf, 8, 1},
    {0x3d8, 0x3ee, 1, 2}, {0x3f7, 0x3f7, 1, 1}, {0x3f9, 0x3f9, -7, 1}, {0x3fa, 0x3fa, 1, 1}, {0x3fd, 0x3ff, -130, 1},
    // Cyrillic, Armenian
    {0x400, 0x40f, 80, 1}, {0x410, 0x42f, 32, 1}, {0x460, 0x480, 1, 2}, {0x48a, 0x4be, 1, 2}, {0x4c0, 0x4c0, 15, 1},
    {0x4c1, 0x4cd, 1, 2}, {0x4d0, 0x52e, 1, 2}, {0x531, 0x556, 48, 1},
    // Latin Additional, Greek Extended
    {0x1e00, 0x1e94, 1, 2}, {0x1ea0, 0x1efe, 1, 2}, {0x1f08, 0x1f0f, -8, 1}, {0x1f18, 0x1f1d, -8, 1},
    {0x1f28, 0x1f2f, -8, 1}, {0x1f38, 0x1f3f, -8, 1}, {0x1f48, 0x1f4d, -8, 1}, {0x1f59, 0x1f5f, -8, 2},
    {0x1f68, 0x1f6f, -8, 1}, {0x1f88, 0x1f8f, -8, 1}, {0x1f98, 0x1f9f, -8, 1}, {0x1fa8, 0x1faf, -8, 1},
    {0x1fb8, 0x1fb9, -8, 1}, {0x1fba, 0x1fbb, -74, 1}, {0x1fbc, 0x1fbc, -9, 1}, {0x1fc8, 0x1fcb, -86, 1},
    {0x1fcc, 0x1fcc, -9, 1}, {0x1fd8, 0x1fd9, -8, 1}, {0x1fda, 0x1fdb, -100, 1}, {0x1fe8, 0x1fe9, -8, 1},
    {0x1fea, 0x1feb, -112, 1}, {0x1fec, 0x1fec, -7, 1}, {0x1ff8, 0x1ff9, -128, 1}, {0x1ffa, 0x1ffb, -126, 1},
    {0x1ffc, 0x1ffc, -9, 1},
    // Roman numerals, letters in circles, wide letters
    {0x2160, 0x216f, 16, 1}, {0x24b6, 0x24cf, 26, 1}, {0xff21, 0xff3a, 32, 1},
};
// clang-format on

/// Letters whose way back is another: the dotted I, the long s, title case, signs that look like letters.
struct one_way {
  char32_t from, to;
};
constexpr one_way only_lower[] = {{0x130, 0x69},  {0x1c5, 0x1c6}, {0x1c8, 0x1c9},  {0x1cb, 0x1cc}, {0x1f2, 0x1f3},
                                  {0x3f4, 0x3b8}, {0x1e9e, 0xdf}, {0x2126, 0x3c9}, {0x212a, 0x6b}, {0x212b, 0xe5}};
constexpr one_way only_upper[] = {{0xb5, 0x39c},  {0x131, 0x49},    {0x17f, 0x53},  {0x1c5, 0x1c4}, {0x1c8, 0x1c7},
                                  {0x1cb, 0x1ca}, {0x1f2, 0x1f1},   {0x345, 0x399}, {0x3c2, 0x3a3}, {0x3d0, 0x392},
                                  {0x3d1, 0x398}, {0x3d5, 0x3a6},   {0x3d6, 0x3a0}, {0x3f0, 0x39a}, {0x3f1, 0x3a1},
                                  {0x3f5, 0x395}, {0x1e9b, 0x1e60}, {0x1fbe, 0x399}};

bool in_run(const case_run& run, char32_t c) {
  return c >= run.first && c <= run.last && (c - run.first) % run.stride == 0;
}

}  // namespace

char32_t to_lower(char32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z' ? c + 32 : c;
  for (const case_run& run : runs)
    if (in_run(run, c)) return char32_t(std::int32_t(c) + run.distance);
  for (const one_way& letter : only_lower)
    if (letter.from == c) return letter.to;
  return c;
}

char32_t to_upper(char32_t c) {
  if (c < 0x80) return c >= 'a' && c <= 'z' ? c - 32 : c;
  for (const case_run& run : runs)
    if (const auto capital = char32_t(std::int32_t(c) - run.distance); in_run(run, capital)) return capital;
  for (const one_way& letter : only_upper)
    if (letter.from == c) return letter.to;
  return c;
}

char32_t next_code_point(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return char32_t(std::uint8_t(text[i])); };
  const char32_t first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  char32_t c = length == 1 ? first : first & (0x7fu >> length);
  bool good = length > 0 && length <= text.size();
  for (std::size_t i = 1; good && i < length; ++i) {
    good = (byte(i) & 0xc0) == 0x80;
    c = c << 6 | (byte(i) & 0x3f);
  }
  good = good && !(length == 3 && c < 0x800) && !(length == 4 && (c < 0x10000 || c > 0x10ffff)) &&
         !(c >= 0xd800 && c < 0xe000);
  text.remove_prefix(good ? length : 1);
  return good ? c : raw_byte + first;
}

std::size_t write_code_point(char32_t c, char* to) {
  if (c >= raw_byte) return to[0] = char(c - raw_byte), 1;
  if (c < 0x80) return to[0] = char(c), 1;
  const std::size_t length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  for (std::size_t i = length; i-- > 1; c >>= 6) to[i] = char(0x80 | (c & 0x3f));
  to[0] = char((0xf00u >> length) | c);
  return length;
}

}  // namespace cameo::inline CAMEO_ABI::eps
