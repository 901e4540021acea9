#pragma once
#include <cameo/ep/provider_row.hpp>
#include <cameo/format/ort.hpp>
#include <cameo/session/loader.hpp>
#include <cameo/transform/rules/standard.hpp>

#include <array>
#include <tuple>

namespace CAMEO_NAMESPACE {

// The parameter and the result of compile() are declared in session/compile.hpp, and those of the functions for
// packages in cameo/packages.hpp; only programs that call these functions need to include them.
struct best_fit;

namespace detail {
template <class P, class... All>
struct once_check {
  static constexpr bool is_once = [] {
    if constexpr ((constant_names<All> && ...))
      return ((std::string_view{hooks_of<P>::name} == hooks_of<All>::name) + ...) == 1;
    else return true;  // provider_check has given the error
  }();
  static_assert(is_once, "cameo: this provider, or another with its name, is listed twice");
};
template <class P>
struct default_check {
  static_assert(std::default_initializable<P>,
                "cameo: this provider has no default constructor; make the runtime of provider objects: "
                "cameo::runtime runtime{my_npu{settings}, cameo::eps::cpu{}};");
};
template <class Last>
struct last_check {
  static_assert(fallback_provider<Last>,
                "cameo: the last provider of a runtime must be a fallback: end the list with one, as in "
                "runtime<my_npu, cameo::eps::cpu>; "
                "if it need not run every operator, write runtime<partial<...>>");
};
}  // namespace detail

/// A list of providers in order of priority whose last one need not be a fallback, so that an operator may have no
/// provider: runtime<partial<my_npu>>.
template <class... Ps>
struct partial {};

/// The formats that a runtime reads unless its list names others: runtime<formats<ort_format>, cameo::eps::cpu>.
using default_formats = detail::format_list<ort_format, onnx_format>;
/// The transforms that a runtime applies before partitioning unless its list names others. Providers add transforms
/// that run after partitioning.
using default_transforms = rules::standard_transforms;

namespace detail {
/// The types that load() accepts as a file's path: a string of any kind, a std::filesystem::path.
template <class P>
concept path_like = std::convertible_to<P, std::string> || std::convertible_to<P, std::string_view>;
/// The text of a path, without a copy where possible: a copy may throw, and load() must not. If the path's type only
/// converts to a string, `kept` owns the text.
template <path_like Path>
std::string_view text_of(const Path& path, std::string& kept) {
  if constexpr (std::convertible_to<const Path&, std::string_view>) return path;
  else if constexpr (requires { std::string_view{path.native()}; }) return path.native();
  else return kept = path;
}
/// The types that load() accepts as the bytes of a model.
template <class R>
concept byte_range =
    std::ranges::contiguous_range<R> && std::ranges::sized_range<R> && !path_like<R> &&
    (std::same_as<std::ranges::range_value_t<R>, std::byte> ||
     std::same_as<std::ranges::range_value_t<R>, unsigned char> || std::same_as<std::ranges::range_value_t<R>, char>);

/// The default device policy: every provider of the runtime's list is used, in the order of the list.
struct whole_list {};

/// The parts of a runtime besides its providers.
template <class Formats, class Transforms, class Devices>
struct runtime_parts {
  using formats = Formats;
  using transforms = Transforms;
  using devices = Devices;
};
}  // namespace detail

// The parts that may precede the providers in a runtime's list, each at most once and in any order.

/// Adds the user's transforms after those that the runtime has already: runtime<with<my_rules>, cameo::eps::cpu>.
template <transform_family... Families>
struct with {
  template <class Parts>
  using change = detail::runtime_parts<typename Parts::formats, typename Parts::transforms::template with<Families...>,
                                       typename Parts::devices>;
};
/// Replaces the standard transforms by these; transforms<> applies none.
template <transform_family... Families>
struct transforms {
  template <class Parts>
  using change = detail::runtime_parts<typename Parts::formats, transform_set<Families...>, typename Parts::devices>;
};
/// The formats of models that the runtime tries, in order; only these are linked.
template <model_format... Fs>
struct formats {
  static_assert(sizeof...(Fs) > 0, "cameo: a runtime reads at least one format: formats<cameo::onnx_format>");
  template <class Parts>
  using change = detail::runtime_parts<detail::format_list<Fs...>, typename Parts::transforms, typename Parts::devices>;
};
/// If session options name no providers, this policy chooses among the providers' devices:
/// runtime<devices_by<prefer_npu>, my_npu, cameo::eps::cpu>.
template <class Policy>
struct devices_by {
  static_assert(device_selector<Policy> && std::default_initializable<Policy>,
                "cameo: a policy of a runtime needs `result<std::vector<std::size_t>> operator()(const "
                "device_request&) const` and a default constructor");
  template <class Parts>
  using change = detail::runtime_parts<typename Parts::formats, typename Parts::transforms, Policy>;
};

namespace detail {
/// The parts of a runtime whose list contains only providers.
using default_parts = runtime_parts<default_formats, default_transforms, whole_list>;
/// A part of a runtime's list other than a provider.
template <class T>
concept runtime_part = requires { typename T::template change<default_parts>; };
}  // namespace detail

/// Implements the functions of every runtime; programs write runtime<...>.
template <class Parts, class... Ps>
class basic_runtime {
  static_assert(sizeof...(Ps) > 0, "cameo: a runtime needs at least one provider");
  static_assert((!detail::runtime_part<Ps> && ...),
                "cameo: with<...>, transforms<...>, formats<...> and devices_by<...> must precede the providers of a "
                "runtime");
  static_assert((sizeof(detail::provider_check<Ps>) && ... && true));
  static_assert((sizeof(detail::once_check<Ps, Ps...>) && ... && true));
  using Devices = typename Parts::devices;

