#pragma once
#include <cameo/core/construct.hpp>
#include <cameo/ep/context.hpp>
#include <cameo/partition/assignment.hpp>
#include <cameo/session/input.hpp>
#include <cameo/session/options.hpp>

namespace CAMEO_NAMESPACE {

class session;
struct plan_view;
struct transform_log;

/// An input or output of a model, with the dims that are known before a run.
struct io_info {
  std::string name;
  value_type type;
  bool optional = false;  // an input with a default (an initializer of the same name)
  std::string type_text;  // "tensor(float)[batch,3,224,224]"

  /// The type of a tensor's elements; `undefined` for an input or output that is not a tensor.
  dtype element() const { return type.is_tensor() ? type.type : dtype::undefined; }
  /// A tensor's dims, -1 for those that the model leaves open; std::nullopt when even the rank is open.
  CAMEO_API std::optional<std::vector<std::int64_t>> dims() const;
};
/// Formats name, type and shape: "image: tensor(float)[batch,3,224,224]".
CAMEO_API std::string to_string(const io_info&);

/// The provider that runs a node and, if requested, why no earlier provider of the list took it. Providers are given by
/// their short names.
struct placement_info {
  std::string node, domain, op_type, provider;
  std::int64_t opset = 0;
  std::size_t depth = 0;              // 0: the main graph; higher in a subgraph
  std::string fused_from;             // for a fused node: the operators in it
  std::vector<std::string> refusals;  // "npu has no kernel for it", one per earlier provider
  std::string output;                 // its first output: identifies a node without a name
};

namespace detail {
/// Checks at compile time that a binding may keep a reference to the memory: a temporary must not own it.
template <class E>
struct bound_check {
  static_assert(std::is_lvalue_reference_v<E> || std::convertible_to<E, const value&> || std::ranges::borrowed_range<E>,
                "cameo: a binding uses this memory in every run, but it belongs to a temporary; store it in a variable "
                "that lives as long as the binding");
};
}  // namespace detail

/// A session's inputs and outputs bound to memory: running the binding again copies nothing and, from the second run
/// on, allocates nothing. A binding has one run at a time; different bindings may run concurrently. The session must
/// outlive its bindings.
class io_binding {
 public:
  /// Creates an empty binding, to be assigned later. An empty one may only be tested with operator bool and assigned
  /// to.
  CAMEO_API io_binding() noexcept;
  explicit operator bool() const { return bool(impl_); }
  CAMEO_API io_binding(io_binding&&) noexcept;
  CAMEO_API io_binding& operator=(io_binding&&) noexcept;
  CAMEO_API ~io_binding();

  /// The input's memory is read in every run until it is bound again; it must stay valid until then, and its elements
  /// may change between runs. INVALID_ARGUMENT as session::run. It accepts the inputs of run(), except temporaries that
  /// own their elements, which would be destroyed too early.
  CAMEO_API status bind_input(const named_input&);
  template <class E>
  status bind_input(detail::io_key key, E&& elements) {
    static_assert(sizeof(detail::bound_check<E>));
    return bind_input(named_input{key, elements});
  }
  template <class E>
  status bind_input(detail::io_key key, E&& elements, const extents& shape) {
    static_assert(sizeof(detail::bound_check<E>));
    return bind_input(named_input{key, elements, shape});
  }
  /// Makes runs write the output to this buffer in the caller's memory, which holds shape.count() elements of the
  /// output's type and must stay valid until the output is bound again (`{}` returns to the binding's own memory). A
  /// smaller output fits, and output() has its shape; a run whose output is larger ends with INVALID_ARGUMENT.
  /// INVALID_ARGUMENT for an unknown name, another type, or strings.
  CAMEO_API status bind_output(detail::io_key, const value&);
  /// Binds an output to a buffer of contiguous elements: a vector, an array, a span.
  template <std::ranges::contiguous_range R>
  status bind_output(detail::io_key key, R&& elements) {
    using T = std::remove_reference_t<std::ranges::range_reference_t<R>>;
    static_assert(sizeof(detail::bound_check<R>));
    static_assert(!std::is_const_v<T>, "cameo: runs write to a bound output, but these elements are const");
    static_assert(sizeof(detail::element_check<std::remove_const_t<T>>));
    if constexpr (element_type<std::remove_const_t<T>>)
      return bind_output(key, value::tensor(dtype_of<std::remove_const_t<T>>,
                                            {std::int64_t(std::ranges::size(elements))}, std::ranges::data(elements)));
    else return {};
  }
  /// An output of the last run: in the caller's memory if it was bound, otherwise in the binding's own memory and valid
  /// until the next run. `i` is below output_count(); null for a name that the model does not have.
  CAMEO_API const value& output(std::size_t i) const;
  CAMEO_API const value* output(std::string_view name) const;
  /// The elements of an output that is a tensor of T; INVALID_ARGUMENT otherwise. Valid as long as output().
  template <class T>
  result<tensor_view<const T>> get(std::string_view name) const {
    const value* const found = output(name);
    if (!found) return status{status_code::invalid_argument, "the model has no such output"}.in(name);
    result<tensor_view<const T>> view = detail::view_as<T>(*found);
    if (!view) return std::move(view).error().in(name);
    return view;
  }
  /// The number of outputs of the model.
  CAMEO_API std::size_t output_count() const;
  /// The size in bytes of the memory for intermediate values.
  CAMEO_API std::size_t arena_bytes() const;

