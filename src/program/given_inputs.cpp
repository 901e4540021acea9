#include "program/given_inputs.hpp"

#include "file/messages.hpp"
#include "program/pictures.hpp"
#include "program/say.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

namespace cameo::program {
namespace {

using kind = element_source::kind;

const io_info* find_input(const input_taker& to, std::string_view name) {
  for (const io_info& io : to.inputs)
    if (io.name == name) return &io;
  return nullptr;
}

/// Returns INVALID_ARGUMENT for a dim in `dims` that no session of the package has.
status check_dims_of(const input_taker& to, const dim_sizes& dims) {
  if (to.parts.size() == 1) return check_dims(*to.parts.front(), dims);
  for (const auto& each : dims) {
    status known;
    for (const session* const part : to.parts)
      if (known = check_dims(*part, {each}); known) break;
    if (!known) return known;
  }
  return {};
}

/// The first session that has an input of this name.
const session& taker_of(const input_taker& to, std::string_view input) {
  for (const session* const part : to.parts)
    if (part->input(input)) return *part;
  return *to.parts.front();
}

/// Adds the sizes of an input's symbolic dims, as its value `there` has them, unless `to` has a size already.
void add_sizes_of(const io_info& io, const value& there, const std::vector<std::string>& symbols, dim_sizes& to) {
  if (there.kind != value_kind::tensor || !io.type.is_tensor() || !io.type.shape) return;
  const std::vector<dim>& dims = *io.type.shape;
  if (dims.size() != there.shape.rank()) return;  // the run will report it
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].known() || dims[i].symbol == 0 || dims[i].symbol >= symbols.size()) continue;
    const std::string& name = symbols[dims[i].symbol];
    if (std::none_of(to.begin(), to.end(), [&](const auto& each) { return each.first == name; }))
      to.emplace_back(name, there.shape[i]);
  }
}

/// The sizes of symbolic dims for an input that is generated: those of --dim, and those of the inputs that exist
/// already and belong to the same component. A dim of the same name in another component is a different one.
dim_sizes sizes_for(const input_taker& to, const io_info& io, const dim_sizes& said,
                    const std::vector<gathered_input>& there) {
  const session& taker = taker_of(to, io.name);
  dim_sizes made = said;
  for (const gathered_input& each : there) {
    const io_info* const other = find_input(to, each.name);
    if (other && &taker_of(to, other->name) == &taker)
      add_sizes_of(*other, each.value.view(), taker.graph().symbols, made);
  }
  return made;
}

struct split_input {
  const io_info* io;
  std::string rest;
};
/// Splits "NAME=...". NAME may contain '=': the last '=' that leaves the name of an input is the separator.
result<split_input> split_by_name(const input_taker& to, const std::string& text) {
  for (std::size_t equals = text.rfind('='); equals != text.npos && equals > 0; equals = text.rfind('=', equals - 1))
    if (const io_info* const io = find_input(to, text.substr(0, equals)))
      return split_input{io, text.substr(equals + 1)};
  std::vector<std::string> known;
  for (const io_info& each : to.inputs) known.push_back(each.name);
  const std::string name = text.substr(0, text.rfind('='));
  return failed(status_code::invalid_argument, "the model has no input '{}'{}", name, nearest_words(name, known));
}

std::vector<std::string> parts_of(const std::string& text, char by) {
  std::vector<std::string> parts;
  for (std::size_t at = 0;;) {
    const std::size_t end = std::min(text.find(by, at), text.size());
    parts.push_back(text.substr(at, end - at));
    if (end == text.size()) return parts;
    at = end + 1;
  }
}

std::optional<double> number_in(const std::string& text) {
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = read.ec == std::errc{} && read.ptr == text.data() + text.size() && std::isfinite(number);
  return whole ? std::optional{number} : std::nullopt;
}

bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

bool is_file(const given_inputs::pair& given, const std::string& rest) {
  return given.how == kind::list && (names_value_file(rest) || is_there(rest));
}

result<gathered_input> read_file(const given_inputs& o, const io_info& io, const std::string& path) {
  result<any_value> read = read_value_file(path, io, o.pictures, decode_here);
  if (!read) return std::move(read).error();
  const std::string scaled = names_picture(path) ? ", " + o.pictures.text(io.type.type) : "";
  return gathered_input{io.name, std::move(*read), path + scaled};
}

result<gathered_input> gather_one(const input_taker& to, const given_inputs& o, const given_inputs::pair& given,
                                  const split_input& split, const dim_sizes& sizes) {
  const io_info& io = *split.io;
  const std::string& rest = split.rest;
  if (is_file(given, rest)) return read_file(o, io, rest);
  element_source source{given.how, {rest}};
  if (given.how == kind::list) source.texts = rest.empty() ? std::vector<std::string>{} : parts_of(rest, ',');
  if (given.how == kind::range) source.texts = parts_of(rest, ':');
  if (given.how == kind::range && source.texts.size() != 2)
    return failed(status_code::invalid_argument, "--range {}: needs NAME=LO:HI", given.text);
  result<any_value> made = make_value(taker_of(to, io.name), io, sizes, source, o.seed);
  if (!made && given.how == kind::list && source.texts.size() == 1 && !number_in(rest) && io.type.is_tensor())
    return std::move(made).error().in(rest + ": no such file, and no values");
  if (!made) return std::move(made).error();
  static constexpr std::string_view words[] = {"random", "fill", "range", "values"};
  return gathered_input{io.name, std::move(*made), std::string{words[std::size_t(given.how)]}};
}

