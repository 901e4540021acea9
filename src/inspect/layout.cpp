#include "inspect/layout.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace cameo::inspect {
namespace {

constexpr double column_gap = 22, row_gap = 34, margin = 40, bend_width = 10;
constexpr int order_sweeps = 12, place_sweeps = 24;

/// Rows of items: boxes, and bends of flows that pass through. Boxes have the first numbers, then bends.
class layering {
 public:
  explicit layering(drawing& d) : d_{d}, row_(d.boxes.size()) {}

  void run() {
    if (d_.boxes.empty()) return;
    choose_rows();
    add_bends();
    index_neighbors();
    order_rows();
    place_columns();
    place_rows();
    write_chains();
  }

 private:
  using item = std::uint32_t;

  void choose_rows() {
    std::vector<bool> fed(d_.boxes.size());
    // Flows are sorted by origin, so that a box's row is final before it counts for others.
    std::vector<std::uint32_t> order(d_.flows.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return d_.flows[a].source < d_.flows[b].source; });
    for (std::uint32_t f : order)
      for (const drawing::target& t : d_.flows[f].targets) {
        row_[t.box] = std::max(row_[t.box], row_[d_.flows[f].source] + 1);
        fed[t.box] = true;
      }
    // A box without inputs is placed directly above its first reader, not at the top.
    std::vector<std::uint32_t> above(d_.boxes.size(), 0xFFFFFFFF);
    for (const drawing::flow& f : d_.flows)
      for (const drawing::target& t : f.targets) above[f.source] = std::min(above[f.source], row_[t.box] - 1);
    for (std::size_t b = 0; b < row_.size(); ++b)
      if (!fed[b] && above[b] != 0xFFFFFFFF) row_[b] = above[b];
    rows_.resize(*std::max_element(row_.begin(), row_.end()) + 1);
    for (item b = 0; b < d_.boxes.size(); ++b) {
      rows_[row_[b]].push_back(b);
      width_.push_back(d_.boxes[b].width);
    }
  }

  void add_bends() {
    const std::size_t limit = 12 * d_.boxes.size() + 20000;
    first_bend_.resize(d_.flows.size(), 0);
    bend_count_.resize(d_.flows.size(), 0);
    for (std::size_t f = 0; f < d_.flows.size(); ++f) {
      drawing::flow& flow = d_.flows[f];
      const std::uint32_t from = row_[flow.source];
      std::uint32_t deepest = from;
      for (const drawing::target& t : flow.targets) deepest = std::max(deepest, row_[t.box]);
      const std::size_t needed = deepest > from + 1 ? deepest - from - 1 : 0;
      const bool straight = width_.size() - d_.boxes.size() + needed > limit;
      if (!straight) {
        first_bend_[f] = item(width_.size());
        bend_count_[f] = std::uint32_t(needed);
        for (std::uint32_t row = from + 1; row < deepest; ++row) add_bend(row, flow.source);
      }
      for (drawing::target& t : flow.targets) {
        const std::uint32_t between = row_[t.box] - from - 1;
        t.leaves = straight || between == 0 ? -1 : std::int32_t(between - 1);
        if (!straight || between == 0)
          link(t.leaves < 0 ? flow.source : first_bend_[f] + std::uint32_t(t.leaves), t.box);
      }
    }
  }

  void add_bend(std::uint32_t row, item origin) {
    const item made = item(width_.size());
    width_.push_back(bend_width);
    rows_[row].push_back(made);
    row_.push_back(row);
    link(row == row_[origin] + 1 ? origin : made - 1, made);
  }
  void link(item upper, item lower) { links_.push_back({upper, lower}); }
  bool is_bend(item i) const { return i >= d_.boxes.size(); }

