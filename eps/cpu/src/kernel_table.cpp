// Compiles the kernel list to the table of kernels.
#include <cameo/eps/cpu.hpp>

#include "kernel_rows.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

[[maybe_unused]] constexpr std::string_view needs_re2 =
    "this build of cameo has no RE2; install RE2 (Debian: libre2-dev) and build cameo again, with CAMEO_RE2=ON";
[[maybe_unused]] constexpr detail::lacking_kernel without_re2[] = {
    {detail::op_id_of<op::RegexFullMatch>, needs_re2}, {detail::op_id_of<op::microsoft::Tokenizer>, needs_re2}};
constexpr std::span<const detail::lacking_kernel> lacking{
#ifndef CAMEO_WITH_RE2
    without_re2
#endif
};

}  // namespace

constinit const detail::kernel_table cpu_kernels::table{kernel_rows::table.rows, kernel_rows::table.rules,
                                                        kernel_rows::table.ops, lacking};

}  // namespace CAMEO_NAMESPACE::eps
