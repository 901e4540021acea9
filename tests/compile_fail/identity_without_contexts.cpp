// expect: cameo: the hooks `identify` and `identity` need those of stored contexts
// naming: nameless_provider
#include "contexts.hpp"

struct nameless_provider : compiling {
  static constexpr std::string_view name = "nameless", long_name = "NamelessExecutionProvider";
#ifdef CAMEO_MUST_FAIL
  using context_builder = std::string;
  void identify(std::string& all, std::string_view id) const { all += id; }
  cameo::result<std::string> identity(const cameo::context_binary&) const { return std::string{}; }
#endif
};
cameo::runtime<cameo::partial<nameless_provider>> runtime;
