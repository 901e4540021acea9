#pragma once
#include <cameo/ep/context.hpp>
#include <cameo/ep/device.hpp>
#include <cameo/ep/options.hpp>
#include <cameo/kernel/kernel_list.hpp>
#include <cameo/partition/claimer.hpp>
#include <cameo/run/step_view.hpp>
#include <cameo/transform/family.hpp>

#include <memory>

namespace CAMEO_NAMESPACE {

// The hooks of a provider. A provider is a type with
//
//   static constexpr std::string_view name = "npu", long_name = "AcmeNpuExecutionProvider";
//
// that states which nodes it takes by `kernels`, `claims` or `groups`, and runs them by `kernels`, `execute` or
// `compile`. Each concept below describes the hooks that it requires. docs/hooks.md has all of them in one table, and
// docs/write_a_provider.md explains them by examples.

/// Specialize this for a class that can't be edited: it has the same hooks, as static functions that take the object
/// first.
template <class P>
struct ep_traits {};

namespace detail {
/// True if the hooks of P are in ep_traits<P>, and not in P itself.
template <class P>
concept adapted = requires { ep_traits<P>::name; };
/// The type that has P's hooks: ep_traits<P> where that is specialized, else P.
template <class P>
using hooks_of = std::conditional_t<adapted<P>, ep_traits<P>, P>;
}  // namespace detail

/// The role of a provider that promises to run every ONNX operator: `using role = cameo::fallback;`
struct fallback {};

/// A fused group for its provider to compile: a separate graph with the inputs and outputs of the fused node, in the
/// same order. It contains the constants that the group reads, in the host's memory and aligned for their elements. The
/// graph and its constants live as long as the program that the provider makes of them.
struct fused_view {
  std::string_view name;  // "<long name>_<group>_<n>", unique in the session
  graph_view body;
};

/// A compiled group: the state that all runs share, and the function that runs it. Make it with compiled().
struct compiled_node {
  std::shared_ptr<const void> state;
  status (*run)(const void* state, run_context&) = nullptr;
};
/// Makes a compiled_node from an object with `status run(run_context&) const`. That function is called like the hook
/// `execute` (see executes): once per run, perhaps by several threads at once. The session destroys the object.
template <class Program>
compiled_node compiled(Program program) {
  static_assert(
      requires(const Program& p, run_context& c) {
        { p.run(c) } -> std::same_as<status>;
      }, "cameo: a compiled program needs `status run(run_context&) const`");
  return {std::make_shared<const Program>(std::move(program)),
          [](const void* state, run_context& c) -> status { return static_cast<const Program*>(state)->run(c); }};
}

namespace detail {
// Concepts for a hook that a provider has at all, correct or not: they distinguish "missing" from "wrong".
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
/// P has one of the hooks for separate memory.
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

/// P has a short and a long name.
template <class P>
concept named = requires {
  { hooks_of<P>::name } -> std::convertible_to<std::string_view>;
  { hooks_of<P>::long_name } -> std::convertible_to<std::string_view>;
};
/// P has a short and a long name, which are compile-time constants.
template <class P>
concept constant_names = named<P> && requires {
  typename std::integral_constant<std::size_t, std::string_view{hooks_of<P>::name}.size()>;
  typename std::integral_constant<std::size_t, std::string_view{hooks_of<P>::long_name}.size()>;
};
}  // namespace detail

/// A provider with kernels: it takes every node that a row of its list matches, and runs it by that kernel.
/// - `using kernels = kernel_list<kernel_entry<...>, ...>` is read while the program is compiled. The concepts kernel
///   and choosy_kernel describe when the functions of its kernels are called.
///
/// Without it the provider needs `claims` or `groups`.
template <class P>
concept has_kernels = requires {
  typename detail::hooks_of<P>::kernels;
  { detail::hooks_of<P>::kernels::table } -> std::convertible_to<const detail::kernel_table&>;
};
/// A provider that decides for single nodes whether it takes them.
/// - `bool claims(const node_view&) const` returns true for a node that the provider promises to run, and false for one
///   that it leaves to the next provider. With kernels, it is called first, and a kernel has to match as well. It is
///   called while a model is loaded, for each node that has no provider yet, and again after calls of functions were
///   replaced by their bodies; and for each new node that a transform makes for this provider.
///   session::placements(true) calls it on the thread of its caller, for the reason of a refusal. The view is valid
///   during the call.
///
/// Without it a provider takes the nodes that its kernels match, or those of its groups.
template <class P>
concept claims_nodes = requires {
  requires detail::hook_returning<bool, decltype(&detail::hooks_of<P>::claims), const P&, const node_view&>;
};
/// A provider that decides for a whole graph which nodes it takes.
/// - `result<std::vector<node_group>> groups(const graph_view&) const` returns groups of nodes in order of preference;
///   an empty list takes none. It is called while a model is loaded, for each graph (a subgraph of If, Loop or Scan is
///   a separate graph, and comes before the graph around it), and again after calls of functions were replaced by
///   their bodies. Nodes with a provider (node_view::provider() is not -1) can't be taken. Each group without a name is
///   one node, which `execute` or a kernel runs; each group with a name becomes one fused node, which `compile` gets.
///   The view is valid during the call; its constants may be unaligned for their elements. The load ends with FAIL for
///   a group that is not convex or names an unknown node.
///
/// Without it single nodes are taken, by `claims` and `kernels`.
template <class P>
concept claims_groups = requires {
  requires detail::hook_returning<result<std::vector<node_group>>, decltype(&detail::hooks_of<P>::groups), const P&,
                                  const graph_view&>;
};
/// A provider that runs single nodes by itself.
/// - `status execute(const step_view&, run_context&) const` runs one node. It is called once per run for each node that
///   the provider took without a name of a group, by the thread of the run, or with execution_mode::parallel by any
///   thread of the pool; several runs call it at once. The step lives as long as the session. The context and its
///   values are valid until the function returns, and only the calling thread may use them. Memory of outputs belongs
///   to the run (run_context::output). An error ends the run, with the node's name in front of its words; an exception
///   becomes RUNTIME_EXCEPTION.
///
/// Without it kernels run the nodes.
template <class P>
concept executes = requires {
  requires detail::hook_returning<status, decltype(&detail::hooks_of<P>::execute), const P&, const step_view&,
                                  run_context&>;
};

/// A type that can be in the list of a runtime. It has names, and states which nodes it takes: has_kernels,
/// claims_nodes or claims_groups. All other hooks are optional.
/// - `static constexpr std::string_view name` is the short name, for display, session_options::providers and session
///   keys: "npu".
/// - `static constexpr std::string_view long_name` is the name in files and in options of ONNX Runtime:
///   "AcmeNpuExecutionProvider". Both names are unique in a runtime.
///
/// What holds for all hooks:
/// - Lifetime: the object of a provider is made by the runtime, or given to it. All sessions of the runtime share it,
///   and so do the contexts that they opened. It lives until the last of them is destroyed.
/// - Threads: hooks are const, and several threads may call any of them at once, as several sessions may be loaded and
///   run at once. One thread loads a model, and calls one hook after the other.
/// - Ownership: views, spans and references that a hook receives are valid during the call, unless its concept says
///   more. What a hook returns belongs to cameo, which destroys it.
/// - Errors: a hook that is called while a model is loaded returns a status with the code that the user is to get, and
///   words that say what is wrong with which node. The load ends with it, with the long name of the provider in front.
///   No other provider is tried. An exception becomes EP_FAIL, and std::bad_alloc OUT_OF_MEMORY.
template <class P>
concept execution_provider =
    detail::named<P> && (has_kernels<P> || claims_nodes<P> || claims_groups<P>) &&
    (!detail::writes_claims<P> || claims_nodes<P>) && (!detail::writes_groups<P> || claims_groups<P>) &&
    (!detail::writes_execute<P> || executes<P>);
/// A provider that promises to run every ONNX operator, and may be the last of a runtime.
/// - `using role = fallback` is read while the program is compiled. A session keeps such a provider even if its options
///   name others, unless session.disable_cpu_ep_fallback refuses the nodes that only it takes.
///
/// Without it a runtime of which the provider is the last needs partial<...>.
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
/// A provider that compiles fused groups into programs.
/// - `result<std::vector<compiled_node>> compile(std::span<const fused_view>) const` returns exactly one program for
///   each group, in the same order; the load ends with FAIL for another number. It is called once while a model is
///   loaded, with all groups of this provider, or not at all if there are none. The groups live as long as the
///   programs. The session destroys the programs.
///
/// Without it a load ends with FAIL if `groups` returns a group with a name.
template <class P>
concept compiler = execution_provider<P> && detail::compiles<P>;
/// A provider whose compiled groups can be stored in files: they become EPContext nodes of a model that loads without
/// compiling (docs/contexts.md).
/// - `static constexpr context_source sources[]` lists the values of EPContext's attribute `source` that mark a node as
///   this provider's: `{{"AcmeNpuExecutionProvider"}, {"npu", true}}`. The first is written; each is accepted when a
///   model is loaded, and no other provider receives such a node.
/// - `using context_builder = ...` is the type of a context that is being built. It is default-constructible. cameo
///   makes one object for all groups of a model, or of several models that share the context, and destroys it when the
///   context is written. One thread at a time uses it.
/// - `result<context_part> store(context_builder&, const fused_view&, const compiled_node&) const` adds a group to a
///   context under the group's name. It is called once for each group, after `compile`, if a compiled model is to be
///   written. The group and the program may be destroyed before the context is written. The texts that it returns are
///   copied.
/// - `status write(const context_builder&, byte_sink) const` writes the bytes of the context, with all its groups. It
///   may be called twice, once to count the bytes, and writes the same bytes each time. It returns an error of the sink
///   as it is. Files then stay as they were.
/// - `result<compiled_node> restore(const context_binary&, const context_node&) const` returns the program of a stored
///   group. It is called once for each compiled node while a model is loaded; for a node without a context,
///   with each context of the model until one has its graph. A program that reads the bytes keeps a copy of the
///   context_binary. NOT_FOUND: the context has no graph of that name. The user gets any other error as INVALID_GRAPH
///   (the bytes are damaged, or made by another version or for another processor), so the words name both sides;
///   OUT_OF_MEMORY stays. The bytes may come from any file, and are checked.
///
/// Without it compiled models are not written (NOT_IMPLEMENTED), and no EPContext node belongs to the provider.
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
/// A provider that can leave constants out of its contexts: they stay initializers of the compiled model, which several
/// models may have in one file, and become inputs of the compiled node.
/// - `result<context_part> store_weightless(context_builder&, const fused_view&, const compiled_node&) const` is called
///   instead of `store` if the session key ep.enable_weightless is set. context_part::constants names the constants
///   that stay outside; EP_FAIL for values that are not constants of the group. `restore` finds them among the inputs
///   of the node, and checks them as it checks its bytes: they may be of another type or shape, or no constants any
///   more.
///
/// Without it a compilation without weights ends with NOT_IMPLEMENTED before anything is compiled.
template <class P>
concept weightless_store = context_store<P> && requires {
  requires detail::hook_returning<result<context_part>, decltype(&detail::hooks_of<P>::store_weightless), const P&,
                                  typename detail::hooks_of<P>::context_builder&, const fused_view&,
                                  const compiled_node&>;
};
/// A provider that can list the graphs of a context.
/// - `result<std::vector<std::string>> graphs(const context_binary&) const` returns the names of all graphs. It is
///   called once for each context of a model with several contexts, to find the graph of a node without one (errors are
///   ignored); once for each context that sessions share (ep.share_ep_contexts), so that later sessions get the graphs
///   that this one does not use (an error becomes INVALID_GRAPH); and for a file that a new context is to replace,
///   which an error or an empty list protects.
///
/// Without it each context of a model is tried in turn, and sessions do not share graphs.
template <class P>
concept context_lister = context_store<P> && requires {
  requires detail::hook_returning<result<std::vector<std::string>>, decltype(&detail::hooks_of<P>::graphs), const P&,
                                  const context_binary&>;
};
/// A provider that decides whether a compiled model fits this machine and this version, before any context is opened.
/// - `std::string compatibility(std::span<const fused_view>) const` returns the text that is written into the compiled
///   model; empty: none. It is called once for each compiled model, after `store`. With no groups it describes this
///   machine, for a message. An exception counts as no text.
/// - `result<compiled_fit> fits(std::string_view written) const` returns the verdict on such a text. It is called while
///   a compiled model with a text of this provider is loaded, when a variant of a model package is selected, and by
///   programs (runtime::fit). An error or an exception becomes FAIL.
///
/// Without it each compiled model counts as one that fits, and `restore` finds out.
template <class P>
concept compatibility_checker = context_store<P> && requires {
  requires detail::hook_returning<std::string, decltype(&detail::hooks_of<P>::compatibility), const P&,
                                  std::span<const fused_view>>;
  requires detail::hook_returning<result<compiled_fit>, decltype(&detail::hooks_of<P>::fits), const P&,
                                  std::string_view>;
};
/// A provider that explains why a compiled model does not fit.
/// - `status misfit(std::string_view written) const` returns an error whose message names both what the model was
///   compiled for and this machine. `written` is the compatibility text in the model. It is called when `fits` returned
///   compiled_fit::unsupported, and the load ends with the error. If it returns ok, cameo composes the message, as it
///   does for a provider without this hook.
///
/// Without it the load ends with FAIL, and the message has `written` and the compatibility text of this machine.
template <class P>
concept misfit_reporter = compatibility_checker<P> && requires {
  requires detail::hook_returning<status, decltype(&detail::hooks_of<P>::misfit), const P&, std::string_view>;
};
/// A provider that stores an id in its contexts, which their nodes have as well. A context that was written with
/// another model, as can happen when a crash comes between two files, is then refused and not run (docs/contexts.md).
/// - `void identify(context_builder&, std::string_view id) const` keeps the id: 32 hexadecimal digits. It is called
///   once for each context, before any `store`.
/// - `result<std::string> identity(const context_binary&) const` returns the id of a context, or an empty text. It is
///   called before `restore` for a node with an id, and, of a provider without `graphs`, for a file that a new context
///   is to replace. Errors are those of `restore`.
///
/// Without it contexts have no ids, and each context is accepted.
template <class P>
concept context_identifier = context_store<P> && requires {
  requires detail::hook_returning<void, decltype(&detail::hooks_of<P>::identify), const P&,
                                  typename detail::hooks_of<P>::context_builder&, std::string_view>;
  requires detail::hook_returning<result<std::string>, decltype(&detail::hooks_of<P>::identity), const P&,
                                  const context_binary&>;
};
/// A provider with separate memory for values: inputs and outputs of its nodes lie there, and the planner adds copies
/// from and to the host's memory. Only tensors of numbers can be copied; NOT_IMPLEMENTED where another value would have
/// to be. Scratch memory and characters (run_context::scratch, run_context::text), and what kernels keep when they are
/// bound, are the host's.
/// - `void* allocate(std::size_t bytes, std::size_t alignment) const noexcept` returns memory of at least `bytes`,
///   which are never 0, at a multiple of `alignment`, which is a power of two; null if no memory is left, which becomes
///   OUT_OF_MEMORY. It is called while a model is loaded, for constants, and by the thread of a run when its runner is
///   made and in its first runs. Once a runner has enough memory, its runs call neither `allocate` nor `release`. cameo
///   divides the memory into blocks by itself and never accesses it; the pointers that nodes get point into it.
/// - `void release(void*, std::size_t bytes) const noexcept` gets each pointer of `allocate` once, with its size, by
///   any thread, at the latest when the session is destroyed.
/// - `status copy_from_host(void* to, const void* from, std::size_t bytes) const` copies a value into the provider's
///   memory, `copy_to_host` (with the same parameters) out of it. The copy is complete when the function returns;
///   `bytes` may be 0. They are called in each run by the thread of the run, for each value that goes from one memory
///   to the other, and for constants while a model is loaded. An error ends the run or the load; an exception in a run
///   becomes RUNTIME_EXCEPTION.
///
/// Without it values lie in the host's memory.
template <class P>
concept memory_provider = execution_provider<P> && requires {
  requires detail::hook_returning<void*, decltype(&detail::hooks_of<P>::allocate), const P&, std::size_t, std::size_t>;
  requires detail::hook_returning<void, decltype(&detail::hooks_of<P>::release), const P&, void*, std::size_t>;
  requires detail::hook_returning<status, decltype(&detail::hooks_of<P>::copy_from_host), const P&, void*, const void*,
                                  std::size_t>;
  requires detail::hook_returning<status, decltype(&detail::hooks_of<P>::copy_to_host), const P&, void*, const void*,
                                  std::size_t>;
};

/// A provider with options, which users set by session keys: "ep.<name>.<key>" (docs/session_keys.md).
/// - `static constexpr provider_option options[]` is the table of options: `{{"device", "CPU", "which of the SDK's
///   devices"}}`. A key that is not in it is INVALID_ARGUMENT, before the provider is called.
/// - `result<P> configured(const provider_options&) const` returns a configured copy of the provider, which the session
///   uses and destroys. It is called once for each session for which an option was set or a device was chosen, before
///   all other hooks but `devices`. The options are valid during the call. INVALID_ARGUMENT is for a value that the
///   provider can't use. A provider that derives from another inherits this hook: the derived object is copied, and the
///   base in the copy is the configured one. The session keys ep.enable_weightless and session.round_float16 set
///   options named `weightless` and `round_float16` to 1, if the table has them.
///
/// Without it each session key of the provider is INVALID_ARGUMENT.
template <class P>
concept configurable_provider = execution_provider<P> && requires {
  std::span<const provider_option>{detail::hooks_of<P>::options};
  requires detail::is_result_of_base<
      std::invoke_result_t<decltype(&detail::hooks_of<P>::configured), const P&, const provider_options&>, P>;
};
/// A provider that lists its devices: policies choose among them, rules give nodes to their kinds, and packages have
/// variants for them.
/// - `result<std::vector<provider_device>> devices() const` returns the devices that the provider can use on this
///   machine, always in the same order; an empty list if there are none. It is called each time that a program lists
///   devices, a policy chooses, a placement rule applies or a package is opened. An error or an exception counts as no
///   devices, with a warning where a policy chooses; other providers are not affected.
///
/// Without it no policy chooses the provider, and no rule keeps nodes for it.
template <class P>
concept device_provider = execution_provider<P> && requires {
  requires detail::hook_returning<result<std::vector<provider_device>>, decltype(&detail::hooks_of<P>::devices),
                                  const P&>;
};
/// A provider that names its vendor.
/// - `static constexpr provider_vendor vendor` is read while the program is compiled. Policies prefer a provider for
///   devices of its vendor.
///
/// Without it the vendor is unknown, and comes after providers whose vendor is the device's.
template <class P>
concept has_vendor = requires {
  { detail::hooks_of<P>::vendor } -> std::convertible_to<provider_vendor>;
};
/// A provider whose kernels depend on the options of a session: one table of kernels serves all sessions, so each
/// kernel gets a number for its node.
/// - `void before_bind(bind_context&) const` sets bind_context::choice by the node's name, operator and attributes. It
///   is called while a model is loaded, for each node, before a kernel is bound to it. The context is valid during the
///   call. An exception becomes RUNTIME_EXCEPTION.
///
/// Without it, and for providers that have `execute`, the number is 0.
template <class P>
concept configures_kernels = requires {
  requires detail::hook_returning<void, decltype(&detail::hooks_of<P>::before_bind), const P&, bind_context&>;
};
/// A provider that declares operators which none of its kernels runs.
/// - `using operators = op_list<acme::Scale, ...>` is read while the program is compiled. A session with the provider
///   accepts models with these operators. Operators of kernels need not be listed.
///
/// Without it a node of such an operator ends the load.
template <class P>
concept has_operators = requires {
  { detail::hooks_of<P>::operators::rows } -> std::convertible_to<std::span<const op_row>>;
};
/// A provider that has its nodes rewritten after they were assigned.
/// - `using transforms = transform_set<...>` lists transforms of levels after basic. They may touch only nodes of this
///   provider, and a rewrite does not happen if the provider does not take the new nodes. The concepts local_rewrite,
///   graph_pass and group_rewrite describe when they are called.
///
/// Without it the nodes stay as the level basic left them.
template <class P>
concept rewriting_provider = execution_provider<P> && requires {
  { detail::hooks_of<P>::transforms::tables() } -> std::same_as<std::span<const transform_table* const>>;
};
/// A provider that runs images with channels last.
/// - `static constexpr data_layout layout = data_layout::nhwc` is read while the program is compiled. `groups` or
///   `claims` are then called twice for a graph: the first result names nodes, of which those that depend on the layout
///   are moved to operators of com.ms.internal.nhwc, with transposes around them; the second result counts, and has to
///   contain all nodes that were moved, or the load ends with FAIL.
///
/// Without it images have their channels before height and width, as in ONNX.
template <class P>
concept layout_provider = execution_provider<P> && requires {
  { detail::hooks_of<P>::layout } -> std::convertible_to<data_layout>;
};
namespace detail {
/// The image layout that P declares; nchw without one.
template <class P>
constexpr data_layout preferred_layout() {
  if constexpr (layout_provider<P>) return hooks_of<P>::layout;
  else return data_layout::nchw;
}
/// False if P lists transforms of level basic, which run before partitioning.
template <class P>
constexpr bool rewrites_in_time() {
  if constexpr (rewriting_provider<P>) return hooks_of<P>::transforms::lowest > optimization_level::basic;
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
  // The checks below rely on those above, so that a mistake above is the only error.
  static constexpr bool is_fine = execution_provider<P> && (!writes_compile<P> || compiles<P>) &&
                                  (!declares_identify<P> || writes_identify<P>) &&
                                  (!declares_identity<P> || writes_identity<P>);
  static_assert(!is_fine || !writes_contexts<P> || context_store<P>,
                "cameo: a provider that stores compiled contexts needs `compile`, `static constexpr context_source "
                "sources[]`, `using context_builder`, `result<context_part> store(context_builder&, const fused_view&, "
                "const compiled_node&) const`, `status write(const context_builder&, byte_sink) const` and "
                "`result<compiled_node> restore(const context_binary&, const context_node&) const`");
  static_assert(
      !is_fine || !writes_store_weightless<P> || weightless_store<P>,
      "cameo: the hook `store_weightless` must be `result<context_part> store_weightless(context_builder&, const "
      "fused_view&, const compiled_node&) const`, and the provider needs `store`, too");
  static_assert(
      !is_fine || !writes_identities<P> || writes_contexts<P>,
      "cameo: the hooks `identify` and `identity` need those of stored contexts: `store`, `write` and `restore`");
  static_assert(!is_fine || !writes_identities<P> || !context_store<P> || context_identifier<P>,
                "cameo: a provider whose contexts have ids needs both `void identify(context_builder&, "
                "std::string_view) const` and `result<std::string> identity(const context_binary&) const`");
  static_assert(!is_fine || !(writes_configured<P> || has_option_table<P>) || configurable_provider<P>,
                "cameo: a provider with options needs `static constexpr provider_option options[]` and `result<P> "
                "configured(const provider_options&) const`");
  static_assert(!is_fine || !writes_before_bind<P> || configures_kernels<P>,
                "cameo: the hook `before_bind` must be `void before_bind(bind_context&) const`");
  static_assert(!is_fine || !writes_devices<P> || device_provider<P>,
                "cameo: the hook `devices` must be `result<std::vector<provider_device>> devices() const`");
  static_assert(
      !is_fine || !writes_memory<P> || memory_provider<P>,
      "cameo: a provider with separate memory needs four hooks: allocate, release, copy_from_host, copy_to_host");
  static_assert(
      rewrites_in_time<P>(),
      "cameo: a provider's `transforms` run after partitioning, at the levels extended, layout or all; a list of level "
      "basic belongs to the session (cameo::runtime<cameo::with<my_rules>, ...>)");
};
}  // namespace detail

}  // namespace CAMEO_NAMESPACE
