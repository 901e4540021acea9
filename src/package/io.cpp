#include <cameo/package/io.hpp>

#include "file/messages.hpp"
#include "package/impl.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace CAMEO_NAMESPACE {
namespace {

bool is_number(const std::string& dim) {
  return !dim.empty() && dim.find_first_not_of("0123456789") == std::string::npos;
}

/// Removes shapes from the text of a type: "seq(tensor(float)[2])" becomes "seq(tensor(float))".
std::string without_shapes(std::string_view type) {
  std::string made;
  int depth = 0;
  for (char c : type) {
    if (c == '[') ++depth;
    if (depth == 0) made += c;
    if (c == ']') --depth;
  }
  return made;
}

/// An index of values by name; the vector must outlive it. Files decide how many values there are, so that a linear
/// search for each of them could take very long.
class named {
 public:
  explicit named(const std::vector<package_value>& all) {
    for (const package_value& v : all) at_.emplace(v.name, &v);
  }
  const package_value* find(std::string_view name) const {
    const auto at = at_.find(name);
    return at == at_.end() ? nullptr : at->second;
  }

 private:
  std::unordered_map<std::string_view, const package_value*> at_;
};

/// An error unless each side has the values of the other with types that agree; optional ones may be missing.
status same_values(std::string_view what, const std::vector<package_value>& a, const std::vector<package_value>& b) {
  const named in_a{a}, in_b{b};
  for (const package_value& v : a) {
    const package_value* const other = in_b.find(v.name);
    if (!other && v.optional) continue;
    if (!other) return refused("{} '{}' is in only one of the two; the other has {}", what, v.name, names_of(b, "'"));
    if (!agree(v, *other))
      return refused("{} '{}' has the type '{}' in one and '{}' in the other", what, v.name, v.text(), other->text());
  }
  for (const package_value& v : b)
    if (!v.optional && !in_a.find(v.name))
      return refused("{} '{}' is in only one of the two; the other has {}", what, v.name, names_of(a, "'"));
  return {};
}

class connector {
 public:
  connector(std::span<const component_io> all, connected_io& to) : all_{all}, made_{to} {}

  status connect(const package_io* declared) {
    for (std::size_t c = 0; c < all_.size(); ++c)
      if (status s = add(c); !s) return s;
    if (declared) return declare(*declared);
    for (std::size_t c = 0; c < all_.size(); ++c)
      for (std::size_t i = 0; i < all_[c].io.outputs.size(); ++i)
        if (!taken_[c][i] && last_.at(all_[c].io.outputs[i].name).component == c) give({c, i});
    return {};
  }

 private:
  using place = connected_io::place;

  const package_value& at(place p) const { return all_[p.component].io.outputs[p.number]; }

  status add(std::size_t c) {
    const component_io& part = all_[c];
    std::vector<place>& sources = made_.sources.emplace_back();
    bool takes_any = false;
    for (const package_value& v : part.io.inputs) {
      const auto from = last_.find(v.name);
      if (from == last_.end()) {
        if (status s = take_from_caller(part, v, sources); !s) return s;
        continue;
      }
      taken_[from->second.component][from->second.number] = takes_any = true;
      sources.push_back(from->second);
      if (const package_value& given = at(from->second); !agree(v, given))
        return refused("component '{}' takes '{}', and component '{}' gives '{}'", part.component, v.text(),
                       all_[from->second.component].component, given.text());
    }
    if (c > 0 && !takes_any)
      return refused("component '{}' reads no output of an earlier component: its inputs are {}", part.component,
                     names_of(part.io.inputs, "'"));
    taken_.emplace_back(part.io.outputs.size(), false);
    for (std::size_t i = part.io.outputs.size(); i-- > 0;) last_[part.io.outputs[i].name] = {c, i};
    return {};
  }

  /// Connects an input to an input of the pipeline, which is optional if it is optional for all components.
  status take_from_caller(const component_io& part, const package_value& v, std::vector<place>& sources) {
    const auto [at, is_new] = outside_.emplace(v.name, made_.io.inputs.size());
    sources.push_back({connected_io::outside, at->second});
    if (is_new) return made_.io.inputs.push_back(v), status{};
    package_value& other = made_.io.inputs[at->second];
    other.optional &= v.optional;
    if (agree(v, other)) return {};
    return refused("component '{}' takes '{}', and another takes '{}' from the caller", part.component, v.text(),
                   other.text());
  }

  void give(place from) {
    made_.outputs.push_back(from);
    made_.io.outputs.push_back(at(from));
  }

  status declare(const package_io& declared) {
    if (status s = same_values("input", declared.inputs, made_.io.inputs); !s)
      return std::move(s).in("declared against the models");
    for (const package_value& v : declared.inputs)
      if (!outside_.contains(v.name))
        return refused("input '{}' is declared, and no component takes it from the caller; they take {}", v.name,
                       names_of(made_.io.inputs, "'"));
    for (const package_value& v : declared.outputs) {
      const auto from = last_.find(v.name);
      if (from == last_.end()) return refused("output '{}' is declared, and no component gives it", v.name);
      if (const package_value& given = at(from->second); !agree(v, given))
        return refused("output '{}' is declared; it is '{}'", v.text(), given.text());
      give(from->second);
    }
    return {};
  }

