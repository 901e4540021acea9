#include "graph/output_types.hpp"

#include "file/messages.hpp"

#include <algorithm>
#include <bit>

namespace CAMEO_NAMESPACE {

using detail::type_mask;

type_mask types_of(const op_version& version, const parameter& p) {
  type_mask all = ~type_mask{};  // a type string without a rule allows every type
  for (const type_rule& rule : version.types)
    if (rule.type_string == p.type_string) all = rule.tensors;
  return all;
}

std::int32_t only_type(type_mask types) { return std::has_single_bit(types) ? std::countr_zero(types) : 0; }

result<std::vector<type_choices>> output_types(const op_version& version, type_mask allowed, std::size_t most) {
  std::vector<type_choices> made{{}};
  for (const parameter& p : version.inputs)
    if ((types_of(version, p) & allowed) == 0)
      return failed(status_code::invalid_argument, "input '{}' is not a tensor", p.name);
  for (const parameter& p : version.outputs) {
    const type_mask types = types_of(version, p) & allowed;
    if (types == 0) return failed(status_code::invalid_argument, "output '{}' is not a tensor", p.name);
    if (only_type(types) || made[0].contains(p.type_string)) continue;
    const bool is_bound = p.homogeneous && std::any_of(version.inputs.begin(), version.inputs.end(), [&](auto& input) {
                            return input.type_string == p.type_string && input.homogeneous;
                          });
    if (!is_bound) return failed(status_code::invalid_argument, "no input has the type of output '{}'", p.name);
    std::vector<type_choices> longer;
    for (const type_choices& each : made)
      for (std::int32_t type = 0; type < 32; ++type)
        if (types & type_mask{1} << type) longer.emplace_back(each).emplace(p.type_string, type);
    if (longer.size() > most)
      return failed(status_code::invalid_argument, "its outputs have more than {} combinations of types", most);
    made = std::move(longer);
  }
  return made;
}

}  // namespace CAMEO_NAMESPACE
