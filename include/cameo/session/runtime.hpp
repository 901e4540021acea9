#pragma once
#include <cameo/ep/provider_row.hpp>
#include <cameo/format/ort.hpp>
#include <cameo/session/loader.hpp>
#include <cameo/transform/rules/standard.hpp>

#include <array>
#include <tuple>

namespace CAMEO_NAMESPACE {

// What compile() takes and gives is in session/compile.hpp, what packages need in cameo/packages.hpp: the programs that
// use them include those.
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

/// Providers in order of priority, without a promise that they can run every operator.
template <class... Ps>
struct partial {};

/// The formats that a runtime reads unless it names others: runtime<formats<ort_format>, cameo::eps::cpu>.
using default_formats = detail::format_list<ort_format, onnx_format>;
/// The transforms that a runtime applies before partitioning unless it names others. Providers add those that run after
/// partitioning.
using default_transforms = rules::standard_transforms;

namespace detail {
/// The types that load() accepts as a file's path: a string of any kind, a std::filesystem::path.
template <class P>
concept path_like = std::convertible_to<P, std::string> || std::convertible_to<P, std::string_view>;
/// The text of such a path, without a copy: a copy may throw, and load() must not. `kept` owns it where a type only
/// converts to a string.
template <path_like Path>
std::string_view text_of(const Path& path, std::string& kept) {
  if constexpr (std::convertible_to<const Path&, std::string_view>) return path;
  else if constexpr (requires { std::string_view{path.native()}; }) return path.native();
  else return kept = path;
}
/// The types that it accepts as the bytes of a model.
template <class R>
concept byte_range =
    std::ranges::contiguous_range<R> && std::ranges::sized_range<R> && !path_like<R> &&
    (std::same_as<std::ranges::range_value_t<R>, std::byte> ||
     std::same_as<std::ranges::range_value_t<R>, unsigned char> || std::same_as<std::ranges::range_value_t<R>, char>);

/// Use every provider of the list, in its order.
struct whole_list {};

/// The parts of a runtime besides its providers.
template <class Formats, class Transforms, class Devices>
struct runtime_parts {
  using formats = Formats;
  using transforms = Transforms;
  using devices = Devices;
};
}  // namespace detail

// What stands before the providers in a runtime's list, each at most once and in any order.

/// Transforms of the user's own, after those that the runtime has already: runtime<with<my_rules>, cameo::eps::cpu>.
template <transform_family... Families>
struct with {
  template <class Parts>
  using change = detail::runtime_parts<typename Parts::formats, typename Parts::transforms::template with<Families...>,
                                       typename Parts::devices>;
};
/// These transforms alone, without the standard ones; none: transforms<>.
template <transform_family... Families>
struct transforms {
  template <class Parts>
  using change = detail::runtime_parts<typename Parts::formats, transform_set<Families...>, typename Parts::devices>;
};
/// The formats of models, in order; only these are linked.
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
using default_parts = runtime_parts<default_formats, default_transforms, whole_list>;  ///< of a runtime without any
/// A part of a runtime that is no provider.
template <class T>
concept runtime_part = requires { typename T::template change<default_parts>; };
}  // namespace detail

