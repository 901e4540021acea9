#include <cameo/context/compatibility.hpp>
#include <cameo/graph/model.hpp>

#include "core/guarded.hpp"
#include "file/messages.hpp"

#include <fmt/format.h>

namespace CAMEO_NAMESPACE {

std::optional<std::string> compatibility_of(const model& m, std::string_view long_name) {
  for (const detail::property& each : m.metadata)
    if (each.first.size() == compatibility_key.size() + long_name.size() && each.first.starts_with(compatibility_key) &&
        each.first.ends_with(long_name))
      return std::string{each.second};
  return {};
}

result<compiled_fit> fit_of(const provider& p, std::string_view written) {
  const auto call = [&] { return p.row->contexts.fits(p.self.get(), written); };
  result<compiled_fit> fit = guarded_hook(call);
  if (!fit) return with_code(status_code::fail, fit.error()).in(p.row->long_name);
  return fit;
}

namespace {

/// The error for a model that does not work on this machine: the provider's message if it has one; otherwise, as in
/// ONNX Runtime, a message with the compatibility texts of the model and of this machine.
status misfit_of(const provider& p, std::string_view written) {
  const detail::context_row& row = p.row->contexts;
  status own = guarded_hook([&] { return row.misfit(p.self.get(), written); });
  if (!own) return std::move(own).in(p.row->long_name);
  const auto call = [&]() -> result<std::string> { return row.compatibility(p.self.get(), {}); };
  const result<std::string> here = guarded_hook(call);
  return failed(status_code::fail, "{}: the model was compiled for '{}', which does not work here{}; compile it again",
                p.row->long_name, written, here && !here->empty() ? fmt::format(", on '{}'", *here) : "");
}

}  // namespace

status require_fit(const model& m, std::span<const provider> providers, bool optimal_only,
                   std::vector<std::string>& warnings) {
  for (const provider& p : providers) {
    const std::optional<std::string> written = compatibility_of(m, p.row->long_name);
    if (!written) continue;
    const result<compiled_fit> fit = fit_of(p, *written);
    if (!fit) return status{fit.error()};
    const auto says = [&](std::string_view what) {
      return fmt::format("{}: the model was compiled for '{}', which {}", p.row->long_name, *written, what);
    };
    switch (*fit) {
      case compiled_fit::not_applicable:
      case compiled_fit::optimal: break;
      case compiled_fit::prefer_recompilation:
        if (optimal_only)
          return {status_code::fail, says("works here, but less well than after compiling the model again "
                                          "(session.fail_on_suboptimal_compiled_model is set)")};
        warnings.push_back(says("works here, but less well than after compiling the model again"));
        break;
      case compiled_fit::unsupported: return misfit_of(p, *written);
    }
  }
  return {};
}

}  // namespace CAMEO_NAMESPACE
