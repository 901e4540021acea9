// The options of the provider, which sessions set by the keys ep.cpu.<option>.
#include <cameo/eps/cpu.hpp>
#include <cameo/eps/cpu/detail/math_choice.hpp>
#include <cameo/kernel/bind_context.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE::eps {
namespace {

/// True if a name matches a pattern, in which * stands for any characters.
bool fits_pattern(std::string_view name, std::string_view pattern) {
  std::size_t at = 0, in = 0, star = pattern.npos, retry = 0;
  while (at < name.size()) {
    if (in < pattern.size() && pattern[in] == '*') star = in++, retry = at;
    else if (in < pattern.size() && pattern[in] == name[at]) ++in, ++at;
    else if (star != pattern.npos) in = star + 1, at = ++retry;
    else return false;
  }
  return pattern.find_first_not_of('*', in) == pattern.npos;
}

}  // namespace

result<cpu> cpu::configured(const provider_options& wanted) const {
  const std::string_view math = wanted["math"], narrow = "bf16";
  if (math == "float32") return cpu{};
  if (math == narrow) return cpu{"*"};
  if (math.starts_with(narrow) && math.size() > narrow.size() + 1 && math[narrow.size()] == ':')
    return cpu{std::string{math.substr(narrow.size() + 1)}};
  return status{status_code::invalid_argument, "option 'math' is '" + std::string{math} +
                                                   "', and must be float32, bf16, or bf16: and patterns of nodes' "
                                                   "names, with commas"};
}

void cpu::before_bind(bind_context& c) const {
  for (std::string_view rest = bf16_nodes; !rest.empty();) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    if (fits_pattern(c.node_name, rest.substr(0, end))) c.choice = cpu_math_is_bf16;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

}  // namespace CAMEO_NAMESPACE::eps
