#pragma once
#include <cameo/ep/context.hpp>
#include <cameo/ep/device.hpp>
#include <cameo/ep/options.hpp>
#include <cameo/kernel/kernel_list.hpp>
#include <cameo/partition/claimer.hpp>
#include <cameo/run/step_view.hpp>
#include <cameo/transform/family.hpp>

#include <memory>

CAMEO_BEGIN_NAMESPACE

// Everything that the author of a provider needs. A provider is a type with
//
//   static constexpr std::string_view name = "npu", long_name = "AcmeNpuExecutionProvider";
//
// that states which nodes it takes, by one of
//
//   using kernels = kernel_list<kernel_entry<...>, ...>;          every node that a kernel matches
//   bool claims(const node_view&) const;                         single nodes (with kernels: those that match as well)
//   result<std::vector<node_group>> groups(const graph_view&) const;   whole groups of nodes, to be compiled
//
// and how it runs them, by `kernels`, by
//
//   status execute(const step_view&, run_context&) const;
//
// or, for groups with a name, by
//
//   result<std::vector<compiled_node>> compile(std::span<const fused_view>) const;
//
// Compiled groups can be stored in files, with three more functions: see context_store below.
//
// Optional: `using transforms = transform_set<...>;` (rewrites of levels extended, layout and all, among its own
// nodes), `using role = fallback;`, `using operators = op_list<...>;` for operators of its own without a kernel, memory
// of its own (memory_provider below), options that users set per session (configurable_provider below), the devices
// that it runs on (device_provider below), `static constexpr provider_vendor vendor{"Acme"};`. For a class that can't
// be edited, ep_traits holds all of these.

/// Specialise this for a class that you can't edit: the same hooks as static functions that take the object first.
template <class P>
struct ep_traits {};

namespace detail {
/// True if the hooks of P are in ep_traits<P>, and not in P itself.
template <class P>
concept adapted = requires { ep_traits<P>::name; };
/// The type that has P's hooks: ep_traits<P> where that is specialised, else P.
template <class P>
using hooks_of = std::conditional_t<adapted<P>, ep_traits<P>, P>;
}  // namespace detail

/// The role of a provider that promises to run every ONNX operator: `using role = cameo::fallback;`
struct fallback {};

/// A fused group for its provider to compile: a graph of its own with the fused node's inputs and outputs, in the same
/// order; it contains the constants that the group reads. It lives as long as the session.
struct fused_view {
  std::string_view name;  // "<long name>_<group>_<n>", unique in the session
  graph_view body;
};

/// A compiled group: shared state and the function that runs it, thread-safe. Make it with compiled().
struct compiled_node {
  std::shared_ptr<const void> state;
  status (*run)(const void* state, run_context&) = nullptr;
};
/// Makes a compiled_node from an object with `status run(run_context&) const`.
template <class Program>
compiled_node compiled(Program program) {
  static_assert(
      requires(const Program& p, run_context& c) {
        { p.run(c) } -> std::same_as<status>;
      }, "cameo: what a group is compiled to needs `status run(run_context&) const`");
  return {std::make_shared<const Program>(std::move(program)),
          [](const void* state, run_context& c) -> status { return static_cast<const Program*>(state)->run(c); }};
}

/// P has a list of kernels.
template <class P>
concept has_kernels = requires {
  typename detail::hooks_of<P>::kernels;
  { detail::hooks_of<P>::kernels::table } -> std::convertible_to<const detail::kernel_table&>;
};

namespace detail {
// Of a hook that a provider has at all, correct or not: that tells "missing" from "wrong".
//   writes_<hook>    P has one public member of that name, of any signature
//   declares_<hook>  P has members of that name, private and overloaded ones too: a second one, inherited beside them,
//                    makes the name ambiguous
#define CAMEO_HOOK(hook)                                    \
  struct second_##hook {                                    \
    int hook;                                               \
  };                                                        \
  template <class H>                                        \
  struct both_##hook : H, second_##hook {};                 \
  template <class P>                                        \
  concept writes_##hook = requires { &hooks_of<P>::hook; }; \
  template <class P>                                        \
  concept declares_##hook =                                 \
      writes_##hook<P> || (!std::is_final_v<hooks_of<P>> && !requires { &both_##hook<hooks_of<P>>::hook; })
