#include "c/handles.hpp"

#include <cameo/core/version.hpp>

#include <new>

namespace cameo::c {
namespace {

cameo_error no_memory{status_code::out_of_memory};

}  // namespace

cameo_error* to_error(status why) noexcept {
  if (why) return nullptr;
  cameo_error* const made = new (std::nothrow) cameo_error{std::move(why)};
  return made ? made : &no_memory;
}

status need(std::initializer_list<needed> all) {
  for (const needed& each : all)
    if (!each.pointer) return status{status_code::invalid_argument, "is NULL"}.in(each.name);
  return {};
}

}  // namespace cameo::c

const char* cameo_version() { return CAMEO_VERSION; }

int cameo_error_code(const cameo_error* error) {
  return error ? int{cameo::detail::status_rows[std::size_t(error->why.code())].number} : int{CAMEO_OK};
}
const char* cameo_error_name(const cameo_error* error) {
  return error ? error->why.name() : cameo::detail::status_rows[0].name;
}
const char* cameo_error_words(const cameo_error* error) {
  return error && !error->why.words().empty() ? error->why.words().data() : "";
}
void cameo_error_free(cameo_error* error) {
  if (error != &cameo::c::no_memory) delete error;
}
