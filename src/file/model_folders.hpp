#pragma once
#include "file/held_folder.hpp"

#include <vector>

namespace CAMEO_NAMESPACE {

/// Where a model's other files are looked for: in the first folder alone, or where they are not in that, also in the
/// folders that the links behind the model's path pass.
enum class folder_search : bool { first, all };

/// Where the other files of a model are looked for: its external data and its contexts.
///
/// They lie in the folder of the model's path. Where that path is a symbolic link, every folder counts that the chain
/// of links passes on the way to the model's file: Hugging Face's cache has a folder of links for each revision, which
/// lead into a folder `blobs`. A link in one of these folders may lead into each of them. Where the model's file is in
/// the store of a tool that keeps each file in a folder of its own (git-annex, Nix, Guix, DVC), links may lead into
/// that store, too.
///
/// All of this follows from the path that the caller gives and from where that model's file is. The contents of the
/// model choose among those folders and add none. The folders count only if the chain ends at the very file that was
/// opened as the model, and they are held open. Thread-safe.
class model_folders {
 public:
  /// `folder` is the first one, where empty means the current one; `model` is null for one from memory. NO_SUCHFILE
  /// when there is no such folder.
  static result<model_folders> open(const std::string& folder, const detail::file_bytes* model, folder_search);
  /// This folder alone, which links do not leave.
  explicit model_folders(std::shared_ptr<const detail::held_folder> only) { searched_.push_back(std::move(only)); }

  /// The regular file that `location` leads to, with the errors of held_folder::file.
  result<found_path> file(const path_rule&, std::string_view location, std::string_view whose, open_for) const;
  /// The bytes of that file.
  result<std::shared_ptr<const detail::file_bytes>> map(const path_rule&, std::string_view location,
                                                        std::string_view whose) const;
  /// The present path of the file that was found, as far as the system knows it.
  std::string path_of(const found_path& found, std::string_view location) const {
    return searched_.front()->path_of(found, location);
  }

 private:
  void admit_places_of(const detail::file_bytes& model, folder_search);

  std::vector<std::shared_ptr<const detail::held_folder>> searched_;  // in this order; never empty
  std::vector<detail::file_id> admitted_;                             // folders that links may lead into
};

}  // namespace CAMEO_NAMESPACE