CAMEO_HOOK(claims);
CAMEO_HOOK(groups);
CAMEO_HOOK(execute);
CAMEO_HOOK(compile);
CAMEO_HOOK(store);
CAMEO_HOOK(store_weightless);
CAMEO_HOOK(write);
CAMEO_HOOK(restore);
CAMEO_HOOK(identify);
CAMEO_HOOK(identity);
CAMEO_HOOK(configured);
CAMEO_HOOK(before_bind);
CAMEO_HOOK(devices);
CAMEO_HOOK(allocate);
CAMEO_HOOK(copy_from_host);
#undef CAMEO_HOOK
}  // namespace detail

namespace detail {
/// P has one of the hooks for contexts.
template <class P>
concept writes_contexts = writes_store<P> || writes_write<P> || writes_restore<P>;
/// P has one of the hooks for ids of contexts.
template <class P>
concept writes_identities = writes_identify<P> || writes_identity<P>;
/// P has a table of options.
template <class P>
concept has_option_table = requires { std::span<const provider_option>{detail::hooks_of<P>::options}; };
/// P has one of the hooks for memory of its own.
template <class P>
concept writes_memory = writes_allocate<P> || writes_copy_from_host<P>;

/// A hook that can be called with Args and returns exactly R.
template <class R, class F, class... Args>
concept hook_returning = std::is_invocable_v<F, Args...> && std::same_as<R, std::invoke_result_t<F, Args...>>;

/// R is result<P>, or result<B> of a public base of P.
template <class R, class P>
inline constexpr bool is_result_of_base = false;
template <class B, class P>
inline constexpr bool is_result_of_base<result<B>, P> = std::derived_from<P, B>;

/// Has a short and a long name: `cpu`, and `CPUExecutionProvider` as in files and options.
template <class P>
concept named = requires {
  { hooks_of<P>::name } -> std::convertible_to<std::string_view>;
  { hooks_of<P>::long_name } -> std::convertible_to<std::string_view>;
};
/// These names are constants.
template <class P>
concept constant_names = named<P> && requires {
  typename std::integral_constant<std::size_t, std::string_view{hooks_of<P>::name}.size()>;
  typename std::integral_constant<std::size_t, std::string_view{hooks_of<P>::long_name}.size()>;
};
}  // namespace detail
/// Decides for single nodes whether it runs them.
template <class P>
concept claims_nodes = requires {
  requires detail::hook_returning<bool, decltype(&detail::hooks_of<P>::claims), const P&, const node_view&>;
};
/// Decides which groups of nodes of a graph it takes.
template <class P>
concept claims_groups = requires {
  requires detail::hook_returning<result<std::vector<node_group>>, decltype(&detail::hooks_of<P>::groups), const P&,
                                  const graph_view&>;
};
/// Runs nodes by its own `execute`.
template <class P>
concept executes = requires {
  requires detail::hook_returning<status, decltype(&detail::hooks_of<P>::execute), const P&, const step_view&,
                                  run_context&>;
};
/// A type that can be in a runtime's list. All hooks are const and thread-safe, except claiming and compiling, which
/// only one thread does.
template <class P>
concept execution_provider =
    detail::named<P> && (has_kernels<P> || claims_nodes<P> || claims_groups<P>) &&
    (!detail::writes_claims<P> || claims_nodes<P>) && (!detail::writes_groups<P> || claims_groups<P>) &&
    (!detail::writes_execute<P> || executes<P>);
