#include "c/handles.hpp"
#include "file/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

namespace cameo::c {

run_settings to_settings(const cameo_stop* stop, std::int64_t timeout) {
  run_settings made;
  if (stop) made.stop = stop->token;
  if (timeout >= 0) made.timeout = detail::duration::from_nanoseconds(timeout);
  return made;
}

namespace {

status run_once(const session& loaded, std::span<const char* const> names, std::span<const cameo_value* const> inputs,
                const run_settings& settings, std::span<cameo_value*> outputs) {
  if (outputs.size() != loaded.outputs().size())
    return failed(status_code::invalid_argument, "the model has {} outputs, but `outputs` has space for {}",
                  loaded.outputs().size(), outputs.size());
  std::vector<named_input> given;
  given.reserve(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i]) return failed(status_code::invalid_argument, "the name of input {} is NULL", i);
    given.emplace_back(std::string_view{names[i]}, inputs[i] ? inputs[i]->view : value{});
  }
  result<named_values> made = loaded.run(given, settings);
  if (!made) return std::move(made).error();
  std::vector<std::unique_ptr<cameo_value>> handles;
  for (named_value& each : made->items) handles.push_back(std::make_unique<cameo_value>(std::move(each.value)));
  std::ranges::transform(handles, outputs.begin(), [](auto& each) { return each.release(); });
  return {};
}

/// Binds an input. The binding shares the data that the handle owns, and copies a value with nested values that the
/// handle does not own, because its descriptors may be freed; a tensor's elements in the caller's memory are not
/// copied.
status bind_value(cameo_binding& binding, const char* name, const cameo_value& given) {
  const auto kept = std::ranges::find(binding.kept, name, &std::pair<std::string, any_value>::first);
  any_value own = given.owned || given.view.parts.empty() ? given.owned : any_value::copy_of(given.view);
  const value& bound = own ? own.view() : given.view;
  if (status s = binding.bound.bind_input(named_input{std::string_view{name}, bound}); !s) return s;
  if (kept != binding.kept.end()) kept->second = std::move(own);
  else if (own) binding.kept.emplace_back(name, std::move(own));
  return {};
}

}  // namespace
}  // namespace cameo::c

cameo_error* cameo_session_run(const cameo_session* session, const char* const* names, const cameo_value* const* inputs,
                               std::size_t count, const cameo_stop* stop, std::int64_t timeout, cameo_value** outputs,
                               std::size_t output_count) {
  using namespace cameo;
  return c::answer([&]() -> status {
    if (status s = c::need({{"session", session}, {"outputs", outputs}}); !s) return s;
    if (count)
      if (status s = c::need({{"names", names}, {"inputs", inputs}}); !s) return s;
    return c::run_once(*session->loaded, {names, count}, {inputs, count}, c::to_settings(stop, timeout),
                       {outputs, output_count});
  });
}

cameo_error* cameo_session_bind(const cameo_session* session, cameo_binding** made) {
  using namespace cameo;
  return c::answer([&]() -> status {
    if (status s = c::need({{"session", session}, {"made", made}}); !s) return s;
    result<io_binding> bound = session->loaded->bind();
    if (!bound) return std::move(bound).error();
    *made = new cameo_binding{session->loaded, std::move(*bound), {}};
    return {};
  });
}

void cameo_binding_free(cameo_binding* binding) { delete binding; }

cameo_error* cameo_binding_input(cameo_binding* binding, const char* name, const cameo_value* value) {
  using namespace cameo;
  return c::answer([&]() -> status {
    if (status s = c::need({{"binding", binding}, {"name", name}}); !s) return s;
    return c::bind_value(*binding, name, c::deref(value));
  });
}

cameo_error* cameo_binding_output(cameo_binding* binding, const char* name, int element_type, const std::int64_t* dims,
                                  std::size_t rank, void* elements, std::size_t bytes) {
  using namespace cameo;
  return c::answer([&]() -> status {
    if (status s = c::need({{"binding", binding}, {"name", name}}); !s) return s;
    if (!elements) return binding->bound.bind_output(std::string_view{name}, value{});
    const result<value> tensor = c::to_tensor(element_type, dims, rank, elements, bytes);
    return tensor ? binding->bound.bind_output(std::string_view{name}, *tensor) : tensor.error();
  });
}

cameo_error* cameo_binding_run(cameo_binding* binding, const cameo_stop* stop, std::int64_t timeout) {
  using namespace cameo;
  return c::answer([&]() -> status {
    if (status s = c::need({{"binding", binding}}); !s) return s;
    binding->outputs.clear();  // they refer to memory that even a failing run may free
    if (status s = binding->session->run(binding->bound, c::to_settings(stop, timeout)); !s) return s;
    binding->outputs.resize(binding->bound.output_count());
    for (std::size_t i = 0; i < binding->outputs.size(); ++i) binding->outputs[i].refer_to(binding->bound.output(i));
    return {};
  });
}

const cameo_value* cameo_binding_result(const cameo_binding* binding, std::size_t number) {
  return binding && number < binding->outputs.size() ? &binding->outputs[number] : nullptr;
}

cameo_stop* cameo_stop_new() {
  try {
    return new cameo_stop;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void cameo_stop_request(const cameo_stop* stop) {
  if (stop) stop->source.request_stop();
}
void cameo_stop_free(cameo_stop* stop) { delete stop; }
