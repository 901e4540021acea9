#include "work_split.hpp"

#include <algorithm>
#include <cmath>

namespace CAMEO_NAMESPACE::eps {
namespace {

std::int64_t blocks_of(const split_axis& axis) {
  const std::int64_t most = std::max<std::int64_t>(1, axis.most);
  return axis.units <= most ? 1 : (axis.units + most - 1) / most;
}

/// Splits an axis into more blocks, until there are `wanted` blocks or a block has no more than `kept` units.
void split_more(std::int64_t& blocks, std::int64_t units, std::int64_t kept, double wanted) {
  const std::int64_t limit = units / std::max<std::int64_t>(1, kept);
  if (double(limit) > double(blocks) && wanted > double(blocks))
    blocks = wanted < double(limit) ? std::int64_t(std::ceil(wanted)) : limit;
}

}  // namespace

work_split::work_split(const work_size& w, std::size_t workers)
    : outer_{w.outer.units},
      inner_{w.inner.units},
      outer_blocks_{blocks_of(w.outer)},
      inner_blocks_{blocks_of(w.inner)} {
  const double wanted = workers == 1 ? 1 : std::min(w.tasks_per_worker * double(workers), w.cost / w.least_cost);
  for (const bool to_the_least : {false, true})
    for (const bool inner : {w.splits_inner_first, !w.splits_inner_first}) {
      if (wanted <= 1) break;  // a small node feels each of the divisions below
      const split_axis& axis = inner ? w.inner : w.outer;
      const double others = double(w.repeats) * double(inner ? outer_blocks_ : inner_blocks_);
      split_more(inner ? inner_blocks_ : outer_blocks_, axis.units, to_the_least ? axis.least : axis.enough,
                 wanted / others);
    }
  blocks_ = w.repeats * outer_blocks_;
  tasks_per_call_ = tasks(), is_short_ = double(tasks()) < wanted;
  if (wanted < 2) return;                 // not worth another worker
  constexpr double call_cost = 1 << 17;   // the number of operations that pays for a call
  constexpr double calls_per_worker = 8;  // enough to keep all workers busy to the end
  const double all = double(tasks()), each = std::max(1.0, w.cost / all);
  const double many = std::max(call_cost / each, std::floor(all / (calls_per_worker * double(workers))));
  tasks_per_call_ = std::int64_t(std::clamp(many, 1.0, all));
}

}  // namespace CAMEO_NAMESPACE::eps