/// A provider with `using role = fallback;`, which may be the last of a runtime.
template <class P>
concept fallback_provider = execution_provider<P> && std::same_as<typename detail::hooks_of<P>::role, fallback>;
namespace detail {
/// Has the hook `compile`.
template <class P>
concept compiles = requires {
  requires hook_returning<result<std::vector<compiled_node>>, decltype(&hooks_of<P>::compile), const P&,
                          std::span<const fused_view>>;
};
}  // namespace detail
/// Compiles fused groups into programs of its own, before the first run: exactly one per group, in the same order.
template <class P>
concept compiler = execution_provider<P> && detail::compiles<P>;
/// Stores compiled groups: they become EPContext nodes of a model that loads without compiling (docs/contexts.md).
///   static constexpr context_source sources[] = {{"AcmeNpuExecutionProvider"}, {"npu", true}};
///       values of EPContext's attribute `source`: the first is written, each is accepted when a model is read
///   using context_builder = ...;
///       a context that is being built, default-constructible; one for all groups of the models that share the context
///   result<context_part> store(context_builder&, const fused_view&, const compiled_node&) const;
///       adds a group under its name; group and program may be destroyed before the context is written
///   status write(const context_builder&, byte_sink) const;
///       writes the bytes of the context, with all its groups
///   result<compiled_node> restore(const context_binary&, const context_node&) const;
///       the program of a stored group; NOT_FOUND when the context has no graph of that name. The user sees any other
///       error as INVALID_GRAPH: the bytes are bad, or of another version or processor; the message names both sides
/// Within a session one thread calls these; several sessions may call them at the same time.
template <class P>
concept context_store = compiler<P> && requires {
  typename detail::hooks_of<P>::context_builder;
  requires std::default_initializable<typename detail::hooks_of<P>::context_builder>;
  std::span<const context_source>{detail::hooks_of<P>::sources};
  requires detail::hook_returning<result<context_part>, decltype(&detail::hooks_of<P>::store), const P&,
                                  typename detail::hooks_of<P>::context_builder&, const fused_view&,
                                  const compiled_node&>;
  requires detail::hook_returning<status, decltype(&detail::hooks_of<P>::write), const P&,
                                  const typename detail::hooks_of<P>::context_builder&, byte_sink>;
  requires detail::hook_returning<result<compiled_node>, decltype(&detail::hooks_of<P>::restore), const P&,
                                  const context_binary&, const context_node&>;
};
namespace detail {
/// Can leave constants out of its contexts (ep.enable_weightless): they stay initializers of the compiled model, which
/// several models may have in one file, and are inputs of the compiled node.
///   result<context_part> store_weightless(context_builder&, const fused_view&, const compiled_node&) const;
///       as store(); context_part::constants says which stay outside. restore() finds them among the node's inputs, and
///       checks them as it checks its bytes: they may be of another type or shape, or no constants any more
template <class P>
concept weightless_store = context_store<P> && requires {
  requires detail::hook_returning<result<context_part>, decltype(&detail::hooks_of<P>::store_weightless), const P&,
                                  typename detail::hooks_of<P>::context_builder&, const fused_view&,
                                  const compiled_node&>;
};
/// Can list the graphs of a context: sessions that share contexts then pass the graphs that they don't use to later
/// sessions (ep.share_ep_contexts).
template <class P>
concept context_lister = context_store<P> && requires {
  requires detail::hook_returning<result<std::vector<std::string>>, decltype(&detail::hooks_of<P>::graphs), const P&,
                                  const context_binary&>;
};
}  // namespace detail
namespace detail {
/// Judges, before any context of a compiled model is opened, whether the model fits this machine and provider:
///   std::string compatibility(std::span<const fused_view>) const;       the text to write into the model; "": none
///   result<compiled_fit> fits(std::string_view written) const;          the verdict on that text
template <class P>
concept compatibility_judge = context_store<P> && requires {
  requires detail::hook_returning<std::string, decltype(&detail::hooks_of<P>::compatibility), const P&,
                                  std::span<const fused_view>>;
  requires detail::hook_returning<result<compiled_fit>, decltype(&detail::hooks_of<P>::fits), const P&,
                                  std::string_view>;
};
}  // namespace detail
namespace detail {
/// Explains, instead of the framework, why fits() reports a model as unsupported:
///   status misfit(std::string_view written) const;    a message that names both sides; loading ends with its code
template <class P>
concept misfit_teller = detail::compatibility_judge<P> && requires {
  requires detail::hook_returning<status, decltype(&detail::hooks_of<P>::misfit), const P&, std::string_view>;
};
}  // namespace detail
namespace detail {
/// Stores an id in its contexts, which their nodes have as well: a context that was written with another model, as can
/// happen when a crash comes between two files, is then refused and not run (docs/contexts.md).
///   void identify(context_builder&, std::string_view id) const;      32 hexadecimal digits; called before any store()
///   result<std::string> identity(const context_binary&) const;       the id, or "" for a context without an id;
///       errors as restore()'s
template <class P>
concept context_identifier = context_store<P> && requires {
  requires detail::hook_returning<void, decltype(&detail::hooks_of<P>::identify), const P&,
                                  typename detail::hooks_of<P>::context_builder&, std::string_view>;
  requires detail::hook_returning<result<std::string>, decltype(&detail::hooks_of<P>::identity), const P&,
                                  const context_binary&>;
};
}  // namespace detail
/// Has memory of its own for values; the planner inserts the copies. Thread-safe; `release` gets allocate()'s pointers.
///   void* allocate(std::size_t bytes, std::size_t alignment) const noexcept;    null when no memory is left
///   void release(void*, std::size_t bytes) const noexcept;
///   status copy_from_host(void* to, const void* from, std::size_t bytes) const;
///   status copy_to_host(void* to, const void* from, std::size_t bytes) const;
template <class P>
concept memory_provider = execution_provider<P> && requires {
  requires detail::hook_returning<void*, decltype(&detail::hooks_of<P>::allocate), const P&, std::size_t, std::size_t>;
  requires detail::hook_returning<void, decltype(&detail::hooks_of<P>::release), const P&, void*, std::size_t>;
  requires detail::hook_returning<status, decltype(&detail::hooks_of<P>::copy_from_host), const P&, void*, const void*,
                                  std::size_t>;
  requires detail::hook_returning<status, decltype(&detail::hooks_of<P>::copy_to_host), const P&, void*, const void*,
                                  std::size_t>;
};