 public:
  basic_runtime() { static_assert((sizeof(detail::default_check<Ps>) && ...)); }
  /// Uses provider objects that have been configured.
  explicit basic_runtime(Ps... objects)
    requires(sizeof...(Ps) > 0)
      : objects_{std::make_shared<std::tuple<Ps...>>(std::move(objects)...)} {}

  /// Reads, checks, partitions and plans a model file; session_options documents the options. Sessions share the
  /// provider objects. Thread-safe if the providers' hooks are. Errors start with the file's name:
  ///   NO_SUCHFILE, INVALID_PROTOBUF, INVALID_ARGUMENT, INVALID_GRAPH  an error in the file or the options
  ///   NOT_IMPLEMENTED                                   a node that no provider takes, with each one's reason
  ///   FAIL, EP_FAIL, MODEL_REQUIRES_COMPILATION         an error of a provider, or in what it claimed
  ///   OUT_OF_MEMORY, MODEL_LOAD_CANCELED                the limits, or the stop token, in the options
  template <detail::path_like Path>
  result<session> load(const Path& path, const session_options& options = {}) const {
    const auto mine = providers();
    std::string kept;
    return loader_of(mine).load(detail::text_of(path, kept), options);
  }
  /// Loads a model from memory: a range of std::byte, unsigned char or char other than a std::string (which is a path).
  /// Weights are not copied, so the bytes must outlive the session; of a temporary that owns its bytes, the session
  /// keeps them (a std::vector<std::byte>) or a copy.
  template <detail::byte_range Bytes>
  result<session> load(Bytes&& bytes, const session_options& options = {}, std::string_view name = "model") const {
    const auto mine = providers();
    const detail::loader from = loader_of(mine);
    const std::span<const std::byte> view =
        std::as_bytes(std::span{std::ranges::data(bytes), std::ranges::size(bytes)});
    if constexpr (std::is_same_v<Bytes, std::vector<std::byte>>) return from.load(std::move(bytes), name, options);
    else if constexpr (std::ranges::borrowed_range<Bytes>) return from.load(view, name, options);
    else return from.load_copy(view, name, options);
  }
  /// Loads a model from a stream, which is read to its end; the session keeps the bytes. FAIL when it can't be read.
  result<session> load(std::istream& stream, const session_options& options = {},
                       std::string_view name = "model") const {
    const auto mine = providers();
    return loader_of(mine).load(stream, name, options);
  }
  /// Loads a graph that was built or changed in memory.
  result<session> load(std::unique_ptr<model> graph, const session_options& options = {}) const {
    const auto mine = providers();
    return loader_of(mine).load(std::move(graph), options);
  }

