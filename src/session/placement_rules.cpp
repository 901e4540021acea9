#include "session/placement_rules.hpp"
#include "file/messages.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE {
namespace {

constexpr const config_key_row &by_layer = config_key<"session.layer_assignment_settings">,
                               &by_name = config_key<"session.name_based_layer_assignment">;

/// Parses "device(pattern, =pattern); device(pattern)". Pieces are views of the text, so that messages can state their
/// position.
class rule_reader {
 public:
  rule_reader(const config_key_row& row, std::string_view text) : text_{text} {
    made_.by_name = &row == &by_name;
    made_.key = row.key;
  }

  result<placement_rules> read() {
    status good;
    for_each_piece(text_, ';', [&](std::string_view entry) {
      if (good && !entry.empty()) good = read_entry(entry);
    });
    if (!good) return good;
    const auto precedes = [this](const placement_rule& a, const placement_rule& b) {
      return made_.by_name ? a.pattern.size() > b.pattern.size() : a.exact < b.exact;
    };
    std::stable_sort(made_.rules.begin(), made_.rules.end(), precedes);
    return std::move(made_);
  }

 private:
  static std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blank = " \t\r\n";
    const std::size_t first = text.find_first_not_of(blank);
    return first == text.npos ? text.substr(text.size()) : text.substr(first, text.find_last_not_of(blank) + 1 - first);
  }
  template <class Visit>
  static void for_each_piece(std::string_view text, char between, Visit visit) {
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(between, begin), text.size());
      visit(trimmed(text.substr(begin, end - begin)));
      begin = end + 1;
    }
  }

  status read_entry(std::string_view entry) {
    const std::size_t open = entry.find('(');
    if (open == entry.npos) return wrong(entry, "'(' is missing");
    if (entry.back() != ')') return wrong(entry, "')' is missing at the end of the entry");
    const std::string_view device = trimmed(entry.substr(0, open));
    if (device.empty()) return wrong(entry, "a device is missing in front of '('");
    const std::optional<device_kind> kind = detail::device_kind_named(device);
    if (!kind) return wrong(device, "there is no such device; devices are cpu, gpu and npu");
    const std::string_view list = entry.substr(open + 1, entry.size() - open - 2);
    if (const std::size_t at = list.find_first_of("()"); at != list.npos)
      return wrong(list.substr(at), "a parenthesis within a list; between two entries is a ';'");
    const std::size_t first = made_.rules.size();
    status good;
    for_each_piece(list, ',', [&](std::string_view pattern) {
      if (good && !pattern.empty()) good = read_pattern(pattern, *kind, first);
    });
    return good;
  }

  /// Reads one pattern of an entry whose rules begin at index `first`.
  status read_pattern(std::string_view pattern, device_kind kind, std::size_t first) {
    const bool exact = pattern.front() == '=';
    if (exact && made_.by_name) return wrong(pattern, "patterns are looked for in names, there is no '=' here");
    const std::string_view rest = exact ? trimmed(pattern.substr(1)) : pattern;
    if (rest.empty()) return wrong(pattern, "a text is missing behind '='");
    for (std::size_t i = first; i < made_.rules.size(); ++i)
      if (made_.rules[i].pattern == rest && made_.rules[i].exact == exact)
        return wrong(pattern, "the entry has this pattern already; write it once");
    made_.rules.push_back({std::string{rest}, kind, exact});
    return {};
  }

  status wrong(std::string_view piece, std::string_view what) const {
    return failed(status_code::invalid_argument,
                  "{}, from character {}, '{}': {}; entries are `device(pattern, {}pattern)`, with `;` between "
                  "them",
                  made_.key, piece.data() - text_.data() + 1, piece.substr(0, 40), what, made_.by_name ? "" : "=");
  }

  std::string_view text_;
  placement_rules made_;
};

}  // namespace

result<placement_rules> placement_rules_of(const session_config& config) {
  const std::string_view layers = config[by_layer], names = config[by_name];
  if (!layers.empty() && !names.empty())
    return failed(status_code::invalid_argument, "{} and {} are both set; nodes are given to devices by one of them",
                  by_layer.key, by_name.key);
  if (layers.empty() && names.empty()) return placement_rules{};
  return layers.empty() ? rule_reader{by_name, names}.read() : rule_reader{by_layer, layers}.read();
}

}  // namespace CAMEO_NAMESPACE
