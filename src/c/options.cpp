#include "c/handles.hpp"
#include "file/messages.hpp"

#include <fmt/format.h>

#include <new>

namespace cameo::c {
namespace {

/// Changes options; a member's address is never null.
template <class Change>
cameo_error* change(cameo_options* options, std::initializer_list<needed> texts, Change&& work) noexcept {
  return answer([&]() -> status {
    if (status s = need({{"options", options}}); !s) return s;
    if (status s = need(texts); !s) return s;
    return work(options->all);
  });
}

}  // namespace
}  // namespace cameo::c

cameo_options* cameo_options_new() { return new (std::nothrow) cameo_options; }
void cameo_options_free(cameo_options* options) { delete options; }

cameo_error* cameo_options_set(cameo_options* options, const char* key, const char* text) {
  return cameo::c::change(options, {{"key", key}, {"text", text}}, [&](cameo::session_options& all) -> cameo::status {
    all.config.emplace_back(key, text);
    return {};
  });
}

cameo_error* cameo_options_set_threads(cameo_options* options, std::size_t threads) {
  return cameo::c::change(options, {}, [&](cameo::session_options& all) -> cameo::status {
    all.threads = threads;
    return {};
  });
}

cameo_error* cameo_options_set_optimization(cameo_options* options, int level) {
  return cameo::c::change(options, {}, [&](cameo::session_options& all) -> cameo::status {
    const auto named = static_cast<cameo::optimization_level>(level);
    if (level < 0 || level > 255 || !cameo::detail::is_level(named))
      return cameo::failed(cameo::status_code::invalid_argument,
                           "{} is no level of optimization; there are 0, 1, 2, 3 and 99", level);
    all.optimize = named;
    return {};
  });
}

cameo_error* cameo_options_set_free_dim(cameo_options* options, const char* name, std::int64_t size) {
  return cameo::c::change(options, {{"name", name}}, [&](cameo::session_options& all) -> cameo::status {
    all.free_dims.emplace_back(name, size);
    return {};
  });
}

cameo_error* cameo_options_set_memory_limit(cameo_options* options, std::size_t bytes) {
  return cameo::c::change(options, {}, [&](cameo::session_options& all) -> cameo::status {
    all.memory_limit = bytes;
    return {};
  });
}

cameo_error* cameo_options_set_policy(cameo_options* options, const char* policy) {
  return cameo::c::change(options, {{"policy", policy}}, [&](cameo::session_options& all) -> cameo::status {
    const cameo::result<cameo::device_policy> known = cameo::detail::device_policy_named(policy);
    return known ? all.prefer(*known) : known.error();
  });
}

cameo_error* cameo_options_set_log(cameo_options* options, void (*log)(void*, int, const char*), void* user,
                                   int least_severity) {
  return cameo::c::change(options, {}, [&](cameo::session_options& all) -> cameo::status {
    if (least_severity < CAMEO_LOG_VERBOSE || least_severity > CAMEO_LOG_WARNING)
      return cameo::failed(cameo::status_code::invalid_argument, "{} is no severity; there are 0, 1 and 2",
                           least_severity);
    all.log_from = static_cast<cameo::log_level>(least_severity);
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