/// Takes options from a session's keys: "ep.<name>.<key>" (docs/session_keys.md). A key that is not in the table is
/// INVALID_ARGUMENT.
///   static constexpr provider_option options[] = {{"device", "CPU", "which of the SDK's devices"}};
///   result<P> configured(const provider_options&) const;   a configured copy for the session and for the devices
///       that the session uses (provider_options::devices); an error is returned to the user. A provider that derives
///       from another inherits this hook: it is copied, and the base in the copy is the configured one
template <class P>
concept configurable_provider = execution_provider<P> && requires {
  std::span<const provider_option>{detail::hooks_of<P>::options};
  requires detail::is_result_of_base<
      std::invoke_result_t<decltype(&detail::hooks_of<P>::configured), const P&, const provider_options&>, P>;
};

/// Lists its devices on this machine: policies choose among them, and packages have variants for their kinds.
///   result<std::vector<provider_device>> devices() const;   always in the same order; an empty list is no error
template <class P>
concept device_provider = execution_provider<P> && requires {
  requires detail::hook_returning<result<std::vector<provider_device>>, decltype(&detail::hooks_of<P>::devices),
                                  const P&>;
};
namespace detail {
/// Tells its kernels, of which one table serves all sessions, what the session's options mean for a node.
///   void before_bind(bind_context&) const;   sets bind_context::choice by the node's name, operator and attributes
template <class P>
concept tells_kernels = requires {
  requires detail::hook_returning<void, decltype(&detail::hooks_of<P>::before_bind), const P&, bind_context&>;
};

/// Names its vendor: a policy prefers a provider for devices of that vendor.
template <class P>
concept names_its_vendor = requires {
  { detail::hooks_of<P>::vendor } -> std::convertible_to<provider_vendor>;
};
}  // namespace detail

