// Registers a provider's operators with ONNX Runtime.
#include "ort_plugin_export/placeholders.hpp"

#include "file/messages.hpp"
#include "graph/output_types.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE::detail::ort {
namespace {

/// The number of arguments that a variadic parameter is replaced by: ONNX Runtime infers no types of arguments after
/// the first of a variadic parameter.
constexpr std::size_t most_variadic = 16;
/// The most placeholders for one version: there is one for each combination of types that its outputs may have.
constexpr std::size_t most_combinations = 256;

const placeholder& self(const ort_custom_op* of) { return static_cast<const placeholder&>(*of); }

/// Appends the arguments for a version's inputs or outputs.
void add_arguments(const op_version& version, std::span<const parameter> from, const type_choices& chosen,
                   std::vector<placeholder::argument>& to) {
  for (const parameter& p : from) {
    const auto choice = chosen.find(p.homogeneous ? p.type_string : "");
    const std::int32_t type = choice == chosen.end() ? only_type(types_of(version, p) & numbers) : choice->second;
    const bool is_variadic = p.option == parameter_option::variadic;
    for (std::size_t i = 0; i < (is_variadic ? most_variadic : 1); ++i)
      to.push_back({type, is_variadic ? i >= p.min_arity : p.option == parameter_option::optional});
  }
}

}  // namespace

placeholder::placeholder(const plugin& by, const op_row& row, const op_version& what)
    : op{row.name}, provider{by.name}, since{what.since} {
  version = by.ort.version();
  GetName = [](const ort_custom_op* of) { return self(of).op.c_str(); };
  GetExecutionProviderType = [](const ort_custom_op* of) { return self(of).provider.c_str(); };
  GetInputTypeCount = [](const ort_custom_op* of) { return self(of).inputs.size(); };
  GetInputType = [](const ort_custom_op* of, std::size_t i) { return self(of).inputs[i].type; };
  GetInputCharacteristic = [](const ort_custom_op* of, std::size_t i) { return self(of).inputs[i].presence; };
  GetInputMemoryType = [](const ort_custom_op*, std::size_t) { return std::int32_t{0}; };
  GetOutputTypeCount = [](const ort_custom_op* of) { return self(of).outputs.size(); };
  GetOutputType = [](const ort_custom_op* of, std::size_t i) { return self(of).outputs[i].type; };
  GetOutputCharacteristic = [](const ort_custom_op* of, std::size_t i) { return self(of).outputs[i].presence; };
  GetStartVersion = [](const ort_custom_op* of) { return self(of).since; };
  CreateKernelV2 = [](const ort_custom_op* of, ort_table functions, const void*, void** kernel) -> ort_status* {
    *kernel = nullptr;
    return ort_error(functions,
                     failed(status_code::not_implemented, "{} left a node of operator '{}', and nothing else runs it",
                            self(of).provider, self(of).op));
  };
  KernelDestroy = [](void*) {};
}

placeholder_domains::placeholder_domains(const plugin& by) : plugin_{by} {
  if (by.ort.version() < 24) return;
  for (const std::span<const op_row>& list : {by.ep.row->kernels().ops, by.ep.row->own_ops})
    for (const op_row& row : list)
      if (!row.domain.empty() && !find_op(standard_ops(), row.domain, row.name)) add(row);
}

/// ONNX Runtime has one schema for all versions of an operator, and rejects every model if their numbers of arguments
/// differ. All versions therefore get the same number of optional arguments. claim() checks those of each node.
void placeholder_domains::add(const op_row& row) {
  const auto warn = [&](int version, const status& why) {
    plugin_.ort.log(plugin_.log, ort_severity::warning,
                    fmt::format("operator '{}' of domain '{}', version {}, is not registered: {}", row.name, row.domain,
                                version, why.words()));
  };
  std::vector<placeholder*> made;
  for (const op_version& version : row.versions) {
    const result<std::vector<type_choices>> all = output_types(version, numbers, most_combinations);
    if (!all) warn(version.since, all.error());
    for (const type_choices& chosen : all.value_or(std::vector<type_choices>{})) {
      placeholder& one = *made.emplace_back(&ops_.emplace_back(plugin_, row, version));
      add_arguments(version, version.inputs, chosen, one.inputs);
      add_arguments(version, version.outputs, chosen, one.outputs);
    }
  }
  for (const auto list : {&placeholder::inputs, &placeholder::outputs}) {
    std::size_t most = 0;
    for (const placeholder* each : made) most = std::max(most, (each->*list).size());
    for (placeholder* each : made) {
      (each->*list).resize(most, {std::int32_t(dtype::f32), 1});
      for (placeholder::argument& a : each->*list) a.presence |= row.versions.size() > 1;
    }
  }
  call_sequence calls{plugin_.ort};
  for (const placeholder* one : made) {
    ort_custom_op_domain*& domain = all_[row.domain];
    if (!domain) calls.call<api::CreateCustomOpDomain>(std::string{row.domain}.c_str(), &domain);
    calls.call<api::CustomOpDomain_Add>(domain, one);
  }
  if (!calls.outcome()) warn(row.versions.back().since, calls.outcome());
}

placeholder_domains::~placeholder_domains() {
  for (const auto& [name, domain] : all_) plugin_.ort.call<api::ReleaseCustomOpDomain>(domain);
}

}  // namespace CAMEO_NAMESPACE::detail::ort
