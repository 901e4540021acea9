#pragma once
#include <cameo/core/construct.hpp>
#include <cameo/ep/context.hpp>
#include <cameo/partition/assignment.hpp>
#include <cameo/session/input.hpp>
#include <cameo/session/options.hpp>

#include <iosfwd>

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

  /// Of a tensor's elements; `undefined` for an input or output that is no tensor.
  dtype element() const { return type.is_tensor() ? type.type : dtype::undefined; }
  /// A tensor's dims, -1 for those that the model leaves open; std::nullopt when even the rank is open.
  CAMEO_API std::optional<std::vector<std::int64_t>> dims() const;
};
/// "image: tensor(float)[batch,3,224,224]"
CAMEO_API std::string to_string(const io_info&);

/// Where a node runs and, if requested, why no earlier provider of the list took it. Providers by their short names.
struct placement_info {
  std::string node, domain, op_type, provider;
  std::int64_t opset = 0;
  std::size_t depth = 0;              // 0: the main graph; higher in a subgraph
  std::string fused_from;             // for a fused node: the operators in it
  std::vector<std::string> refusals;  // "npu has no kernel for it", one per earlier provider
  std::string output;                 // its first output: identifies a node without a name
};

namespace detail {
/// Checks that a binding may keep a reference to the memory: it must not be a temporary's own.
template <class E>
struct bound_check {
  static_assert(std::is_lvalue_reference_v<E> || std::convertible_to<E, const value&> || std::ranges::borrowed_range<E>,
                "cameo: a binding uses this memory in every run, but it belongs to a temporary; store it in a variable "
                "that lives as long as the binding");
};
}  // namespace detail

/// A runner of a session with its inputs and outputs bound to memory: running it again copies nothing and, from the
/// second run on, allocates nothing. One run at a time; different bindings run at once. The session outlives it.
class io_binding {
 public:
  /// Empty, for an object that gets its binding later; only to be asked whether it is, and assigned to.
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
  /// Runs write the output here: room for shape.count() elements of its type in the caller's memory, until it is bound
  /// again (`{}`: the binding's own memory again). A smaller output fits, and output() has its shape; a run whose
  /// output is larger ends with INVALID_ARGUMENT. INVALID_ARGUMENT for an unknown name, another type, or strings.
  CAMEO_API status bind_output(detail::io_key, const value&);
  /// The same for contiguous elements: a vector, an array, a span.
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
  /// The output's value of the last run; in the caller's memory, or in the binding's own until the next run. `i` is
  /// below output_count(); null for a name that the model does not have.
  CAMEO_API const value& output(std::size_t i) const;
  CAMEO_API const value* output(std::string_view name) const;
  /// The elements of an output that is a tensor of T; INVALID_ARGUMENT otherwise. Valid as long as output()'s.
  template <class T>
  result<tensor_view<const T>> get(std::string_view name) const {
    const value* const found = output(name);
    if (!found) return status{status_code::invalid_argument, "the model has no such output"}.in(name);
    result<tensor_view<const T>> view = detail::view_as<T>(*found);
    if (!view) return std::move(view).error().in(name);
    return view;
  }
  /// Number of outputs of the model.
  CAMEO_API std::size_t output_count() const;
  /// Bytes for intermediate values.
  CAMEO_API std::size_t arena_bytes() const;

 private:
  friend class session;
  struct impl;
  CAMEO_API explicit io_binding(impl*);
  detail::owned<impl> impl_;
};

/// A model ready to run. Thread-safe: run() from any number of threads.
class session {
 public:
  /// Empty, for an object that gets its model later, as after a move: run() and bind() are INVALID_ARGUMENT, and other
  /// functions are not to be called.
  CAMEO_API session() noexcept;
  explicit operator bool() const { return bool(impl_); }
  CAMEO_API session(session&&) noexcept;
  CAMEO_API session& operator=(session&&) noexcept;
  CAMEO_API ~session();

