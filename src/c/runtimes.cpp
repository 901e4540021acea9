#include "c/handles.hpp"
#include "core/nearest.hpp"
#include "file/messages.hpp"

#include <cameo/session/compile.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace cameo::c {
namespace {

status check_provider(std::string_view name) {
  std::vector<std::string_view> known;
  for (const provider_row* each : build::provider_rows()) {
    if (name == each->name || name == each->long_name) return {};
    known.push_back(each->name);
  }
  return failed(status_code::invalid_argument, "the library has no provider '{}'; it has {}{}", name,
                fmt::join(known, ", "), did_you_mean(name, known));
}

}  // namespace
}  // namespace cameo::c

cameo::result<cameo::session_options> cameo_runtime::options(const cameo_options* given) const {
  cameo::session_options made = given ? given->all : cameo::session_options{};
  made.providers = names;
  if (cameo::status s = cameo::build::choose_default_provider(made); !s) return s;
  return made;
}

std::size_t cameo_provider_count() { return cameo::build::provider_rows().size(); }

const char* cameo_provider_name(std::size_t number) {
  const auto rows = cameo::build::provider_rows();
  return number < rows.size() ? rows[number]->name.data() : nullptr;
}

cameo_error* cameo_runtime_new(const char* const* providers, std::size_t count, cameo_runtime** made) {
  using namespace cameo;
  return c::answer([&]() -> status {
    if (status s = c::need({{"made", made}, {"providers", count ? providers : static_cast<const void*>("")}}); !s)
      return s;
    auto runtime = std::make_unique<cameo_runtime>();
    for (std::size_t i = 0; i < count; ++i) {
      if (!providers[i]) return {status_code::invalid_argument, "the name of a provider is NULL"};
      if (status s = c::check_provider(providers[i]); !s) return s;
      runtime->names.emplace_back(providers[i]);
    }
    *made = runtime.release();
    return {};
  });
}

void cameo_runtime_free(cameo_runtime* runtime) { delete runtime; }

cameo_error* cameo_compile(const cameo_runtime* runtime, const char* from, const char* to, const cameo_options* options,
                           int embed, std::size_t* compiled_nodes) {
  using namespace cameo;
  return c::answer([&]() -> status {
    if (status s = c::need({{"runtime", runtime}, {"from", from}, {"to", to}}); !s) return s;
    result<session_options> how = runtime->options(options);
    if (!how) return std::move(how).error();
    compile_options all;
    all.input = from;
    all.output = to;
    all.session = std::move(*how);
    all.embed = embed != 0;
    const result<compile_report> done = runtime->providers.compile(std::move(all));
    if (!done) return done.error();
    if (compiled_nodes) *compiled_nodes = done->compiled_nodes;
    return {};
  });
}
