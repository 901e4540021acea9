#include <cameo/transform/rule.hpp>

namespace CAMEO_NAMESPACE {
namespace {

class builder {
 public:
  builder(const match_result& m, std::span<const result_step> steps, edit& e) : match_{m}, steps_{steps}, edit_{e} {}

  /// Appends the value of the next step, or several; `none` for an absent input. False: the rule is not applied.
  bool next(std::vector<value_id>& to) {
    const result_step& step = steps_[at_++];
    value_id made = value_id::none;
    switch (step.kind) {
      case result_step::what::absent: break;
      case result_step::what::value: made = match_.values[step.name].id(); break;
      case result_step::what::inputs: {
        const node_view& n = match_.nodes[step.name];
        for (std::size_t i = step.first; i < n.input_count(); ++i) to.push_back(n.input(i).id());
        return true;
      }
      case result_step::what::computed:
        if ((made = step.compute(match_, edit_)) == value_id::none) return false;
        break;
      case result_step::what::node:
        if (!node(step, made)) return false;
        break;
      case result_step::what::again:
        if (!again(step, made)) return false;
        break;
    }
    to.push_back(made);
    return true;
  }

 private:
  bool parts(const result_step& step, std::vector<value_id>& to) {
    for (std::size_t i = 0; i < step.parts; ++i)
      if (!next(to)) return false;
    return true;
  }
  bool node(const result_step& step, value_id& made) {
    std::vector<value_id> inputs;
    std::vector<attribute> attributes;
    if (!parts(step, inputs)) return false;
    if (step.copied != pattern_step::none)
      for (const attribute& a : match_.nodes[step.copied].raw().attributes)
        if (step.has_attribute(a.name)) attributes.push_back(a);
    if (!add_attributes(step, attributes)) return false;
    made = edit_.add(step.domain, step.op, inputs, attributes);
    return made != value_id::none;
  }
  bool again(const result_step& step, value_id& made) {
    std::vector<value_id> inputs;
    if (!parts(step, inputs)) return false;
    const node_view& n = match_.nodes[step.copied];
    if (!n) {  // the pattern matched without it
      made = inputs[0];
      return true;
    }
    for (std::size_t i = inputs.size(); i < n.input_count(); ++i) inputs.push_back(n.input(i).id());
    std::vector<attribute> attributes{n.raw().attributes.begin(), n.raw().attributes.end()};
    if (!add_attributes(step, attributes)) return false;
    made = edit_.add(n.domain(), n.op_type(), inputs, attributes);
    return made != value_id::none;
  }

  bool add_attributes(const result_step& step, std::vector<attribute>& to) const {
    for (const attribute_source& source : step.attributes)
      if (!add_attribute(source, to)) return false;
    return true;
  }
  bool add_attribute(const attribute_source& source, std::vector<attribute>& to) const {
    attribute made = source.literal;
    if (source.make) {
      if (!source.make(match_, made)) return false;
    } else if (source.node != pattern_step::none) {
      const attribute* const from = match_.nodes[source.node].find(source.source_name);
      if (!from) return true;
      made = *from;
    }
    made.name = source.name;
    std::erase_if(to, [&](const attribute& a) { return a.name == source.name; });
    if (made.kind != attribute_kind::undefined) to.push_back(made);
    return true;
  }

  const match_result& match_;
  std::span<const result_step> steps_;
  edit& edit_;
  std::size_t at_ = 0;
};

}  // namespace

bool apply_rule(rewriter& r, const node_view& root, const rule_data& rule) {
  return match_pattern(r, root, rule.pattern, [&](const match_result& found) {
    if (!rule.when(found)) return false;
    edit e{r, found.last};
    std::vector<value_id> made;
    if (!builder{found, rule.replacement, e}.next(made)) return false;
    e.replace(found.last.output(0), made[0]);
    return e.commit();
  });
}

}  // namespace CAMEO_NAMESPACE
