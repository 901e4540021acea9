#include "c/handles.hpp"

#include <cameo/graph/model.hpp>

namespace cameo::c {
namespace {

std::vector<cameo_io> describe(const std::vector<io_info>& all, const std::vector<std::string>& symbols) {
  std::vector<cameo_io> made;
  for (const io_info& each : all) {
    cameo_io& one = made.emplace_back(cameo_io{&each, {}});
    if (!each.type.is_tensor() || !each.type.shape) continue;
    for (const dim& d : *each.type.shape)
      one.dim_names.push_back(d.symbol > 0 && d.symbol < symbols.size() ? symbols[d.symbol] : std::string{});
  }
  return made;
}

/// Loads with a function of the runtime, and returns the session's handle in `*made`.
template <class Load>
status load_session(const cameo_runtime& runtime, const cameo_options* options, cameo_session** made, Load&& load) {
  result<session_options> how = runtime.options(options);
  if (!how) return std::move(how).error();
  result<session> loaded = load(*how);
  if (!loaded) return std::move(loaded).error();
  auto handle = std::make_unique<cameo_session>();
  handle->loaded = std::make_shared<const session>(std::move(*loaded));
  handle->inputs = describe(handle->loaded->inputs(), handle->loaded->graph().symbols);
  handle->outputs = describe(handle->loaded->outputs(), handle->loaded->graph().symbols);
  *made = handle.release();
  return {};
}

}  // namespace
}  // namespace cameo::c

cameo_error* cameo_session_load(const cameo_runtime* runtime, const char* path, const cameo_options* options,
                                cameo_session** made) {
  using namespace cameo;
  return c::answer([&]() -> status {
    if (status s = c::need({{"runtime", runtime}, {"path", path}, {"made", made}}); !s) return s;
    return c::load_session(*runtime, options, made,
                           [&](const session_options& how) { return runtime->providers.load(path, how); });
  });
}

cameo_error* cameo_session_load_bytes(const cameo_runtime* runtime, const void* bytes, std::size_t size,
                                      const char* name, const cameo_options* options, cameo_session** made) {
  using namespace cameo;
  return c::answer([&]() -> status {
    if (status s = c::need({{"runtime", runtime}, {"bytes", bytes}, {"made", made}}); !s) return s;
    const std::span<const std::byte> view{static_cast<const std::byte*>(bytes), size};
    return c::load_session(*runtime, options, made, [&](const session_options& how) {
      return runtime->providers.load(view, how, name ? name : "model");
    });
  });
}

void cameo_session_free(cameo_session* session) { delete session; }

std::size_t cameo_session_input_count(const cameo_session* session) { return cameo::c::deref(session).inputs.size(); }
std::size_t cameo_session_output_count(const cameo_session* session) { return cameo::c::deref(session).outputs.size(); }
const cameo_io* cameo_session_input(const cameo_session* session, std::size_t number) {
  return number < cameo_session_input_count(session) ? &session->inputs[number] : nullptr;
}
const cameo_io* cameo_session_output(const cameo_session* session, std::size_t number) {
  return number < cameo_session_output_count(session) ? &session->outputs[number] : nullptr;
}

namespace {
/// The model's description of an input or output; an empty one for NULL.
const cameo::io_info& info_of(const cameo_io* io) { return io ? *io->info : cameo::c::deref<cameo::io_info>(nullptr); }
}  // namespace

const char* cameo_io_name(const cameo_io* io) { return info_of(io).name.c_str(); }
const char* cameo_io_type_text(const cameo_io* io) { return info_of(io).type_text.c_str(); }
int cameo_io_element_type(const cameo_io* io) { return int(info_of(io).element()); }
int cameo_io_rank(const cameo_io* io) {
  const cameo::value_type& type = info_of(io).type;
  return type.is_tensor() && type.shape ? int(type.shape->size()) : -1;
}
std::int64_t cameo_io_dim(const cameo_io* io, int axis, const char** name) {
  const bool is_there = axis >= 0 && axis < cameo_io_rank(io);
  if (name) *name = is_there ? io->dim_names[std::size_t(axis)].c_str() : "";
  return is_there ? (*io->info->type.shape)[std::size_t(axis)].size : -1;
}
int cameo_io_is_optional(const cameo_io* io) {
  const cameo::io_info& info = info_of(io);
  return info.optional || info.type.kind == cameo::type_kind::optional;
}