/// The order in which inputs are made: files (0), whose shapes are fixed, then lists (1), whose lengths are fixed, then
/// inputs that take their sizes from those (2).
std::size_t stage_of(const given_inputs::pair& given, const split_input& split) {
  return is_file(given, split.rest) ? 0 : given.how == kind::list ? 1 : 2;
}

status gather_given(const input_taker& to, const given_inputs& o, std::vector<gathered_input>& all) {
  std::vector<split_input> split;
  for (const given_inputs::pair& each : o.pairs) {
    result<split_input> one = split_by_name(to, each.text);
    if (!one) return std::move(one).error();
    split.push_back(*std::move(one));
  }
  for (std::size_t stage = 0; stage < 3; ++stage) {
    // Inputs of one stage do not size each other. If their sizes contradict each other, the run reports it.
    const std::vector<gathered_input> before = all;
    for (std::size_t i = 0; i < split.size(); ++i) {
      if (stage_of(o.pairs[i], split[i]) != stage) continue;
      result<gathered_input> one = gather_one(to, o, o.pairs[i], split[i], sizes_for(to, *split[i].io, o.dims, before));
      if (!one) return std::move(one).error();
      all.push_back(*std::move(one));
    }
  }
  return {};
}

std::string check_pair(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  return equals == text.npos || equals == 0 || equals + 1 == text.size() ? "needs NAME=..." : std::string{};
}

std::string check_range(const std::string& text) {
  const std::string rest = text.substr(text.rfind('=') + 1);
  const bool is_one = check_pair(text).empty() && std::count(rest.begin(), rest.end(), ':') == 1;
  return is_one ? std::string{} : "needs NAME=LO:HI";
}

void add_pair(const command& it, const char* name, const char* type, kind how, given_inputs& to, const char* words) {
  it.add_each(
        name, [&to, how](const std::string& text) { to.pairs.push_back({text, how}); }, words)
      .type_name(type)
      .check(how == kind::range ? check_range : check_pair);
}

void add_numbers(const command& it, const char* name, std::vector<double>& to, bool can_be_zero, const char* words) {
  it.add(
        name,
        [&to](const std::string& text) {
          to.clear();
          for (const std::string& each : parts_of(text, ',')) to.push_back(*number_in(each));
        },
        words)
      .type_name("X,...")
      .check([can_be_zero](const std::string& text) {
        for (const std::string& each : parts_of(text, ','))
          if (const auto number = number_in(each); !number || (!can_be_zero && *number == 0))
            return fmt::format("needs numbers{}, not '{}'", can_be_zero ? "" : " that are not 0", each);
        return std::string{};
      });
}

}  // namespace

result<std::vector<gathered_input>> gather_inputs(const input_taker& to, const given_inputs& o) {
  std::vector<gathered_input> all;
  if (status s = check_dims_of(to, o.dims); !s && (o.random || !o.pairs.empty())) return s;
  const bool has_picture = std::any_of(o.pairs.begin(), o.pairs.end(), [](const given_inputs::pair& p) {
    return p.how == kind::list && names_picture(p.text);
  });
  if (o.pictures.is_said() && !has_picture)
    return failed(status_code::invalid_argument, "--scale, --mean and --deviation are for pictures, and none is given");
  if (status s = gather_given(to, o, all); !s) return s;
  const std::vector<gathered_input> given = all;
  for (const io_info& io : to.inputs) {
    const bool has = std::any_of(all.begin(), all.end(), [&](const gathered_input& v) { return v.name == io.name; });
    if (has || io.optional) continue;
    if (!o.random)
      return failed(status_code::invalid_argument,
                    "input '{0}' is missing; it needs {1}. Give it with --input {0}=FILE, or all that are missing with "
                    "--random-inputs",
                    io.name, io.type_text);
    result<any_value> made = random_value(taker_of(to, io.name), io, sizes_for(to, io, o.dims, given), o.seed);
    if (!made) return std::move(made).error();
    all.push_back({io.name, std::move(*made), "random"});
  }
  return all;
}

void report_pictures(const std::vector<gathered_input>& all) {
  for (const gathered_input& each : all)
    if (const std::size_t comma = each.origin.find(", ");
        comma != each.origin.npos && each.origin.find("pixel") > comma)
      say(stderr, "input '{}' from {}\n", each.name, each.origin);
}

void add_input_options(const command& it, given_inputs& to) {
  const command group = it.group("Inputs");
  add_pair(group, "--input", "NAME=FILE|VALUE,...", kind::list, to,
           "An input from a .npy or .pb (TensorProto) file, or a picture (.png, .jpg, ...) where it is an image; or "
           "its values, with "
           "commas between them; repeatable");
  add_pair(group, "--fill", "NAME=VALUE", kind::fill, to, "An input all of whose elements are this value; repeatable");
  add_pair(group, "--range", "NAME=LO:HI", kind::range, to,
           "An input of random numbers from LO to HI, which integers may also be; repeatable");
  group.add("--seed", to.seed, "Seed for random values (0)").type_name("N");
  add_dim_option(group, to.dims);
  group
      .add(
          "--scale", [&to](const std::string& text) { to.pictures.scale = *number_in(text); },
          "Pictures: (pixel * scale - mean) / deviation, with pixels from 0 to 255 (1/255)")
      .type_name("X")
      .check([](const std::string& text) { return number_in(text) ? std::string{} : "needs a number, not " + text; });
  add_numbers(group, "--mean", to.pictures.mean, true,
              "Pictures: what is subtracted, one number or one for each channel (0)");
  add_numbers(group, "--deviation", to.pictures.deviation, false,
              "Pictures: what they are divided by, one number or one for each channel (1)");
}

}  // namespace cameo::program