 private:
  friend class session;
  struct impl;
  CAMEO_API explicit io_binding(impl*);
  detail::owned<impl> impl_;
};

/// A loaded model that is ready to run. Thread-safe: any number of threads may call run().
class session {
 public:
  /// Creates an empty session, to be assigned later; a moved-from session is empty, too. run() and bind() of an empty
  /// session return INVALID_ARGUMENT, and its other functions must not be called.
  CAMEO_API session() noexcept;
  explicit operator bool() const { return bool(impl_); }
  CAMEO_API session(session&&) noexcept;
  CAMEO_API session& operator=(session&&) noexcept;
  CAMEO_API ~session();

  /// The model's inputs in its order, without initializers that a caller may not replace.
  CAMEO_API const std::vector<io_info>& inputs() const;
  /// The model's outputs in its order.
  CAMEO_API const std::vector<io_info>& outputs() const;
  /// The input of that name; null when the model has no such input.
  CAMEO_API const io_info* input(std::string_view name) const;
  /// See input().
  CAMEO_API const io_info* output(std::string_view name) const;

  /// Runs the model once and returns copies of all outputs, in the model's order.
  ///   INVALID_ARGUMENT             an input is missing, unknown, given twice, or of another type, rank or size than
  ///                                the model declares; the message names it. Also when a kernel rejects its data
  ///   CANCELED, DEADLINE_EXCEEDED  by the stop token and the timeout in the settings
  ///   OUT_OF_MEMORY                memory or session_options::memory_limit is used up
  ///   RUNTIME_EXCEPTION            a kernel threw
  result<named_values> run(std::initializer_list<named_input> inputs, const run_settings& settings = {}) const {
    return run(std::span<const named_input>{inputs.begin(), inputs.size()}, settings);
  }
  CAMEO_API result<named_values> run(std::span<const named_input> inputs, const run_settings& = {}) const;

  /// Creates a binding, which owns separate memory for its runs. OUT_OF_MEMORY when that can't be allocated.
  CAMEO_API result<io_binding> bind() const;
  /// Runs the binding once, with the errors of the function above. INVALID_ARGUMENT for a binding of another session.
  CAMEO_API status run(io_binding&, const run_settings& = {}) const;

  /// Every node that runs, in execution order.
  CAMEO_API std::vector<placement_info> placements(bool with_refusals = false) const;
  /// The nodes that each provider took while the session was loaded, in the order in which it took them: each entry is
  /// a group of nodes that is compiled together, or one node. Names are those of the nodes at that time: after rewrites
  /// of level basic, before nodes were fused. Entries of a subgraph precede those of the graph that contains it. FAIL
  /// unless the session was loaded with session.record_ep_graph_assignment_info=1.
  CAMEO_API result<std::vector<ep_assignment>> assignments() const;
  /// The number of steps in the main graph's plan: its nodes, and copies between kinds of memory.
  CAMEO_API std::size_t step_count() const;
  /// The number of threads that a run may use, including the caller's.
  CAMEO_API std::size_t thread_count() const;
  /// The names of the providers in use, in order of priority.
  CAMEO_API std::vector<std::string> providers() const;
  /// The devices that a policy or the options chose for the providers, in order of preference.
  CAMEO_API const std::vector<ep_device>& devices() const;
  /// The value of a configuration key in this session, or of a provider's option
  /// ("ep.<provider's long name in lower case>.<option>"): the value that the options or a chosen device set, otherwise
  /// the default. Empty for an unknown key.
  CAMEO_API std::string_view config(std::string_view key) const;
  /// The number of bytes that a run needs for the values whose shapes are known before it.
  CAMEO_API std::size_t fixed_bytes() const;
  /// The model after partitioning. Lives as long as the session.
  CAMEO_API const model& graph() const;
  /// The graph that a fused node of graph() stands for; null for other nodes. Lives as long as the session.
  CAMEO_API const cameo::graph* fused_body(const detail::graph_node&) const;
  /// The plan of the main graph. Lives as long as the session.
  CAMEO_API const plan_view& plan() const;
  /// The transforms that changed the graph while it was loaded.
  CAMEO_API const transform_log& rewrites() const;

  struct impl;

 private:
  CAMEO_API explicit session(impl*);
  detail::owned<impl> impl_;
};

/// Replaces control characters, which names in a model may contain, by ' ' or '?', so that the text fits in one line of
/// a terminal.
CAMEO_API std::string one_line(std::string_view words);
/// Prints "error: CODE: words" to standard error, in one line, and returns 1, so that main can `return report(...)`.
/// On a terminal the line is colored, unless NO_COLOR is set.
CAMEO_API int report(const status&);
/// Prints every value, shortened, in a separate line made by one_line(), and returns 0.
CAMEO_API int print(const named_values&);

}  // namespace CAMEO_NAMESPACE