  /// Selects a variant of a package's component for this machine (docs/packages.md), among the providers that the
  /// options name or their policy chooses. Without either, best_fit tries only the fallback, and `best_fit{.ranked =
  /// true}` every provider of the list. Other members of the options have no effect here: see load().
  /// If a user's variant_policy returns no device, the first device of the variant's provider is used.
  ///   INVALID_ARGUMENT  the component does not exist; an error in the options
  ///   FAIL              no variant fits (with each verdict); the policy chose something that does not exist
  template <class Choice = best_fit, class Context = component_context>
  result<Context> select(const package& from, std::string_view component, const session_options& how = {},
                         const Choice& policy = {}) const {
    const auto mine = providers();
    const auto choose = [&](const selection_request& r) { return policy(r); };
    return selector_of(mine).select(from, component, how, choose);
  }
  /// The devices that select() passes to the policy; for programs that call a variant_policy themselves.
  template <class Intent = detail::ep_intent>
  result<Intent> intent(const session_options& how = {}) const {
    const auto mine = providers();
    return selector_of(mine).intent(how);
  }
  /// Loads a selected variant with the package's options, on the provider for which it was selected. It may be
  /// called any number of times. It returns the errors of load() for a path, and:
  ///   FAIL         the variant names no model file, or a folder that does not exist
  ///   NO_SUCHFILE  the model file does not exist
  result<session> load(const component_context& from) const {
    const auto mine = providers();
    return loader_of(mine).load(from, nullptr);
  }
  /// Loads a selected variant with the caller's options: the package's are not used, except for folders that the caller
  /// does not set. The provider is the one for which the variant was selected, unless the options name others; no
  /// policy is called.
  result<session> load(const component_context& from, const session_options& options) const {
    const auto mine = providers();
    return loader_of(mine).load(from, &options);
  }

  /// Loads all components of a package as one model, each in the variant selected for this machine
  /// (session/pipeline.hpp). Unless the options or another policy decide otherwise, a component runs on the first
  /// provider of the list that one of its variants fits. The package's options are used. Errors are those of select()
  /// and load(), and INVALID_ARGUMENT for components whose inputs and outputs do not connect.
  template <class Policy = best_fit, class Pipeline = pipeline>
    requires(!std::same_as<Policy, session_options>)
  result<Pipeline> load(const package& from, const Policy& policy = Policy{.ranked = true}) const {
    return load_pipeline<Pipeline>(from, nullptr, policy);
  }
  /// Loads all components of a package with the caller's options for each session.
  template <class Policy = best_fit, class Pipeline = pipeline>
  result<Pipeline> load(const package& from, const session_options& options,
                        const Policy& policy = Policy{.ranked = true}) const {
    return load_pipeline<Pipeline>(from, &options, policy);
  }

  /// Compiles a model for these providers and writes the result: each group of nodes that a provider compiles becomes
  /// one node that contains the compiled program, so that it is loaded again without compilation (docs/contexts.md).
  /// Several threads may compile at once.
  ///   INVALID_ARGUMENT  no input, an input file that does not exist, an output that is a folder or has no extension
  ///   FAIL              something that the options forbid; bytes without an output; a file that can't be written
  ///   INVALID_GRAPH     a provider would have to compile its own compiled node again
  ///   ...               the errors of load()
  template <class Options = compile_options, class Report = compile_report>
  result<Report> compile(Options options) const {
    const auto mine = providers();
    return loader_of(mine).compile(std::move(options));
  }
  /// The compatibility text that the provider with this long name stored in a compiled model (a file, or bytes);
  /// std::nullopt if there is none, or the bytes do not contain a model. NO_SUCHFILE when the file does not exist.
  template <class Model>
    requires(detail::path_like<Model> || detail::byte_range<Model>)
  result<std::optional<std::string>> compatibility(const Model& model, std::string_view provider) const {
    const auto mine = providers();
    const detail::loader from = loader_of(mine);
    if constexpr (detail::path_like<Model>) {
      std::string kept;
      return from.compatibility(detail::text_of(model, kept), provider);
    } else {
      return from.compatibility(std::as_bytes(std::span{std::ranges::data(model), std::ranges::size(model)}), provider);
    }
  }
  /// The verdict of the provider with these names (short or long) on a compatibility text. INVALID_ARGUMENT without a
  /// name, for a provider that this runtime lacks, or for names of different providers.
  result<compiled_fit> fit(std::span<const std::string_view> names, std::string_view written) const {
    const auto mine = providers();
    return selector_of(mine).fit(names, written);
  }
  /// The workspace that sessions of this runtime and its copies share (ep.share_ep_contexts).
  const std::shared_ptr<context_workspace>& workspace() const { return workspace_; }