  struct neighbors {
    std::vector<std::uint32_t> first;
    std::vector<item> all;
    void index(std::size_t count, const std::vector<std::pair<item, item>>& links, bool of_upper) {
      first.assign(count + 2, 0);
      for (const auto& [upper, lower] : links) ++first[(of_upper ? upper : lower) + 2];
      for (std::size_t i = 2; i < first.size(); ++i) first[i] += first[i - 1];
      all.resize(links.size());
      for (const auto& [upper, lower] : links) all[first[(of_upper ? upper : lower) + 1]++] = of_upper ? lower : upper;
    }
    const item* begin(item i) const { return all.data() + first[i]; }
    const item* end(item i) const { return all.data() + first[i + 1]; }
    std::size_t count(item i) const { return first[i + 1] - first[i]; }
  };
  void index_neighbors() {
    below_.index(width_.size(), links_, true);
    above_.index(width_.size(), links_, false);
  }

  void number(const std::vector<item>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) place_[row[i]] = double(i);
  }

  /// Sweeps down and up: sorts every row by the average position of its neighbors in the adjacent row. Keeps the best
  /// order found.
  void order_rows() {
    place_.resize(width_.size());
    for (const std::vector<item>& row : rows_) number(row);
    std::vector<std::vector<item>> best = rows_;
    std::uint64_t fewest = crossings();
    for (int sweep = 0; sweep < order_sweeps && fewest > 0; ++sweep) {
      const bool down = sweep % 2 == 0;
      for (std::size_t i = 1; i < rows_.size(); ++i)
        order_row(rows_[down ? i : rows_.size() - 1 - i], down ? above_ : below_);
      if (const std::uint64_t now = crossings(); now < fewest) fewest = now, best = rows_;
    }
    rows_ = std::move(best);
    for (const std::vector<item>& row : rows_) number(row);
  }

  void order_row(std::vector<item>& row, const neighbors& from) {
    if (row.size() < 2) return;
    std::vector<std::pair<double, item>> keyed;
    for (item i : row) {
      double sum = 0;
      for (const item* n = from.begin(i); n != from.end(i); ++n) sum += place_[*n];
      keyed.push_back({from.count(i) ? sum / double(from.count(i)) : place_[i], i});
    }
    std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = keyed[i].second;
    number(row);
  }

  /// The number of pairs of links that cross: inversions, counted with a Fenwick tree.
  std::uint64_t crossings() const {
    std::uint64_t count = 0;
    std::vector<std::uint32_t> ends, tree;
    for (std::size_t r = 0; r + 1 < rows_.size(); ++r) {
      ends.clear();
      for (item i : rows_[r]) {
        const std::size_t start = ends.size();
        for (const item* n = below_.begin(i); n != below_.end(i); ++n) ends.push_back(std::uint32_t(place_[*n]));
        std::sort(ends.begin() + std::ptrdiff_t(start), ends.end());
      }
      const std::size_t size = rows_[r + 1].size();
      tree.assign(size + 1, 0);
      for (std::size_t seen = 0; seen < ends.size(); ++seen) {
        std::uint32_t not_right = 0;
        for (std::size_t i = ends[seen] + 1; i > 0; i &= i - 1) not_right += tree[i];
        count += seen - not_right;
        for (std::size_t i = ends[seen] + 1; i <= size; i += i & (~i + 1)) ++tree[i];
      }
    }
    return count;
  }

  /// Places every row as near to the average position of its neighbors as the widths allow; straight bends weigh most.
  void place_columns() {
    x_.resize(width_.size());
    for (const std::vector<item>& row : rows_) {
      double at = 0;
      for (std::size_t i = 0; i < row.size(); ++i) x_[row[i]] = at += i ? distance(row[i - 1], row[i]) : 0;
      for (item i : row) x_[i] -= at / 2;
    }
    for (int sweep = 0; sweep < place_sweeps; ++sweep) {
      const bool last = sweep + 2 >= place_sweeps, down = sweep % 2 == 0;
      for (std::size_t i = 0; i < rows_.size(); ++i)
        place_row(rows_[down ? i : rows_.size() - 1 - i], down || last, !down || last);
    }
  }

  double distance(item a, item b) const {
    return (width_[a] + width_[b]) / 2 + (is_bend(a) && is_bend(b) ? 4 : column_gap);
  }

  /// The weight of a straight link: the highest for boxes that have only each other, then for flows past boxes.
  double strength(item a, item b) const {
    if (is_bend(a) || is_bend(b)) return is_bend(a) && is_bend(b) ? 8 : 2;
    const item upper = row_[a] < row_[b] ? a : b, lower = upper == a ? b : a;
    return below_.count(upper) == 1 && above_.count(lower) == 1 ? 40 : 1;
  }

  /// Least squares with minimal distances: items that would overlap are pooled and move as one.
  void place_row(const std::vector<item>& row, bool by_upper, bool by_lower) {
    struct pool {
      double sum, weight;
      std::size_t count;
    };
    std::vector<pool> pools;
    std::vector<double> shift(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      shift[i] = i ? shift[i - 1] + distance(row[i - 1], row[i]) : 0;
      double sum = 0, weight = 0;
      const auto pull = [&](const neighbors& from) {
        for (const item* n = from.begin(row[i]); n != from.end(row[i]); ++n) {
          const double w = strength(*n, row[i]);
          sum += w * x_[*n], weight += w;
        }
      };
      if (by_upper) pull(above_);
      if (by_lower) pull(below_);
      if (weight == 0) sum = 0.1 * x_[row[i]], weight = 0.1;
      pools.push_back({sum - weight * shift[i], weight, 1});
      while (pools.size() > 1) {
        const pool &a = pools[pools.size() - 2], &b = pools.back();
        if (a.sum / a.weight <= b.sum / b.weight) break;
        pools[pools.size() - 2] = {a.sum + b.sum, a.weight + b.weight, a.count + b.count};
        pools.pop_back();
      }
    }
    std::size_t i = 0;
    for (const pool& p : pools)
      for (std::size_t k = 0; k < p.count; ++k, ++i) x_[row[i]] = p.sum / p.weight + shift[i];
  }

  void place_rows() {
    double left = x_[0], right = x_[0], y = margin;
    row_y_.resize(rows_.size());
    for (std::size_t i = 0; i < x_.size(); ++i) left = std::min(left, x_[i] - width_[i] / 2);
    for (std::size_t i = 0; i < x_.size(); ++i) {
      x_[i] = std::round(x_[i] - left + margin);
      right = std::max(right, x_[i] + width_[i] / 2);
    }
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      double height = 0;
      for (item i : rows_[r])
        if (!is_bend(i)) height = std::max(height, d_.boxes[i].height);
      row_y_[r] = std::round(y + height / 2);
      y += height + row_gap;
    }
    for (item b = 0; b < d_.boxes.size(); ++b) d_.boxes[b].x = x_[b], d_.boxes[b].y = row_y_[row_[b]];
    d_.width = right + margin;
    d_.height = y - row_gap + margin;
  }

  /// Omits the points of a straight stretch, except where a line branches off.
  void write_chains() {
    for (std::size_t f = 0; f < d_.flows.size(); ++f) {
      drawing::flow& flow = d_.flows[f];
      std::vector<bool> left_at(bend_count_[f]);
      for (const drawing::target& t : flow.targets)
        if (t.leaves >= 0) left_at[std::size_t(t.leaves)] = true;
      std::vector<std::int32_t> kept(bend_count_[f], -1);
      for (std::uint32_t b = 0; b < bend_count_[f]; ++b) {
        const item i = first_bend_[f] + b;
        const double before = b ? x_[i - 1] : x_[flow.source];
        const double after = b + 1 < bend_count_[f] ? x_[i + 1] : NAN;
        if (!left_at[b] && before == x_[i] && after == x_[i]) continue;
        kept[b] = std::int32_t(flow.chain.size());
        flow.chain.push_back({x_[i], row_y_[row_[i]]});
      }
      for (drawing::target& t : flow.targets)
        if (t.leaves >= 0) t.leaves = kept[std::size_t(t.leaves)];
    }
  }

  drawing& d_;
  std::vector<std::uint32_t> row_;  // of each item
  std::vector<std::vector<item>> rows_;
  std::vector<double> width_, place_, x_, row_y_;
  std::vector<std::pair<item, item>> links_;  // between neighboring rows
  std::vector<item> first_bend_;              // per flow
  std::vector<std::uint32_t> bend_count_;
  neighbors above_, below_;
};

}  // namespace

void lay_out(drawing& d) { layering{d}.run(); }

}  // namespace cameo::inspect