namespace detail {
/// Has its nodes rewritten after partitioning: `using transforms = transform_set<...>;`, of levels after basic. New
/// nodes must be taken by the same provider; otherwise the rewrite does not happen.
template <class P>
concept rewriting_provider = execution_provider<P> && requires {
  { detail::hooks_of<P>::transforms::tables() } -> std::same_as<std::span<const transform_table* const>>;
};
}  // namespace detail
namespace detail {
/// Wants images with channels last: `static constexpr data_layout layout = data_layout::nhwc;`. Its claims are
/// requested twice; the second time its layout-sensitive nodes are com.ms.internal.nhwc's, and it must take them all.
template <class P>
concept layout_provider = execution_provider<P> && requires {
  { detail::hooks_of<P>::layout } -> std::convertible_to<data_layout>;
};
}  // namespace detail
namespace detail {
/// The image layout that P wants; nchw unless P declares another.
template <class P>
constexpr data_layout preferred_layout() {
  if constexpr (detail::layout_provider<P>) return hooks_of<P>::layout;
  else return data_layout::nchw;
}
/// False if P lists transforms of level basic, which run before partitioning.
template <class P>
constexpr bool rewrites_in_time() {
  if constexpr (detail::rewriting_provider<P>) return hooks_of<P>::transforms::lowest > optimization_level::basic;
  else return true;
}

/// Gives one error message for each thing that can be wrong with P.
template <class P>
struct provider_check {
  static_assert(named<P>, "cameo: a provider needs `name` (\"cpu\") and `long_name` (\"CPUExecutionProvider\")");
  static_assert(!named<P> || constant_names<P>,
                "cameo: `name` and `long_name` of a provider must be `static constexpr std::string_view`");
#define CAMEO_ONE_PUBLIC_HOOK(hook)                                                                             \
  static_assert(!declares_##hook<P> || writes_##hook<P>,                                                        \
                "cameo: the hook `" #hook                                                                       \
                "` is private or overloaded: a provider has one public function of that name (or of its base, " \
                "named by `using`)")
  CAMEO_ONE_PUBLIC_HOOK(claims);
  CAMEO_ONE_PUBLIC_HOOK(groups);
  CAMEO_ONE_PUBLIC_HOOK(execute);
  CAMEO_ONE_PUBLIC_HOOK(compile);
  CAMEO_ONE_PUBLIC_HOOK(identify);
  CAMEO_ONE_PUBLIC_HOOK(identity);
#undef CAMEO_ONE_PUBLIC_HOOK
  static_assert(has_kernels<P> || declares_claims<P> || declares_groups<P>,
                "cameo: a provider needs `claims`, `groups`, or `using kernels = kernel_list<...>`");
  static_assert(!writes_claims<P> || claims_nodes<P>,
                "cameo: the hook `claims` must be `bool claims(const node_view&) const`");
  static_assert(!writes_groups<P> || claims_groups<P>,
                "cameo: the hook `groups` must be `result<std::vector<node_group>> groups(const graph_view&) const`");
  static_assert(has_kernels<P> || declares_execute<P> || declares_compile<P> || declares_groups<P>,
                "cameo: a provider needs `execute`, `compile`, or `using kernels = kernel_list<...>`");
  static_assert(!writes_execute<P> || executes<P>,
                "cameo: the hook `execute` must be `status execute(const step_view&, run_context&) const`");
  static_assert(!writes_compile<P> || compiles<P>,
                "cameo: the hook `compile` must be "
                "`result<std::vector<compiled_node>> compile(std::span<const fused_view>) const`");
  static_assert(!writes_groups<P> || declares_compile<P> || declares_execute<P> || has_kernels<P>,
                "cameo: a provider with `groups` needs `compile`");
  // What follows builds on that: a mistake up to here is told alone.
  static constexpr bool is_fine = execution_provider<P> && (!writes_compile<P> || compiles<P>) &&
                                  (!declares_identify<P> || writes_identify<P>) &&
                                  (!declares_identity<P> || writes_identity<P>);
  static_assert(!is_fine || !writes_contexts<P> || context_store<P>,
                "cameo: a provider that keeps what it compiles needs `compile`, `static constexpr context_source "
                "sources[]`, `using context_builder`, `result<context_part> store(context_builder&, const fused_view&, "
                "const compiled_node&) const`, `status write(const context_builder&, byte_sink) const` and "
                "`result<compiled_node> restore(const context_binary&, const context_node&) const`");
  static_assert(!is_fine || !writes_store_weightless<P> || weightless_store<P>,
                "cameo: the hook `store_weightless` is `result<context_part> store_weightless(context_builder&, const "
                "fused_view&, const compiled_node&) const`, of a provider that has `store`, too");
  static_assert(!is_fine || !writes_identities<P> || writes_contexts<P>,
                "cameo: the hooks `identify` and `identity` are for a provider that keeps what it compiles: it needs "
                "`store`, `write` and `restore`, too");
  static_assert(!is_fine || !writes_identities<P> || !context_store<P> || detail::context_identifier<P>,
                "cameo: a provider whose contexts have ids needs both `void identify(context_builder&, "
                "std::string_view) const` and `result<std::string> identity(const context_binary&) const`");
  static_assert(!is_fine || !(writes_configured<P> || has_option_table<P>) || configurable_provider<P>,
                "cameo: a provider with options needs `static constexpr provider_option options[]` and `result<P> "
                "configured(const provider_options&) const`");
  static_assert(!is_fine || !writes_before_bind<P> || tells_kernels<P>,
                "cameo: the hook `before_bind` must be `void before_bind(bind_context&) const`");
  static_assert(!is_fine || !writes_devices<P> || device_provider<P>,
                "cameo: the hook `devices` must be `result<std::vector<provider_device>> devices() const`");
  static_assert(!is_fine || !writes_memory<P> || memory_provider<P>,
                "cameo: memory of one's own takes four hooks: allocate, release, copy_from_host, copy_to_host");
  static_assert(
      rewrites_in_time<P>(),
      "cameo: a provider's `transforms` come after partitioning: levels extended, layout and all; a list of level "
      "basic belongs to the session (cameo::runtime<cameo::with<my_rules>, ...>)");
};
}  // namespace detail

CAMEO_END_NAMESPACE