  /// The devices of the providers, in the list's order and then in that of the provider's hook, which is called each
  /// time. `failed`, if given, is called for providers whose hook fails.
  std::vector<ep_device> devices(const detail::callback<void(const provider_row&, const status&)>& failed = {}) const {
    return detail::devices_of(providers(), failed);
  }
  /// The devices of the providers, in the order in which policies receive them.
  std::vector<ep_device> devices_by_preference() const {
    std::vector<ep_device> all = devices();
    detail::sort_by_preference(all);
    return all;
  }

  /// The providers' function tables and objects, in order of priority.
  std::array<provider, sizeof...(Ps)> providers() const {
    return {provider{&detail::row_of<Ps>(), {objects_, &std::get<Ps>(*objects_)}}...};
  }

 private:
  /// A loader without formats and transforms, so that a program that only selects variants is not linked with them.
  detail::loader selector_of(std::span<const provider> mine) const {
    return {mine, {}, {}, workspace_, choose_devices_};
  }
  detail::loader loader_of(std::span<const provider> mine) const {
    return {mine, Parts::formats::rows, Parts::transforms::tables(), workspace_, choose_devices_};
  }

  template <class Pipeline, class Policy>
  result<Pipeline> load_pipeline(const package& from, const session_options* options, const Policy& policy) const {
    const auto mine = providers();
    const auto choose = [&](const selection_request& r) { return policy(r); };
    return loader_of(mine).load(from, options, choose);
  }

  static std::shared_ptr<std::tuple<Ps...>> default_objects() {
    if constexpr ((std::default_initializable<Ps> && ...)) return std::make_shared<std::tuple<Ps...>>();
    else return {};
  }
  static detail::device_delegate default_devices() {
    if constexpr (device_selector<Devices>) return Devices{};
    else return {};
  }
  std::shared_ptr<std::tuple<Ps...>> objects_ = default_objects();
  detail::device_delegate choose_devices_ = default_devices();
  std::shared_ptr<context_workspace> workspace_ = detail::new_workspace();
};

namespace detail {
/// The base class of a runtime: parts are taken from the front of the list; the rest are providers.
template <class Parts, class... Ts>
struct runtime_of {
  static_assert(sizeof...(Ts) > 0, "cameo: a runtime needs at least one provider");
  static_assert(sizeof(last_check<std::tuple_element_t<sizeof...(Ts) - 1, std::tuple<Ts...>>>));
  using type = basic_runtime<Parts, Ts...>;
};
template <class Parts, runtime_part First, class... Ts>
struct runtime_of<Parts, First, Ts...> : runtime_of<typename First::template change<Parts>, Ts...> {};
template <class Parts, class... Ps>
struct runtime_of<Parts, partial<Ps...>> {
  using type = basic_runtime<Parts, Ps...>;
};
}  // namespace detail

/// Loads models for a list of providers. Only the providers named here are linked into the program. Cheap to create and
/// to copy; sessions share its providers and may outlive it.
///
///   runtime<my_npu, cameo::eps::cpu>
///   runtime<with<my_rules>, devices_by<prefer_npu>, formats<ort_format>, my_npu, cameo::eps::cpu>
template <class... Ts>
class runtime : public detail::runtime_of<detail::default_parts, Ts...>::type {
  using base = typename detail::runtime_of<detail::default_parts, Ts...>::type;

 public:
  using base::base;
};
/// Deduces the list from provider objects: runtime{my_npu{settings}, cameo::eps::cpu{}}.
template <class... Ps>
runtime(Ps...) -> runtime<Ps...>;

}  // namespace CAMEO_NAMESPACE