  std::span<const component_io> all_;
  connected_io& made_;
  std::vector<std::vector<bool>> taken_;                       // per output: a later component reads it
  std::unordered_map<std::string_view, place> last_;           // the last output of each name so far
  std::unordered_map<std::string_view, std::size_t> outside_;  // the pipeline's inputs by name
};

}  // namespace

std::string package_value::text() const {
  std::string made = name + ": " + type;
  if (!shape) return made;
  made += '[';
  for (std::size_t i = 0; i < shape->size(); ++i) made += (i ? "," : "") + (*shape)[i];
  return made + ']';
}

bool agree(const package_value& a, const package_value& b) {
  if (!a.type.empty() && !b.type.empty() && without_shapes(a.type) != without_shapes(b.type)) return false;
  if (!a.shape || !b.shape) return true;
  return std::equal(
      a.shape->begin(), a.shape->end(), b.shape->begin(), b.shape->end(),
      [](const std::string& x, const std::string& y) { return !is_number(x) || !is_number(y) || x == y; });
}

status same_interface(const package_io& a, const package_io& b) {
  status same = same_values("input", a.inputs, b.inputs);
  return same ? same_values("output", a.outputs, b.outputs) : same;
}

result<connected_io> connect(std::span<const component_io> all, const package_io* declared) {
  return guarded([&]() -> result<connected_io> {
    connected_io made;
    if (status s = connector{all, made}.connect(declared); !s) return s;
    return made;
  });
}

// --- reading and writing the manifest's additional_metadata.io ---

namespace {

constexpr std::string_view io_field = "io";

std::optional<std::string> dim_of(const json& j) {
  if (j.is_string()) return j.get<std::string>();
  if (j.is_number_unsigned()) return std::to_string(j.get<std::uint64_t>());
  if (j.is_null()) return "?";
  return std::nullopt;
}

std::optional<package_value> value_of(const json& j) {
  const auto is_text = [&](std::string_view field) {
    const auto at = j.find(field);
    return at != j.end() && at->is_string();
  };
  if (!j.is_object() || !is_text("name") || !is_text("type")) return std::nullopt;
  package_value made{j.find("name")->get<std::string>(), j.find("type")->get<std::string>(), {}, false};
  if (const auto at = j.find("optional"); at != j.end()) {
    if (!at->is_boolean()) return std::nullopt;
    made.optional = at->get<bool>();
  }
  const auto shape = j.find("shape");
  if (shape == j.end()) return made;
  if (!shape->is_array()) return std::nullopt;
  made.shape.emplace();
  for (const json& each : *shape) {
    std::optional<std::string> dim = dim_of(each);
    if (!dim) return std::nullopt;
    made.shape->push_back(*std::move(dim));
  }
  return made;
}

bool read_values(const json& io, std::string_view field, std::vector<package_value>& to) {
  const auto at = io.find(field);
  if (at == io.end() || !at->is_array()) return false;
  std::unordered_set<std::string> names;
  for (const json& each : *at) {
    std::optional<package_value> v = value_of(each);
    if (!v || !names.insert(v->name).second) return false;
    to.push_back(*std::move(v));
  }
  return true;
}

json to_json(const std::vector<package_value>& all) {
  json made = json::array();
  for (const package_value& v : all) {
    json& one = made.emplace_back(json::object());
    append(one, "name", v.name);
    append(one, "type", v.type);
    if (v.shape) {
      json& dims = append(one, "shape", json::array());
      for (const std::string& d : *v.shape)
        dims.push_back(d == "?" ? json{} : is_number(d) && d.size() < 19 ? json(std::stoull(d)) : json(d));
    }
    if (v.optional) append(one, "optional", true);
  }
  return made;
}

}  // namespace

std::optional<package_io> read_io(std::string_view metadata, bool& is_there) {
  is_there = false;
  const parsed_json read = parse_json(std::string{metadata});
  if (metadata.empty() || !read.error.empty() || !read.value.is_object()) return std::nullopt;
  const auto io = read.value.find(io_field);
  is_there = io != read.value.end();
  package_io made;
  if (!is_there || !io->is_object() || !read_values(*io, "inputs", made.inputs) ||
      !read_values(*io, "outputs", made.outputs))
    return std::nullopt;
  return made;
}

std::optional<package_io> package::io() const {
  bool is_there = false;
  return read_io(impl_->metadata, is_there);
}

status package::set_io(const std::optional<package_io>& io) {
  return guarded([&]() -> status {
    json all = impl_->metadata.empty() ? json::object() : parse_json(impl_->metadata).value;
    if (!all.is_object()) return refused("additional_metadata is not an object, so it can't contain 'io'");
    all.erase(std::string{io_field});
    if (io) {
      json& made = append(all, std::string{io_field}, json::object());
      append(made, "inputs", to_json(io->inputs));
      append(made, "outputs", to_json(io->outputs));
    }
    return set_metadata(all.empty() ? std::string{} : dump(all));
  });
}

bool package_value::operator==(const package_value&) const = default;
bool package_io::operator==(const package_io&) const = default;

}  // namespace CAMEO_NAMESPACE
