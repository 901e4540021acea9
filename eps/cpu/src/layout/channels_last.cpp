// The channels-last layout: quantized images as [N, H, W, C]. A convolution of bytes multiplies four neighboring
// channels at a time, and reads an image without padding in place. Blocks of channels, as float images have them, would
// gain nothing: all channels of a pixel are read, one after the other.
#include <cameo/op/attributes/microsoft.hpp>
#include <cameo/op/attributes/onnx.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/onnx.hpp>

#include "layouts.hpp"
#include "regions.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

namespace ms = op::microsoft;

class channels_last_codes : public image_facts {
 public:
  explicit channels_last_codes(const rewriter& r) : image_facts{r} {}

  bool is_image(const value_view& v) const {
    return has_channels(v) && rank(v) <= 5 && (v.element() == dtype::u8 || v.element() == dtype::i8);
  }
  image_role role_of(const node_view& n) const { return role_of_kind(kind_of(n)); }
  std::int64_t gain(const node_view& n) const { return convolution_gain(*r_.constant(n.input(3)), n.output(0)); }
  bool takes_image(const node_view& n, std::size_t input) const {
    switch (kind_of(n)) {
      case kind::two: return input == 0 || input == 3;
      case kind::concat: return input >= 2 && (input - 2) % 3 == 0;
      default: return input == 0;
    }
  }
  bool reads_plain(const node_view&, std::size_t) const { return false; }
  bool is_same_bytes(const value_view&) const { return false; }  // one pixel has the same bytes, but another shape
  std::int64_t elements(const value_view& v) const { return is_one_pixel(v) ? 1 : image_facts::elements(v); }

  /// Returns `v` with its channels last. If a Transpose made `v` from such a value, that value is returned.
  value_id to_form(edit& e, const value_view& v) const {
    const std::vector<std::int64_t> order = to_last(rank(v));
    if (const node_view maker = v.producer(); maker && maker.has_op<op::Transpose>() && maker.input(0)) {
      const std::span<const std::int64_t> before = attributes_of<op::Transpose>{maker.raw().attributes}.perm;
      bool undone = before.size() == order.size();
      for (std::size_t i = 0; undone && i < order.size(); ++i)
        undone = before[std::size_t(order[i])] == std::int64_t(i);
      if (undone) return maker.input(0).id();
    }
    return e.add<op::Transpose>({v.id()}, {attribute_of("perm", std::span<const std::int64_t>{order})});
  }
  value_id from_form(edit& e, value_id form, const value_view& v) const {
    std::vector<std::int64_t> order{0, std::int64_t(rank(v)) - 1};
    for (std::size_t i = 2; i < rank(v); ++i) order.push_back(std::int64_t(i) - 1);
    return e.add<op::Transpose>({form}, {attribute_of("perm", std::span<const std::int64_t>{order})});
  }
  value_id moved(edit& e, const node_view& n, std::span<const value_id> inputs) const {
    const kind k = kind_of(n);
    std::vector<attribute> attributes;
    for (const attribute& a : n.raw().attributes)
      if (a.name != "channels_last" && a.name != "storage_order" && !(k == kind::concat && a.name == "axis"))
        attributes.push_back(a);
    switch (k) {
      case kind::conv:
        attributes.push_back(attribute_of("channels_last", 1));
        return e.add(ms::QLinearConv::domain, ms::QLinearConv::name, inputs, attributes);
      case kind::max_pool: return e.add(ms::NhwcMaxPool::domain, ms::NhwcMaxPool::name, inputs, attributes);
      case kind::mean_pool: attributes.push_back(attribute_of("channels_last", 1)); break;
      case kind::concat: attributes.push_back(attribute_of("axis", std::int64_t(rank(n.output(0))) - 1)); break;
      default: break;
    }
    return e.add(n.domain(), n.op_type(), inputs, attributes);
  }

 private:
  static std::vector<std::int64_t> to_last(std::size_t rank) {
    std::vector<std::int64_t> order{0};
    for (std::size_t i = 2; i < rank; ++i) order.push_back(std::int64_t(i));
    order.push_back(1);
    return order;
  }
  enum class kind : std::uint8_t { none, conv, max_pool, mean_pool, one, two, concat };

  kind kind_of(const node_view& n) const {
    if (!is_movable(n) || !is_image(n.output(0))) return kind::none;
    if (n.has_op<ms::QLinearConcat>()) return concat_fits(n) ? kind::concat : kind::none;
    if (!n.input(0) || !is_image(n.input(0)) || rank(n.input(0)) != rank(n.output(0))) return kind::none;
    const attributes_of<ms::QLinearGlobalAveragePool> a{n.raw().attributes};
    if (n.has_op<op::QLinearConv, ms::QLinearConv>()) {
      const value* const w = r_.constant(n.input(3));
      return w && w->shape.rank() == rank(n.input(0)) && !a.channels_last ? kind::conv : kind::none;
    }
    if (n.has_op<op::MaxPool>())
      return attributes_of<op::MaxPool>{n.raw().attributes}.storage_order == 0 ? kind::max_pool : kind::none;
    if (n.has_op<ms::QLinearAveragePool, ms::QLinearGlobalAveragePool>())
      return a.channels_last ? kind::none : kind::mean_pool;
    if (n.has_op<ms::QLinearLeakyRelu, ms::QLinearSigmoid>()) return kind::one;
    return n.has_op<ms::QLinearAdd, ms::QLinearMul>() && have_one_shape(n) ? kind::two : kind::none;
  }
  bool have_one_shape(const node_view& n) const {
    return n.input(3) && is_image(n.input(3)) && have_same_shape(n.input(0), n.output(0)) &&
           have_same_shape(n.input(3), n.output(0));
  }
  bool concat_fits(const node_view& n) const {
    const std::int64_t axis = attributes_of<ms::QLinearConcat>{n.raw().attributes}.axis;
    const std::int64_t last = std::int64_t(rank(n.output(0)));
    if (axis != 1 && axis != 1 - last) return false;
    for (std::size_t i = 2; i < n.input_count(); i += 3)
      if (!n.input(i) || !is_image(n.input(i)) || rank(n.input(i)) != rank(n.output(0))) return false;
    return n.input_count() > 2;
  }
};

}  // namespace

bool put_channels_last(rewriter& r) { return region_rewrite<channels_last_codes>{r}.run(); }

}  // namespace CAMEO_NAMESPACE::eps
