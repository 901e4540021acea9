#include "c/handles.hpp"
#include "session/option_table.hpp"

#include <fmt/format.h>

#include <new>

namespace cameo::c {
namespace {

/// Calls `work` with the session options, unless the handle or one of the texts is NULL.
template <class Work>
cameo_error* change(cameo_options* options, std::initializer_list<needed> texts, Work&& work) noexcept {
  return answer([&]() -> status {
    if (status s = need({{"options", options}}); !s) return s;
    if (status s = need(texts); !s) return s;
    return work(options->all);
  });
}

/// Sets an option by the row of its name, so that the typed functions have the limits of the table.
cameo_error* set(cameo_options* options, std::initializer_list<needed> texts, const char* name, auto value) noexcept {
  return change(options, texts, [&](session_options& all) { return set_option(all, name, fmt::format("{}", value)); });
}

}  // namespace
}  // namespace cameo::c

cameo_options* cameo_options_new() { return new (std::nothrow) cameo_options; }
void cameo_options_free(cameo_options* options) { delete options; }

cameo_error* cameo_options_set(cameo_options* options, const char* key, const char* text) {
  return cameo::c::set(options, {{"key", key}, {"text", text}}, key, text);
}
cameo_error* cameo_options_set_threads(cameo_options* options, std::size_t threads) {
  return cameo::c::set(options, {}, "threads", threads);
}
cameo_error* cameo_options_set_optimization(cameo_options* options, int level) {
  return cameo::c::set(options, {}, "optimize", level);
}
cameo_error* cameo_options_set_memory_limit(cameo_options* options, std::size_t bytes) {
  return cameo::c::set(options, {}, "memory_limit", bytes);
}
cameo_error* cameo_options_set_policy(cameo_options* options, const char* policy) {
  return cameo::c::set(options, {{"policy", policy}}, "policy", policy);
}

cameo_error* cameo_options_set_free_dim(cameo_options* options, const char* name, std::int64_t size) {
  return cameo::c::change(options, {{"name", name}}, [&](cameo::session_options& all) -> cameo::status {
    all.free_dims.emplace_back(name, size);
    return {};
  });
}

cameo_error* cameo_options_set_log(cameo_options* options, void (*log)(void*, int, const char*), void* user,
                                   int least_severity) {
  return cameo::c::change(options, {}, [&](cameo::session_options& all) -> cameo::status {
    if (cameo::status s = cameo::set_option(all, "log_level", std::to_string(least_severity)); !s) return s;
    all.log = {};
    if (log)
      all.log = [log, user](cameo::log_level severity, std::string_view words) {
        log(user, int(severity), std::string{words}.c_str());
      };
    return {};
  });
}

cameo_error* cameo_options_set_progress(cameo_options* options, void (*progress)(void*, const char*, double),
                                        void* user) {
  return cameo::c::change(options, {}, [&](cameo::session_options& all) -> cameo::status {
    all.progress = {};
    if (progress)
      all.progress = [progress, user](const cameo::load_progress& at) {
        progress(user, std::string{at.stage}.c_str(), at.fraction);
      };
    return {};
  });
}

cameo_error* cameo_options_set_stop(cameo_options* options, const cameo_stop* stop) {
  return cameo::c::change(options, {}, [&](cameo::session_options& all) -> cameo::status {
    all.stop = stop ? stop->token : cameo::stop_token{};
    return {};
  });
}
