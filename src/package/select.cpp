#include <cameo/package/select.hpp>

#include "file/messages.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace CAMEO_NAMESPACE {
namespace {

bool same_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? char(c + ('a' - 'A')) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

std::span<const device_facts> devices_of_next(std::span<const device_facts>& rest) {
  std::size_t count = 1;
  while (count < rest.size() && rest[count].ep == rest[0].ep) ++count;
  const std::span<const device_facts> made = rest.first(count);
  rest = rest.subspan(count);
  return made;
}

const std::string* architecture_of(const device_facts& device) {
  for (const auto& [key, value] : device.metadata)
    if (key == "architecture") return &value;
  return nullptr;
}

/// The provider's verdict on a compatibility string, in `words` for display. It is not_applicable if the provider fails
/// or throws.
variant_fit verdict_of(const device_facts& device, const std::string& text, std::string& words) {
  if (!device.judge) return words = "the provider does not judge compatibility strings", variant_fit::not_applicable;
  try {
    const result<variant_fit> answer = device.judge(text);
    if (answer) {
      static constexpr std::string_view answers[] = {
          "the compatibility string is not one of this provider's", "fits as well as can be",
          "works, but less well than after compiling the model again", "the provider says that it does not work here"};
      words = answers[std::size_t(*answer)];
      return *answer;
    }
    if (answer.error().code() == status_code::out_of_memory) throw std::bad_alloc{};
    words = fmt::format("the provider could not judge it ({})", answer.error().words());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    words = fmt::format("the provider could not judge it ({})", e.what());
  } catch (...) {
    words = "the provider could not judge it";
  }
  return variant_fit::not_applicable;
}

int score_of(variant_fit fit) {
  static constexpr int scores[] = {0, 100, 50, -1};
  return scores[std::size_t(fit)];
}

/// Compares one variant with the devices of one provider.
class trial {
 public:
  trial(const package_variant& v, package_layout layout, std::span<const device_facts> devices)
      : variant_{v}, is_older_{layout != package_layout::schema_1}, devices_{devices} {}

  variant_verdict verdict() const {
    const std::string& ep = devices_[0].ep;
    if (!variant_.ep) return no("it names no ep");
    if (*variant_.ep != ep) return no(fmt::format("its ep is '{}', not '{}'", *variant_.ep, ep));
    const bool has_kinds =
        std::any_of(devices_.begin(), devices_.end(), [](const device_facts& d) { return !d.kind.empty(); });
    const bool skips_device = is_older_ && !has_kinds;
    std::vector<const device_facts*> left;
    for (const device_facts& d : devices_)
      if (!variant_.device || skips_device || (!d.kind.empty() && same_ignoring_case(*variant_.device, d.kind)))
        left.push_back(&d);
    if (left.empty()) return no(fmt::format("'{}' has no device '{}' here", ep, *variant_.device));
    if (variant_.architecture) {
      std::string stated;
      const auto is_other = [&](const device_facts* d) {
        const std::string* const has = architecture_of(*d);
        if (has) stated = *has;
        return has && *has != *variant_.architecture;
      };
      left.erase(std::remove_if(left.begin(), left.end(), is_other), left.end());
      if (left.empty())
        return no(fmt::format("it is for architecture '{}', and '{}' has '{}'", *variant_.architecture, ep, stated));
    }
    return best_of(left);
  }

 private:
  variant_verdict no(std::string why) const {
    return {variant_.name, false, 0, devices_[0].ep, std::move(why), nullptr};
  }

  variant_verdict best_of(const std::vector<const device_facts*>& left) const {
    variant_verdict made = no({});
    if (!variant_.compatibility) {
      made.matches = true, made.device = left.front(), made.why = "matches";
      return made;
    }
    int best = -2;
    for (const device_facts* d : left) {
      std::string words;
      const int score = score_of(verdict_of(*d, *variant_.compatibility, words));
      if (score <= best) continue;
      best = score;
      made.why = std::move(words);
      made.matches = score >= 0;
      made.score = std::max(score, 0);
      made.device = made.matches ? d : nullptr;
    }
    return made;
  }

  const package_variant& variant_;
  bool is_older_;
  std::span<const device_facts> devices_;
};

}  // namespace

selection best_fit::operator()(const selection_request& request) const {
  selection made;
  made.verdicts.resize(request.component.variants.size());
  for (std::size_t i = 0; i < made.verdicts.size(); ++i)
    made.verdicts[i] = {request.component.variants[i].name, false, 0, {}, "there is no provider to run it", nullptr};
  std::span<const device_facts> rest = request.devices;
  if (!request.is_wish && !ranked)
    while (!rest.empty() && rest.front().ep != rest.back().ep) rest = rest.subspan(1);
  bool is_first = true;
  while (!rest.empty() && !made.variant && (is_first || ranked)) {
    const std::span<const device_facts> devices = devices_of_next(rest);
    const variant_verdict* best = nullptr;
    for (std::size_t i = 0; i < made.verdicts.size(); ++i) {
      const package_variant& v = request.component.variants[i];
      variant_verdict now = trial{v, request.layout, devices}.verdict();
      // The verdict on the variant's provider is kept, because other providers can't state why it does not fit.
      const bool has_better = !is_first && v.ep && made.verdicts[i].ep == *v.ep;
      if (now.matches || !has_better) made.verdicts[i] = std::move(now);
      const variant_verdict& kept = made.verdicts[i];
      if (!kept.matches || (best && best->score >= kept.score)) continue;
      best = &kept;
      made.variant = &v;
      made.device = kept.device;
    }
    is_first = false;
  }
  return made;
}

std::string selection::text() const {
  std::string made;
  for (const variant_verdict& v : verdicts) {
    const char* const taken = variant && variant->name == v.variant ? "chosen" : v.matches ? "yes" : "no";
    if (!made.empty()) made += "\n";
    if (v.matches) made += fmt::format("{}: {}, score {}: {}", v.variant, taken, v.score, v.why);
    else made += fmt::format("{}: {}: {}", v.variant, taken, v.why);
  }
  return made;
}

status no_suitable_variant(const package_component& of, const selection& made, std::span<const device_facts> devices) {
  if (of.variants.empty())
    return failed(status_code::fail, "component '{}': no suitable variant: it has none", of.name);
  static constexpr std::size_t most = 20;
  std::string why;
  for (std::size_t i = 0; i < std::min(made.verdicts.size(), most); ++i)
    why += fmt::format("{}'{}': {}", i ? "; " : "", made.verdicts[i].variant, made.verdicts[i].why);
  if (made.verdicts.size() > most) why += fmt::format("; and {} more", made.verdicts.size() - most);
  std::vector<std::string> eps;
  for (const variant_verdict& v : made.verdicts)
    if (!v.ep.empty() && std::find(eps.begin(), eps.end(), v.ep) == eps.end()) eps.push_back(v.ep);
  if (eps.empty()) eps.push_back(devices.empty() ? "no provider at all" : devices[0].ep);
  return failed(status_code::fail, "component '{}': no suitable variant for {}: {}", of.name, fmt::join(eps, ", "),
                why);
}

}  // namespace CAMEO_NAMESPACE
