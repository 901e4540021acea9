// The blocked layout: float images [N, C, H, W] in memory as [N, C / 16, H, W, 16], in blocks of 16 channels.
#include <cameo/op/attributes/onnx.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/nchwc.hpp>
#include <cameo/op/onnx.hpp>

#include "layouts.hpp"
#include "regions.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

class blocked_floats : public image_facts {
 public:
  static constexpr std::int64_t block = 16;

  explicit blocked_floats(const rewriter& r) : image_facts{r} {}

  bool is_image(const value_view& v) const { return has_channels(v) && rank(v) == 4 && v.element() == dtype::f32; }
  image_role role_of(const node_view& n) const { return role_of_kind(kind_of(n)); }
  std::int64_t gain(const node_view& n) const { return convolution_gain(*r_.constant(n.input(1)), n.output(0)); }
  bool takes_image(const node_view& n, std::size_t input) const {
    switch (kind_of(n)) {
      case kind::conv: return input == 0 || input == 3;
      case kind::pool:
      case kind::unary: return input == 0;
      default: return true;
    }
  }
  /// A convolution of an image with few channels reads the plain image: a blocked one would mostly consist of padding.
  bool reads_plain(const node_view& n, std::size_t input) const {
    return input == 0 && kind_of(n) == kind::conv && channels(n.input(0)) < block && groups_of(n) == 1;
  }
  /// True if the value has the same bytes in both layouts, as an image of one pixel with whole blocks of channels has.
  bool is_same_bytes(const value_view& v) const { return is_one_pixel(v) && channels(v) % block == 0; }

  value_id to_form(edit& e, const value_view& v) const { return e.add<op::nchwc::ReorderInput>({v.id()}); }
  value_id from_form(edit& e, value_id form, const value_view& v) const {
    return e.add<op::nchwc::ReorderOutput>({form}, {attribute_of("channels", channels(v))});
  }
  value_id moved(edit& e, const node_view& n, std::span<const value_id> inputs) const {
    const kind k = kind_of(n);
    const bool has_own_op = k == kind::conv || k == kind::pool;
    const std::string_view op = n.has_op<op::microsoft::FusedConv>() ? op::nchwc::Conv::name : n.op_type();
    std::vector<attribute> attributes{n.raw().attributes.begin(), n.raw().attributes.end()};
    if (k == kind::conv) attributes.push_back(attribute_of("plain_weights", 1));
    return e.add(has_own_op ? op::nchwc::Conv::domain : n.domain(), op, inputs, attributes);
  }

 private:
  enum class kind : std::uint8_t { none, conv, pool, unary, same_shape, concat };

  kind kind_of(const node_view& n) const {
    if (!is_movable(n) || !is_image(n.output(0))) return kind::none;
    if (n.has_op<op::Conv, op::microsoft::FusedConv>()) return conv_fits(n) ? kind::conv : kind::none;
    if (!n.input(0) || !is_image(n.input(0))) return kind::none;
    if (n.has_op<op::MaxPool, op::AveragePool, op::GlobalAveragePool, op::GlobalMaxPool>())
      return attributes_of<op::MaxPool>{n.raw().attributes}.storage_order == 0 ? kind::pool : kind::none;
    // A pointwise operator can run in the blocked layout if all its inputs but the first are constants of one element,
    // as the bounds of Clip are.
    if (detail::has_role(n.op()->roles, role::is_pointwise)) return others_are_numbers(n) ? kind::unary : kind::none;
    if (detail::has_role(n.op()->roles, role::broadcasts))
      return all_inputs(n, [&](const value_view& v) { return is_image(v) && have_same_shape(v, n.output(0)); })
                 ? kind::same_shape
                 : kind::none;
    if (n.has_op<op::Concat>() && joins_channels(n))
      return all_inputs(n, [&](const value_view& v) { return is_image(v) && channels(v) % block == 0; }) ? kind::concat
                                                                                                         : kind::none;
    return kind::none;
  }
  static bool joins_channels(const node_view& n) {
    const std::int64_t axis = attributes_of<op::Concat>{n.raw().attributes}.axis.value_or(1);
    return axis == 1 || axis == -3;
  }
  static std::int64_t groups_of(const node_view& n) { return attributes_of<op::Conv>{n.raw().attributes}.group; }
  bool conv_fits(const node_view& n) const {
    const value* const w = r_.constant(n.input(1));
    if (!is_image(n.input(0)) || !w || w->type != dtype::f32 || w->shape.rank() != 4) return false;
    if (n.input(2) && !r_.constant(n.input(2))) return false;
    if (n.input(3) && !(is_image(n.input(3)) && have_same_shape(n.input(3), n.output(0)))) return false;
    const std::int64_t groups = groups_of(n), c = channels(n.input(0)), m = w->shape[0];
    if (groups < 1 || c % groups || m % groups) return false;
    const bool is_depthwise = groups == c && groups == m;
    return groups == 1 || is_depthwise || (c / groups % block == 0 && m / groups % block == 0);
  }
  bool others_are_numbers(const node_view& n) const {
    for (std::size_t i = 1; i < n.input_count(); ++i)
      if (n.input(i) && !number_of(r_.constant(n.input(i)))) return false;
    return true;
  }
  template <class Holds>
  static bool all_inputs(const node_view& n, Holds holds) {
    for (value_view v : n.inputs())
      if (!v || !holds(v)) return false;
    return n.input_count() > 0;
  }
};

}  // namespace

bool block_channels(rewriter& r) { return region_rewrite<blocked_floats>{r}.run(); }

}  // namespace CAMEO_NAMESPACE::eps
