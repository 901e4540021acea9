#pragma once
#include <cameo/core/dtype.hpp>
#include <cameo/op/attribute.hpp>

#include <array>
#include <bit>
#include <concepts>

namespace CAMEO_NAMESPACE {

/// How many arguments a formal input or output has.
enum class parameter_option : std::uint8_t { single, optional, variadic };

/// A formal input or output and the type string that its type is bound to: the name of a type constraint ("T"), or a
/// type itself ("tensor(int64)").
struct parameter {
  std::string_view name, type_string;
  parameter_option option = parameter_option::single;
  bool homogeneous = true;     // variadic: all of one type
  std::uint8_t min_arity = 1;  // variadic: the least number of arguments
};

/// The types that a type string allows, by their containers. Bit i of a mask stands for dtype i.
struct type_rule {
  std::string_view type_string;
  detail::type_mask tensors = 0;             // tensor(T)
  detail::type_mask sequences = 0;           // seq(tensor(T))
  detail::type_mask optionals = 0;           // optional(tensor(T))
  detail::type_mask optional_sequences = 0;  // optional(seq(tensor(T)))
  detail::type_mask sparse_tensors = 0;      // sparse_tensor(T)
  bool maps = false;                         // map(K, V) and seq(map(K, V)), any
};

/// A formal attribute. A node may omit it unless it is `required`; `default_...` is then its value, if ONNX defines a
/// default. `values`, unless null, states the legal values; for a list, those of each element:
///
///   "1.."              numbers from 1 on
///   "0<.."             numbers above 0
///   "0..8"             numbers from 0 to 8
///   "2|4|8"            one of these numbers
///   "constant|edge"    one of these strings
///   "SAME|VALID|"      one of these strings, or the empty one, which stands for the default
///   "4:", "2:1.."      a list of 4 elements; a list of 2 numbers from 1 on
///
/// detail::check_attribute() reads it when a model is loaded, so that shape functions and kernels need not.
struct attribute_rule {
  std::string_view name;
  attribute_kind kind;
  bool required = false;
  bool has_default = false;
  std::int64_t default_int = 0;
  float default_float = 0;
  std::string_view default_string = {};
  const char* values = nullptr;
};

/// One since-version of an operator. `shapes`, unless null, states the shapes of the inputs, as patterns that
/// geometry::check_shapes() compares with them when a model is loaded, and before each run of a kernel. In patterns,
/// attributes with integers are names, too. After the patterns of inputs may stand lengths of attributes that are
/// lists: "coefficients=targets*features".
///
/// `presence`, unless null, states which inputs, attributes and outputs need each other, separated by blanks; they are
/// compared when a model is loaded:
///
///   "past_key&past_value"      a node has both or neither
///   "do_rotary>cos_cache"      with the first, which may be a number other than 0, a node has the second
struct op_version {
  int since;
  std::span<const parameter> inputs, outputs;
  std::span<const type_rule> types;
  std::span<const attribute_rule> attributes;
  std::uint8_t min_inputs, min_outputs;
  bool deprecated = false;
  const char* shapes = nullptr;
  const char* presence = nullptr;
};

/// Properties of an operator, so that the core can treat operators without naming them. A set: roles combine. Data are
/// the first inputs, on which the operator computes; further inputs are parameters.
enum class role : std::uint16_t {
  none = 0,
  has_subgraphs = 1 << 0,        // takes graphs as attributes
  is_random = 1 << 1,            // equal inputs need not give equal outputs: never folded, never merged
  is_constant = 1 << 2,          // its value is in its attributes
  is_compiled_context = 1 << 3,  // contains a subgraph that a provider has compiled
  needs_training = 1 << 4,       // defined by rewriting the whole graph
  is_identity = 1 << 5,          // its output equals its input
  is_pointwise = 1 << 6,         // each output element depends on one element of the first input, at its position
  broadcasts = 1 << 7,           // each output element depends on one element of each input, at its position, broadcast
  commutes = 1 << 8,             // its first two inputs may be swapped
  reduces = 1 << 9,              // reduces the elements along `axes` to one, with `keepdims`
  moves = 1 << 10,               // the output contains only elements of the first input
  permutes = 1 << 11,            // moves each element of the first input to one position
  reshapes = 1 << 12,            // permutes, and keeps the order
  convolves = 1 << 13,           // slides windows of weights over data; channels are axis 1
  normalizes = 1 << 14,          // normalizes the elements along `axis`
  takes_any_attribute = 1 << 15,  // ONNX Runtime loads files with attributes that it does not have, and ignores these
};
/// The union of both sets of roles.
constexpr role operator|(role a, role b) { return role(std::uint16_t(a) | std::uint16_t(b)); }
namespace detail {
/// True if `all` contains `one`, or one of its roles.
constexpr bool has_role(role all, role one) { return (std::uint16_t(all) & std::uint16_t(one)) != 0; }
}  // namespace detail

class infer_context;
namespace detail {
/// Infers the types and shapes of a node's outputs; see op/infer.hpp. INVALID_GRAPH when the inputs are illegal.
using infer_function = status (*)(infer_context&);
}  // namespace detail

/// An operator is a tag type: `domain`, `name` and `versions` (oldest first). It may have `roles` and a static `status
/// infer(infer_context&)`; without the latter, types and shapes of outputs follow from its roles. op/onnx.hpp declares
/// the operators of ONNX; users declare theirs in the same way.
template <class Op>
concept declared_op = requires {
  { Op::domain } -> std::convertible_to<std::string_view>;
  { Op::name } -> std::convertible_to<std::string_view>;
  { std::span<const op_version>{Op::versions} };
};

namespace detail {
/// A hash of domain and name, by which rows are sorted and compared. Two names may have the same hash, so names from
/// files are compared as well: see find_op().
enum class op_id : std::uint32_t {};
/// The id of an operator's names.
constexpr op_id make_op_id(std::string_view domain, std::string_view name) {
  std::uint32_t hash = 2166136261;  // FNV-1a
  for (std::string_view part : {domain, std::string_view{"/"}, name})
    for (char c : part) hash = (hash ^ std::uint8_t(c)) * 16777619;
  return op_id{hash};
}

/// The id of a declared operator.
template <declared_op Op>
inline constexpr op_id op_id_of = detail::make_op_id(Op::domain, Op::name);
}  // namespace detail

/// A declared operator as a value. `infer` is never null: for an operator without a shape function it is a function
/// that leaves the outputs unknown.
struct op_row {
  detail::op_id id{};
  role roles = role::none;
  std::string_view domain, name;
  std::span<const op_version> versions;
  detail::infer_function infer = nullptr;

