#include <cameo/eps/cpu/detail/window.hpp>
#include <cameo/op/read_window.hpp>

namespace CAMEO_NAMESPACE::eps {

result<window> window_of(const bind_context& c) { return detail::read_window(c.attributes); }

}  // namespace CAMEO_NAMESPACE::eps
