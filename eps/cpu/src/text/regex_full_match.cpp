#include <cameo/eps/cpu/regex_full_match.hpp>
#include <cameo/op/attributes/onnx.hpp>

#ifdef CAMEO_WITH_RE2
#include <re2/re2.h>

#include "operands/refuse.hpp"

namespace CAMEO_NAMESPACE::eps {

// Strings are passed to RE2 as data and size: depending on its version and build, its string view (re2::StringPiece or
// absl::string_view) can't be converted from std::string_view.
void regex_full_match::drop::operator()(re2::RE2* p) const { delete p; }

result<regex_full_match> regex_full_match::bind(bind_context& c) {
  const std::string_view text = attributes_of<op::RegexFullMatch>{c.attributes}.pattern;
  RE2::Options options;
  options.set_log_errors(false);
  regex_full_match made;
  made.pattern.reset(new RE2({text.data(), text.size()}, options));
  if (!made.pattern->ok()) return bad_attribute("`pattern`: ", std::string_view{made.pattern->error()});
  return made;
}
status regex_full_match::run(run_context& c) const {
  const tensor_view<const std::string_view> x = c.input<std::string_view>(0);
  const result<tensor_view<bool>> y = c.output<bool>(0, x.shape());
  if (!y) return y.error();
  for (std::int64_t i = 0; i < x.count(); ++i) (*y)[i] = RE2::FullMatch({x[i].data(), x[i].size()}, *pattern);
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
#endif
