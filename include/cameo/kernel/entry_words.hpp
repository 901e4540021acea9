#pragma once
#include <cameo/kernel/kernel_list.hpp>

#include <array>
#include <span>
#include <string_view>

namespace CAMEO_NAMESPACE {

/// An entry of a kernel list as C++ text, for programs that write lists of kernels. Names are relative to cameo::eps:
/// "op::Add", "binary<op::Add>".
struct entry_words {
  std::string_view kind;    // kernel_entry or erased_entry
  std::string_view op;      // the operator's tag
  std::string_view kernel;  // the kernel, or its template
  bool takes_types;         // a list of element types may follow the kernel's operator: binary<op::Add, float>
};

namespace detail {
template <std::size_t N>
struct static_text {
  char chars[N + 1]{};
  std::size_t size = 0;
  constexpr std::string_view view() const { return {chars, size}; }
};

template <class T>
consteval auto signature_with() {
  return std::string_view{__PRETTY_FUNCTION__};
}
template <template <class...> class T>
consteval auto signature_with() {
  return std::string_view{__PRETTY_FUNCTION__};
}
/// The compiler's text for T in a signature: "... [with T = cameo::v1::op::Add]", or "[T = ...]".
constexpr std::string_view argument_in(std::string_view signature) {
  const std::size_t first = signature.find("T = ") + 4, last = signature.find_first_of(";]", first);
  return signature.substr(first, last - first);
}
/// A name as it is written in cameo::eps.
template <std::size_t N>
constexpr static_text<N> without_namespaces(std::string_view name) {
  constexpr std::string_view left_out[] = {"cameo::", "v1::", "v1_code_only::", "eps::"};
  static_text<N> made;
  bool starts_name = true;
  for (std::size_t i = 0; i < name.size();) {
    std::size_t skipped = 0;
    if (starts_name)
      for (const std::string_view each : left_out)
        if (name.substr(i + skipped).starts_with(each)) skipped += each.size();
    i += skipped;
    starts_name = name[i] == '<' || name[i] == ',' || name[i] == ' ';
    made.chars[made.size++] = name[i++];
  }
  return made;
}
template <class T>
inline constexpr auto name_text =
    without_namespaces<argument_in(signature_with<T>()).size()>(argument_in(signature_with<T>()));
template <template <class...> class T>
inline constexpr auto template_text =
    without_namespaces<argument_in(signature_with<T>()).size()>(argument_in(signature_with<T>()));

template <class Op, class Since, auto C, template <class...> class K>
constexpr entry_words words_of(const kernel_entry<Op, Since, C, K>&) {
  return {"kernel_entry", name_text<Op>.view(), template_text<K>.view(), false};
}
template <class Op, class Since, auto C, class K>
constexpr entry_words words_of(const erased_entry<Op, Since, C, K>&) {
  return {"erased_entry", name_text<Op>.view(), name_text<K>.view(), requires { typename K::template of<float>; }};
}
template <class List>
struct list_words;
template <class... Entries>
struct list_words<kernel_list<Entries...>> {
  static constexpr std::array<entry_words, sizeof...(Entries)> all{words_of(Entries{})...};
};
}  // namespace detail

/// The entries of a kernel_list, in its order. kernel_row::entry is an index into them plus 1.
template <class List>
constexpr std::span<const entry_words> entry_words_of() {
  return detail::list_words<List>::all;
}

}  // namespace CAMEO_NAMESPACE
