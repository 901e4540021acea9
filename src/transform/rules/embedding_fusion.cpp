// Tables of words, positions and segments, their sum and its normalisation: com.microsoft's EmbedLayerNormalization.
#include <cameo/op/contrib.hpp>
#include <cameo/op/microsoft.hpp>

#include <algorithm>

#include "transform/rules/embedding_fusion.hpp"
#include "transform/rules/look.hpp"

namespace cameo::inline CAMEO_ABI {
namespace {

using namespace look;

/// Rows of a constant table by [batch or 1, sequence] numbers, without another reader.
struct lookup {
  value_view table, numbers;

  static lookup of(const rewriter& r, const value_view& v) {
    const node_view n = made_by<op::Gather>(r, v);
    if (!n || !v.sole_use() || int_attribute(n, "axis") != 0) return {};
    const bool fits = has_rank(r, n.input(0), 2) && has_rank(r, n.input(1), 2) && r.constant(n.input(0));
    return fits ? lookup{n.input(0), n.input(1)} : lookup{};
  }
};

/// The two or three summands of a sum that only its normalisation reads.
std::vector<lookup> summands(const rewriter& r, const value_view& v) {
  constexpr std::size_t most = 3;
  std::vector<lookup> found;
  std::vector<value_view> todo{v};
  while (!todo.empty()) {
    const value_view at = todo.back();
    todo.pop_back();
    if (const lookup one = lookup::of(r, at); one.table) {
      found.push_back(one);
      continue;
    }
    const node_view sum = made_by<op::Add>(r, at);
    if (!sum || !at.sole_use() || todo.size() + found.size() >= most) return {};
    todo.push_back(sum.input(1));
    todo.push_back(sum.input(0));
  }
  return found;
}

bool is_one_row(const rewriter& r, const lookup& l) {
  const dim rows = (*r.shape(l.numbers))[0];
  return rows.known() && rows.size == 1;
}
/// Words and segments, [batch, sequence] both, then positions: those that are the same for every batch, or the last.
bool put_in_order(const rewriter& r, std::vector<lookup>& all) {
  const auto one_row = [&](const lookup& l) { return is_one_row(r, l); };
  auto positions = std::find_if(all.rbegin(), all.rend(), one_row);
  if (positions == all.rend()) positions = all.rbegin();
  std::swap(*positions, all.back());
  const dim length = (*r.shape(all[0].numbers))[1], given = (*r.shape(all.back().numbers))[1];
  if (given.known() && !given.same(length)) return false;
  for (std::size_t i = 1; i < all.size(); ++i)
    if (!same_shape(r, all[0].numbers, all[i].numbers) && (i + 1 < all.size() || !one_row(all[i]))) return false;
  return true;
}

value_id as_int32(edit& e, const value_view& v) {
  if (!v || v.element() == dtype::i32) return v.id();
  return e.add<op::Cast>({v.id()}, {attribute_of("to", std::int64_t(dtype::i32))});
}

}  // namespace

bool fuse_embedding::rewrite(rewriter& r, const node_view& norm) {
  const std::int64_t axis = int_attribute(norm, "axis", -1);
  const value_view scale = norm.input(1), bias = norm.input(2), sum = norm.input(0);
  if ((axis != -1 && axis != 2) || !scale || !bias || (norm.output_count() > 1 && norm.output(1)) ||
      (norm.output_count() > 2 && norm.output(2)) || !has_rank(r, sum, 3) || !is_float(sum) ||
      !is_vector_along(r, scale, sum) || !is_vector_along(r, bias, sum))
    return false;
  std::vector<lookup> parts = summands(r, sum);
  if (parts.size() < 2 || !put_in_order(r, parts)) return false;
  const lookup words = parts[0], positions = parts.back(), segments = parts.size() == 3 ? parts[1] : lookup{};
  edit e{r, norm};
  const value_id inputs[] = {as_int32(e, words.numbers),
                             as_int32(e, segments.numbers),
                             words.table.id(),
                             positions.table.id(),
                             segments.table.id(),
                             scale.id(),
                             bias.id(),
                             value_id::none,
                             as_int32(e, positions.numbers)};
  const attribute attributes[] = {attribute_of("epsilon", float_attribute(norm, "epsilon", 1e-5f))};
  // ONNX Runtime wants the second output to have a name.
  e.replace(norm.output(0), e.add<op::microsoft::EmbedLayerNormalization>(inputs, attributes, 2));
  return e.commit();
}

}  // namespace cameo::inline CAMEO_ABI