  /// The version that applies at an opset of its domain; null if the operator is newer than that.
  constexpr const op_version* at(std::int64_t opset) const {
    const op_version* found = nullptr;
    for (const op_version& v : versions)
      if (v.since <= opset) found = &v;
    return found;
  }
};

namespace detail {
/// Leaves types and shapes of outputs unknown.
inline status infer_nothing(infer_context&) { return status_code::ok; }

/// True if Op has a shape function.
template <class Op>
concept has_infer = requires { infer_function{&Op::infer}; };
/// True if Op has roles.
template <class Op>
concept has_roles = requires { role{Op::roles}; };

/// The op_row of a declared operator.
template <declared_op Op>
constexpr op_row make_op_row() {
  op_row row{op_id_of<Op>, role::none, Op::domain, Op::name, Op::versions, detail::infer_nothing};
  if constexpr (detail::has_infer<Op>) row.infer = &Op::infer;
  if constexpr (has_roles<Op>) row.roles = Op::roles;
  return row;
}

/// Finds the op_row of an operator; null if `rows`, sorted by id, has none. Names are compared, too: a file can contain
/// an operator whose name has the same hash.
constexpr const op_row* find_op(std::span<const op_row> rows, std::string_view domain, std::string_view name) {
  for (const op_row& row : detail::rows_with(detail::make_op_id(domain, name), &op_row::id, rows))
    if (row.domain == domain && row.name == name) return &row;
  return nullptr;
}
}  // namespace detail

/// A provider's own operators: `using operators = op_list<acme::Smooth>;`
template <declared_op... Ops>
struct op_list {
  static constexpr std::array<op_row, sizeof...(Ops)> rows = [] {
    std::array<op_row, sizeof...(Ops)> made{detail::make_op_row<Ops>()...};
    detail::sort_rows(made.data(), made.size(), [](const op_row& a, const op_row& b) { return a.id < b.id; });
    return made;
  }();
};

namespace detail {
/// Every operator of ONNX, ai.onnx.ml, com.microsoft and its internal domains, sorted by id, with all versions. Part of
/// the compiled library: a minimal build that does not call it does not link it.
CAMEO_API std::span<const op_row> standard_ops();

/// A domain of standard_ops(). Readers normalize "ai.onnx" to "", which is the same domain.
struct domain_row {
  std::string_view name;
  int newest_opset;
};
/// The domains of standard_ops().
CAMEO_API std::span<const domain_row> standard_domains();
}  // namespace detail

}  // namespace CAMEO_NAMESPACE
