#pragma once
#include "file/held_folder.hpp"

#include <vector>

namespace CAMEO_NAMESPACE {

/// The folders in which a model's other files are searched: only the first one, or then also the other folders of the
/// chain of links from the model's path to its file.
enum class folder_search : bool { first, all };

/// The folders that may contain a model's other files: its external data and its contexts.
///
/// The first one is the folder of the model's path. If that path is a symbolic link, every folder in the chain of links
/// to the model's file is one, too: Hugging Face's cache has a folder of links for each revision, which lead into a
/// folder `blobs`. A link in one of these folders may lead into any of them. If the model's file is in the store of a
/// tool that stores each file in a separate folder (git-annex, Nix, Guix, DVC), links may also lead into that store.
///
/// The folders follow only from the caller's path and the location of the model's file; the contents of the model can't
/// add any. Folders of links are used only if the chain ends at the file that was opened as the model. All folders stay
/// open. Thread-safe.
class model_folders {
 public:
  /// Opens the folders. `folder` is the first one, empty for the current folder; `model` is null for a model from
  /// memory. NO_SUCHFILE when `folder` does not exist.
  static result<model_folders> open(const std::string& folder, const detail::file_bytes* model, folder_search);
  /// Uses only this folder, out of which links must not lead.
  explicit model_folders(std::shared_ptr<const detail::held_folder> only) { searched_.push_back(std::move(only)); }

  /// The regular file that `location` leads to, with the errors of held_folder::file.
  result<found_path> file(const path_rule&, std::string_view location, std::string_view whose, open_for) const;
  /// The bytes of the regular file that `location` leads to; see file().
  result<std::shared_ptr<const detail::file_bytes>> map(const path_rule&, std::string_view location,
                                                        std::string_view whose) const;
  /// The present path of the file that was found; see held_folder::path_of.
  std::string path_of(const found_path& found, std::string_view location) const {
    return searched_.front()->path_of(found, location);
  }

 private:
  void admit_places_of(const detail::file_bytes& model, folder_search);

  std::vector<std::shared_ptr<const detail::held_folder>> searched_;  // in this order; never empty
  std::vector<detail::file_id> admitted_;                             // folders that links may lead into
};

}  // namespace CAMEO_NAMESPACE
