#include <cameo/transform/rule.hpp>

namespace cameo::inline CAMEO_ABI {
namespace {

class builder {
 public:
  builder(const match_result& m, std::span<const result_step> steps, edit& to) : match_{m}, steps_{steps}, to_{to} {}

  /// The value of the next step; `none` where it is an absent input. False: the rule does not fire.
  bool next(value_id& made) {
    const result_step& step = steps_[at_++];
    switch (step.kind) {
      case result_step::what::absent: made = value_id::none; return true;
      case result_step::what::value: made = match_.values[step.name].id(); return true;
      case result_step::what::computed: return (made = step.compute(match_, to_)) != value_id::none;
      case result_step::what::node: return node(step, made);
    }
    return false;
  }

 private:
  bool node(const result_step& step, value_id& made) {
    std::vector<value_id> inputs(step.inputs);
    for (value_id& input : inputs)
      if (!next(input)) return false;
    std::vector<attribute> attributes;
    if (step.copied != pattern_step::none)
      for (const attribute& a : match_.nodes[step.copied].raw().attributes)
        if (step.has_attribute(a.name)) attributes.push_back(a);
    for (const attribute_source& source : step.attributes)
      if (!add_attribute(source, attributes)) return false;
    made = to_.add(step.domain, step.op, inputs, attributes);
    return made != value_id::none;
  }

  bool add_attribute(const attribute_source& source, std::vector<attribute>& to) const {
    attribute made = source.literal;
    if (source.make) {
      if (!source.make(match_, made)) return false;
    } else if (source.node != pattern_step::none) {
      const attribute* const from = match_.nodes[source.node].find(source.from);
      if (!from) return true;
      made = *from;
    }
    made.name = source.name;
    std::erase_if(to, [&](const attribute& a) { return a.name == source.name; });
    to.push_back(made);
    return true;
  }

  const match_result& match_;
  std::span<const result_step> steps_;
  edit& to_;
  std::size_t at_ = 0;
};

}  // namespace

bool apply_rule(rewriter& r, const node_view& root, const rule_data& rule) {
  match_result found;
  if (!match_pattern(r, root, rule.from, found) || !rule.when(found)) return false;
  edit e{r, root};
  value_id made = value_id::none;
  if (!builder{found, rule.to, e}.next(made)) return false;
  e.replace(root.output(0), made);
  return e.commit();
}

}  // namespace cameo::inline CAMEO_ABI
