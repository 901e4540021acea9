#include "held_folder.hpp"
#include "messages.hpp"
#include "unicode.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>

namespace CAMEO_NAMESPACE {
namespace {

/// True if a part of a path satisfies the predicate. Both separators count, because a file that was written on one
/// system may be read on another.
template <class Predicate>
bool any_part(std::string_view location, Predicate is_true) {
  while (!location.empty()) {
    std::size_t end = 0;
    while (end < location.size() && location[end] != '/' && location[end] != '\\') ++end;
    if (is_true(location.substr(0, end))) return true;
    location.remove_prefix(std::min(end + 1, location.size()));
  }
  return false;
}

/// True for the names of devices, which some systems reserve in every folder: CON, nul.txt, COM1.
bool names_device(std::string_view part) {
  static constexpr std::string_view devices[] = {"CON",  "PRN",  "AUX",  "NUL",  "COM1", "COM2", "COM3",   "COM4",
                                                 "COM5", "COM6", "COM7", "COM8", "COM9", "LPT1", "LPT2",   "LPT3",
                                                 "LPT4", "LPT5", "LPT6", "LPT7", "LPT8", "LPT9", "CONIN$", "CONOUT$"};
  static constexpr std::string_view firsts = "CPANLcpanl";
  if (part.size() < 3 || firsts.find(part.front()) == firsts.npos) return false;
  part = part.substr(0, part.find_first_of(".:"));
  while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
  return std::any_of(std::begin(devices), std::end(devices), [&](std::string_view device) {
    return part.size() == device.size() && std::equal(part.begin(), part.end(), device.begin(), [](char a, char b) {
             return (a >= 'a' && a <= 'z' ? char(a - ('a' - 'A')) : a) == b;
           });
  });
}

/// True if `..` in a path leads out of the folder in which the path starts. Links are not considered.
bool leads_out(std::string_view location) {
  int depth = 0;
  return any_part(location, [&](std::string_view part) {
    if (part == "..") return --depth < 0;
    depth += part.empty() || part == "." ? 0 : 1;
    return false;
  });
}

struct character_range {
  char32_t first, last;
};
/// Characters with which a path looks like another path: invisible ones, ones that reverse the direction of text, and
/// ones that look like dots, slashes, colons or digits.
constexpr character_range hard_to_see[] = {
    {0x00, 0x1F},        {0x7F, 0x9F},       {0xA0, 0xA0},       {0xAD, 0xAD},       {0xB2, 0xB3},
    {0xB9, 0xB9},        {0x34F, 0x34F},     {0x61C, 0x61C},     {0x115F, 0x1160},   {0x1680, 0x1680},
    {0x17B4, 0x17B5},    {0x180B, 0x180F},   {0x2000, 0x200F},   {0x2024, 0x2026},   {0x2028, 0x202F},
    {0x2044, 0x2044},    {0x205F, 0x206F},   {0x2100, 0x2101},   {0x2105, 0x2106},   {0x2215, 0x2216},
    {0x2236, 0x2236},    {0x2800, 0x2800},   {0x29F5, 0x29F5},   {0x29F8, 0x29F9},   {0x3000, 0x3000},
    {0x3164, 0x3164},    {0xE000, 0xF8FF},   {0xFE00, 0xFE0F},   {0xFE13, 0xFE13},   {0xFE19, 0xFE19},
    {0xFE30, 0xFE30},    {0xFE52, 0xFE52},   {0xFE55, 0xFE55},   {0xFE68, 0xFE68},   {0xFEFF, 0xFEFF},
    {0xFF0E, 0xFF0F},    {0xFF1A, 0xFF1A},   {0xFF3C, 0xFF3C},   {0xFF61, 0xFF61},   {0xFFA0, 0xFFA0},
    {0xFFF0, 0xFFFF},    {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3}, {0x1D159, 0x1D159}, {0x1D173, 0x1D17A},
    {0xE0000, 0x10FFFF},
};

std::string_view hidden_in(std::string_view location) {
  if (std::all_of(location.begin(), location.end(), [](char c) { return c >= 0x20 && c < 0x7F; })) return {};
  for (std::string_view rest = location; !rest.empty();) {
    const char32_t c = next_character(rest);
    if (c == no_character) return "is not UTF-8";
    const auto has = [&](const character_range& range) { return c >= range.first && c <= range.last; };
    if (std::any_of(std::begin(hard_to_see), std::end(hard_to_see), has))
      return "has a character in it that is hard to see";
  }
  switch (is_normal(location)) {
    case normality::normal: return {};
    case normality::not_nfc: return "is not in Unicode's form NFC (for example, an accent is separate from its letter)";
    case normality::too_many_accents: return "has more than 30 accents on a letter";
  }
  return {};
}

/// The reason why a path is not plain, which means that some systems would read it as another; empty if it is plain.
std::string_view not_plain(std::string_view location) {
  if (location.find('\\') != location.npos) return "has a backslash in it (folders end with /)";
  if (any_part(location, [](std::string_view part) {
        return part != "." && !part.empty() && (part.back() == '.' || part.back() == ' ');
      }))
    return "has a part that ends in a dot or a space";
  return hidden_in(location);
}

}  // namespace

std::string_view malformed(const path_rule& rule, std::string_view location) {
  if (location.empty()) return "names no file";
  if (location.find('\0') != location.npos) return "has a zero byte in its name";
  if (rule.anywhere) return {};
  if (location.front() == '/' || location.front() == '\\') return "is absolute";
  if (location.size() > 1 && location[1] == ':') return "names a drive";
  if (any_part(location, names_device)) return "names a device";
  if (!rule.inner_dot_dot && any_part(location, [](std::string_view part) { return part == ".."; }))
    return "has '..' in it";
  if (leads_out(location)) return "leads out of the folder";
  return rule.plain_names ? not_plain(location) : std::string_view{};
}

status detail::held_folder::refused(const path_rule& rule, const found_path& at, std::string_view location,
                                    std::string_view whose) const {
  std::string_view why = at.why;
  if (at.error == path_error::none && at.kind == os::file_kind::file) return {};
  if (why.empty())
    why = at.kind == os::file_kind::nothing ? "cannot be opened (there is no such file)" : "is not a regular file";
  const bool is_link = at.error == path_error::outside && !rule.remedy.empty();
  return failed(rule.refused,
                "{}: {} '{}' {}; it must be a regular file inside the folder '{}', named relative to it{}{}", whose,
                rule.what, location, why, path_, is_link ? ". If you trust what the link leads to, " : "",
                is_link ? rule.remedy : std::string_view{});
}

std::string detail::held_folder::path_of(const found_path& found, std::string_view location) const {
  std::string path = os::real_path(found.handle);
  return path.empty() ? (std::filesystem::path{path_} / location).string() : path;
}

result<found_path> detail::held_folder::file(const path_rule& rule, std::string_view location, std::string_view whose,
                                             open_for use) const try {
  found_path at = find(rule, location, use);
  if (status s = refused(rule, at, location, whose); !s) return s;
  return at;
} catch (const std::bad_alloc&) {
  return status_code::out_of_memory;
}

result<std::shared_ptr<const detail::file_bytes>> detail::held_folder::map(const path_rule& rule,
                                                                           std::string_view location,
                                                                           std::string_view whose) const try {
  const result<found_path> at = file(rule, location, whose, open_for::reading);
  if (!at) return status{at.error()};
  return detail::map_found(rule, *at, path_of(*at, location), whose);
} catch (const std::bad_alloc&) {
  return status_code::out_of_memory;
} catch (const std::exception& e) {
  return status{status_code::fail, e.what()};
}

result<std::shared_ptr<const detail::file_bytes>> detail::map_found(const path_rule& rule, const found_path& at,
                                                                    std::string path, std::string_view whose) {
  auto mapped = detail::map_opened(at.handle, std::move(path));
  if (!mapped && mapped.error().code() != status_code::out_of_memory)
    return status{rule.refused, mapped.error().words()}.in(whose);
  return mapped;
}

}  // namespace CAMEO_NAMESPACE