  /// In the model's order, without initializers that a caller may not replace.
  CAMEO_API const std::vector<io_info>& inputs() const;
  /// In the model's order.
  CAMEO_API const std::vector<io_info>& outputs() const;
  /// The input of that name; null when the model has no such input.
  CAMEO_API const io_info* input(std::string_view name) const;
  /// See input().
  CAMEO_API const io_info* output(std::string_view name) const;

  /// One run; returns copies of all outputs, in the model's order.
  ///   INVALID_ARGUMENT             an input is missing, unknown, given twice, or of another type, rank or size than
  ///                                the model declares; the message names it. Also when a kernel rejects its data
  ///   CANCELED, DEADLINE_EXCEEDED  by the stop token and the timeout in the settings
  ///   OUT_OF_MEMORY                memory or session_options::memory_limit is used up
  ///   RUNTIME_EXCEPTION            a kernel threw
  result<named_values> run(std::initializer_list<named_input> inputs, const run_settings& settings = {}) const {
    return run(std::span<const named_input>{inputs.begin(), inputs.size()}, settings);
  }
  CAMEO_API result<named_values> run(std::span<const named_input> inputs, const run_settings& = {}) const;

  /// Makes a binding, which has memory of its own for runs. OUT_OF_MEMORY when its memory can't be allocated.
  CAMEO_API result<io_binding> bind() const;
  /// Runs the binding once; errors as above. INVALID_ARGUMENT when it is another session's.
  CAMEO_API status run(io_binding&, const run_settings& = {}) const;

  /// Every node that runs, in order.
  CAMEO_API std::vector<placement_info> placements(bool with_refusals = false) const;
  /// What each provider took while the session was loaded, in the order in which they took it: nodes that are compiled
  /// together, or one node. Names are those of nodes at that time: after rewrites of level basic, before nodes were
  /// fused; a subgraph's come before those of the graph that contains it. FAIL unless the session was loaded with
  /// session.record_ep_graph_assignment_info=1.
  CAMEO_API result<std::vector<ep_assignment>> assignments() const;
  /// Nodes and copies between memory kinds in the main graph's plan.
  CAMEO_API std::size_t step_count() const;
  /// Threads that a run may use, the caller's included.
  CAMEO_API std::size_t thread_count() const;
  /// Names of the providers in use, in order of priority.
  CAMEO_API std::vector<std::string> providers() const;
  /// The devices that were chosen for them, by a policy or in the options, in order of preference.
  CAMEO_API const std::vector<ep_device>& devices() const;
  /// The value of a configuration key in this session (also "ep.<provider's long name in lower case>.<option>"): as it
  /// was set, by the options or by a chosen device, or its default. Empty for other keys.
  CAMEO_API std::string_view config(std::string_view key) const;
  /// Bytes of values with known shapes that a run needs.
  CAMEO_API std::size_t fixed_bytes() const;
  /// The model as it was partitioned. Lives as long as the session.
  CAMEO_API const model& graph() const;
  /// The graph that a fused node of graph() stands for; null for other nodes. Lives as long as the session.
  CAMEO_API const cameo::graph* fused_body(const detail::graph_node&) const;
  /// Lives as long as the session.
  CAMEO_API const plan_view& plan() const;
  /// The transforms that changed the graph while it was loaded.
  CAMEO_API const transform_log& rewrites() const;

  struct impl;

 private:
  CAMEO_API explicit session(impl*);
  detail::owned<impl> impl_;
};

/// A text for a terminal, in one line: control characters, as a model's names may have, become ' ' or '?'.
CAMEO_API std::string one_line(std::string_view words);
/// Prints "error: CODE: words" to standard error, in one line, and returns 1, so that main can `return report(...)`. In
/// colour on a terminal, unless NO_COLOR is set.
CAMEO_API int report(const status&);
/// Prints every value, shortened, in a line of its own made by one_line(), and returns 0.
CAMEO_API int print(const named_values&);

}  // namespace CAMEO_NAMESPACE
