#include "destination.hpp"

#include "held_folder.hpp"
#include "messages.hpp"

namespace CAMEO_NAMESPACE {

std::string folder_part(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

result<destination> find_destination(const std::string& path) {
  if (path.empty()) return failed(status_code::fail, "the path of a file to write is empty");
  const auto refuse_folder = [&] {
    return failed(status_code::fail, "{}: is a folder; a file is to be written there", path);
  };
  destination at;
  at.path = path;
  for (int links = 0; links <= most_links; ++links) {
    result<os::file_facts> facts = os::facts_at({}, at.path, os::last_link::kept);
    if (!facts) return system_error(path, "cannot be written", facts.error());
    at.there = *facts;
    if (at.there.kind == os::file_kind::folder) return refuse_folder();
    // If the file's folder does not exist, creating the file will fail.
    if (at.there.kind != os::file_kind::link) return at;
    if (os::leads_to_open_file(at.path)) {
      facts = os::facts_at({}, at.path, os::last_link::followed);
      if (!facts) return system_error(path, "cannot be written", facts.error());
      at.there = *facts;
      if (at.there.kind == os::file_kind::folder) return refuse_folder();
      at.own = os::own_open_file(at.path);
      at.appends = !at.own && at.there.kind == os::file_kind::file;
      return at;
    }
    if (os::is_planted_link(at.path))
      return failed(status_code::fail,
                    "{}: '{}' is a link of another user in a folder that all users may write to; it is not followed",
                    path, at.path);
    const result<std::string> target = os::read_link({}, at.path);
    if (!target) return system_error(path, "cannot read the link", target.error());
    at.path = target->starts_with('/') ? *target : folder_part(at.path) + *target;
  }
  return system_error(path, "cannot be written", os::too_many_links());
}

}  // namespace CAMEO_NAMESPACE