/// The functions of all runtimes; programs write runtime<...>.
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

  /// Reads, checks, partitions and plans a model; session_options lists what can be chosen. Sessions share the
  /// provider objects. Thread-safe where the providers' hooks are. Errors start with the file's name:
  ///   NO_SUCHFILE, INVALID_PROTOBUF, INVALID_ARGUMENT, INVALID_GRAPH  an error in the file or the options
  ///   NOT_IMPLEMENTED                                   a node that no provider takes, with each one's reason
  ///   FAIL, EP_FAIL, MODEL_REQUIRES_COMPILATION         an error of a provider or its claims
  ///   OUT_OF_MEMORY, MODEL_LOAD_CANCELED                by the limits and the stop token in the options
  template <detail::path_like Path>
  result<session> load(const Path& path, const session_options& options = {}) const {
    const auto mine = providers();
    std::string kept;
    return loader_of(mine).load(detail::text_of(path, kept), options);
  }
  /// From memory: a range of std::byte, unsigned char or char that is no std::string (a string is a path). Weights are
  /// not copied, so it must outlive the session; a temporary that owns its bytes is kept by the session instead.
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
  /// From a stream, read to its end; the session keeps the bytes. FAIL when it can't be read.
  result<session> load(std::istream& stream, const session_options& options = {},
                       std::string_view name = "model") const {
    const auto mine = providers();
    return loader_of(mine).load(stream, name, options);
  }
  /// A graph that was built or changed in memory.
  result<session> load(std::unique_ptr<model> graph, const session_options& options = {}) const {
    const auto mine = providers();
    return loader_of(mine).load(std::move(graph), options);
  }

  /// Selects the variant of a package's component that runs here (docs/packages.md), among the providers that the
  /// options name or their policy chooses; without either, best_fit tries the fallback alone, and `best_fit{.ranked =
  /// true}` the whole list. The options' other members have no effect: see load().
  /// If a variant_policy of the user's returns no device, the first device of the variant's provider is used.
  ///   INVALID_ARGUMENT  no such component; an error in the options
  ///   FAIL              no variant fits, with each verdict; a policy chose something that does not exist
  template <class Choice = best_fit, class Context = component_context>
  result<Context> select(const package& from, std::string_view component, const session_options& how = {},
                         const Choice& policy = {}) const {
    const auto mine = providers();
    const auto choose = [&](const selection_request& r) { return policy(r); };
    return selector_of(mine).select(from, component, how, choose);
  }
  /// The devices that select() compares variants with; for programs that call a variant_policy themselves.
  template <class Intent = detail::ep_intent>
  result<Intent> intent(const session_options& how = {}) const {
    const auto mine = providers();
    return selector_of(mine).intent(how);
  }
  /// A session of a selected variant, as the package configures it: with its options, on the provider that it was
  /// selected for. May be called any number of times. Errors as for a file, and
  ///   FAIL         the variant names no model file, or a folder that does not exist
  ///   NO_SUCHFILE  its model file does not exist
  result<session> load(const component_context& from) const {
    const auto mine = providers();
    return loader_of(mine).load(from, nullptr);
  }
  /// The same with the caller's options: the package's are not used, except folders that the caller does not set.
  /// The provider is the one that the variant was selected for, unless the options name others; no policy is called.
  result<session> load(const component_context& from, const session_options& options) const {
    const auto mine = providers();
    return loader_of(mine).load(from, &options);
  }

  /// All components of a package as one model, each in the variant that runs here (session/pipeline.hpp); a package
  /// with one component gives just that. Any provider of the list may run a component: the first that a variant fits,
  /// unless the options or another policy decide otherwise. Without options, the package's options are used. Errors as
  /// of select() and load(), and INVALID_ARGUMENT for components that do not connect.
  template <class Policy = best_fit, class Pipeline = pipeline>
    requires(!std::same_as<Policy, session_options>)
  result<Pipeline> load(const package& from, const Policy& policy = Policy{.ranked = true}) const {
    return load_pipeline<Pipeline>(from, nullptr, policy);
  }
  /// The same with options for the sessions of all components.
  template <class Policy = best_fit, class Pipeline = pipeline>
  result<Pipeline> load(const package& from, const session_options& options,
                        const Policy& policy = Policy{.ranked = true}) const {
    return load_pipeline<Pipeline>(from, &options, policy);
  }

  /// Compiles a model for these providers and writes it: a provider's group becomes a node that contains the compiled
  /// program, and loads again without compiling (docs/contexts.md). Several threads may compile.
  ///   INVALID_ARGUMENT  no input, an input file that does not exist, an output that is a folder or has no extension
  ///   FAIL              something that the options forbid; bytes without an output; a file that can't be written
  ///   INVALID_GRAPH     a provider would have to compile its own compiled node again
  ///   and the errors of load()
  template <class Options = compile_options, class Report = compile_report>
  result<Report> compile(Options options) const {
    const auto mine = providers();
    return loader_of(mine).compile(std::move(options));
  }
  /// The compatibility text of a compiled model (a file, or bytes) for the provider with this long name; std::nullopt
  /// if it has none, or the bytes are no model. NO_SUCHFILE when the file does not exist.
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
  /// The verdict of the provider with these names (short or long) on that text. INVALID_ARGUMENT without a name, for
  /// one that is not of this runtime, or for names of different providers.
  result<compiled_fit> fit(std::span<const std::string_view> names, std::string_view written) const {
    const auto mine = providers();
    return selector_of(mine).fit(names, written);
  }
  /// The workspace that sessions of this runtime and its copies share (ep.share_ep_contexts).
  const std::shared_ptr<context_workspace>& workspace() const { return workspace_; }

  /// Devices of the providers, in the list's order, as they were registered; listed anew with each call. `failed`, if
  /// given, is called for providers whose hook fails.
  std::vector<ep_device> devices(const detail::callback<void(const provider_row&, const status&)>& failed = {}) const {
    return detail::devices_of(providers(), failed);
  }
  /// The same, in the order in which policies receive them.
  std::vector<ep_device> devices_by_preference() const {
    std::vector<ep_device> all = devices();
    detail::sort_by_preference(all);
    return all;
  }

  /// Rows and objects in order of priority.
  std::array<provider, sizeof...(Ps)> providers() const {
    return {provider{&detail::row_of<Ps>(), {objects_, &std::get<Ps>(*objects_)}}...};
  }

 private:
  /// Without formats and transforms, so that a program that only selects is not linked with them.
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
/// A runtime's base: its parts are taken from the front of the list, the rest are providers.
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

/// A runtime is exactly its list: only the providers named here are in the program. Cheap; sessions share its providers
/// and may outlive it.
///
///   runtime<my_npu, cameo::eps::cpu>
///   runtime<with<my_rules>, devices_by<prefer_npu>, formats<ort_format>, my_npu, cameo::eps::cpu>
template <class... Ts>
class runtime : public detail::runtime_of<detail::default_parts, Ts...>::type {
  using base = typename detail::runtime_of<detail::default_parts, Ts...>::type;

 public:
  using base::base;
};
/// runtime{my_npu{settings}, cameo::eps::cpu{}}
template <class... Ps>
runtime(Ps...) -> runtime<Ps...>;

}  // namespace CAMEO_NAMESPACE
