#include "context/restore.hpp"

#include "context/node.hpp"
#include "context/workspace.hpp"
#include "core/guarded.hpp"
#include "file/model_folders.hpp"
#include "graph/messages.hpp"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace CAMEO_NAMESPACE {
namespace {

std::string words_for(const context_record& r) { return name_of(r.facts.node.in(), r.facts.node.raw()); }

status invalid(const context_record& r, std::string_view words) {
  return failed(status_code::invalid_graph, "{}: {}", words_for(r), words);
}

class restorer {
 public:
  restorer(const provider& of, const context_folder& where, const context_workspace* shared)
      : provider_{of}, where_{where}, shared_{shared} {}

  result<std::vector<compiled_node>> run(std::span<const node_view> nodes) {
    for (const node_view& node : nodes) {
      result<context_record> record = read_context_node(node);
      if (!record) return std::move(record).error().in(name_of(node.in(), node.raw()));
      records_.push_back(*record);
    }
    if (status s = find_files(); !s) return s;
    if (!take_waiting())
      if (status s = open_all(); !s) return s;
    std::vector<compiled_node> programs;
    for (std::size_t i = 0; i < records_.size(); ++i) {
      result<compiled_node> program = restore(i);
      if (!program) return std::move(program).error();
      programs.push_back(std::move(*program));
    }
    if (status s = park_others(); !s) return s;
    return programs;
  }

 private:
  /// Finds the real path of every file that the nodes name, without opening it for reading. Reading looks the name up
  /// again in the same open folder: meanwhile it may have been replaced, but it can't lead outside the folder.
  status find_files() {
    files_.resize(records_.size());
    std::unordered_map<std::string_view, std::size_t> known;  // by the name in the model
    for (std::size_t i = 0; i < records_.size(); ++i) {
      const context_record& r = records_[i];
      if (!r.is_main && !r.context.empty())
        return invalid(r, "is not the main node of its context, but has a context: only the main node may have one");
      if (!r.is_main || r.is_embedded) continue;
      if (where_.read) {
        if (r.context.empty()) return invalid(r, "its context has no name");
        files_[i] = r.context;
        continue;
      }
      if (!where_.known && !where_.folder)
        return invalid(r,
                       "its context is a file, and the model came from memory; set ep.context_file_path to the path "
                       "that the model would have");
      if (const auto [before, is_new] = known.try_emplace(r.context, i); !is_new) {
        files_[i] = files_[before->second];
        continue;
      }
      if (status s = hold_folders(r); !s) return s;
      const result<found_path> at = folders_->file(context_path, r.context, words_for(r), open_for::place);
      if (!at) return status{at.error()};
      files_[i] = folders_->path_of(*at, r.context);
    }
    for (std::size_t i = 0; i < files_.size(); ++i)
      if (!files_[i].empty()) first_with_.try_emplace(files_[i], i);
    return {};
  }

  status hold_folders(const context_record& r) {
    if (folders_) return {};
    if (where_.folder) return folders_.emplace(where_.folder), status{};
    result<model_folders> now = model_folders::open(where_.path, where_.file, folder_search::first);
    if (!now) return with_code(status_code::invalid_graph, now.error()).in(words_for(r));
    folders_.emplace(*std::move(now));
    return {};
  }

  /// Takes all graphs of the model out of the workspace, or none: a file that must be opened anyway has all of them.
  bool take_waiting() {
    if (!shared_ || where_.read) return false;
    context_workspace::impl& pool = shared_->inside();
    const std::lock_guard lock{pool.guard};
    const waiting_by_graph offered = waiting_in(pool);
    std::set<waiting_graph> taken;  // several nodes may use one graph
    for (std::size_t i = 0; i < records_.size(); ++i) {
      const std::optional<waiting_graph> found = find_waiting(i, pool, offered);
      if (!found) return false;
      own_.emplace_back(pool.waiting.at(*found).binary);
      taken.insert(*found);
    }
    for (const waiting_graph& each : taken) pool.waiting.erase(each);
    return true;
  }

  /// The waiting graphs of this provider in files that the model names, by graph name, in the model's order of files.
  using waiting_by_graph = std::unordered_map<std::string_view, std::map<std::size_t, const waiting_graph*>>;
  waiting_by_graph waiting_in(const context_workspace::impl& pool) const {
    waiting_by_graph made;
    for (const auto& [key, waiting] : pool.waiting)
      if (const auto file = first_with_.find(std::get<1>(key));
          std::get<0>(key) == provider_.row->long_name && file != first_with_.end())
        made[std::get<2>(key)].emplace(file->second, &key);
    return made;
  }

  /// The waiting graph for node `i`. A main node needs the file that it names; a secondary node may use any file of the
  /// model. A file that was replaced since it was opened does not count.
  std::optional<waiting_graph> find_waiting(std::size_t i, const context_workspace::impl& pool,
                                            const waiting_by_graph& offered) const {
    const context_record& r = records_[i];
    const auto of_name = offered.find(r.facts.graph_name);
    if ((r.is_main && r.is_embedded) || of_name == offered.end()) return {};
    for (const auto& [file, key] : of_name->second) {
      if (r.is_main && std::get<1>(*key) != files_[i]) continue;
      if (pool.waiting.at(*key).file == file_state::read(std::get<1>(*key))) return *key;
    }
    return {};
  }

  status open_all() {
    own_.clear(), own_.resize(records_.size());
    for (std::size_t i = 0; i < records_.size(); ++i) {
      const context_record& r = records_[i];
      if (!r.is_main) continue;
      if (r.is_embedded) {
        if (r.context.empty()) return invalid(r, "has embed_mode 1, but no bytes of a context");
        const std::span<const std::byte> bytes = std::as_bytes(std::span{r.context.data(), r.context.size()});
        mains_.push_back(*(own_[i] = context_binary{bytes, nullptr, words_for(r)}));
        continue;
      }
      if (const std::size_t first = first_with_.at(files_[i]); first != i) {
        own_[i] = own_[first];
        continue;
      }
      result<context_binary> opened = where_.read ? read(r) : map(r, files_[i]);
      if (!opened) return std::move(opened).error();
      mains_.push_back(*(own_[i] = std::move(*opened)));
    }
    return {};
  }

  result<context_binary> map(const context_record& r, const std::string& path) {
    const result<found_path> at = folders_->file(context_path, r.context, words_for(r), open_for::reading);
    if (!at) return status{at.error()};
    opened_[path] = file_state::read(at->handle);
    result<std::shared_ptr<const detail::file_bytes>> file = detail::map_opened(at->handle, path);
    if (!file)
      return file.error().code() == status_code::out_of_memory ? file.error() : invalid(r, file.error().words());
    if ((*file)->bytes().empty()) return invalid(r, fmt::format("context '{}' is an empty file", path));
    // Objects made from the context keep the file and the provider alive.
    using both = std::pair<std::shared_ptr<const detail::file_bytes>, std::shared_ptr<const void>>;
    return context_binary{(*file)->bytes(), std::make_shared<const both>(*file, provider_.self), path};
  }

  result<context_binary> read(const context_record& r) const {
    const auto call = [&] { return where_.read(r.context); };
    result<std::vector<std::byte>> bytes = guarded_hook(call);
    if (!bytes) return std::move(bytes).error().in(fmt::format("context '{}'", r.context)).in(words_for(r));
    auto kept = std::make_shared<const std::vector<std::byte>>(std::move(*bytes));
    return context_binary{*kept, kept, fmt::format("context '{}'", r.context)};
  }

  /// Restores node `i` from its context or, if it is a secondary node, from the model's first context that has its
  /// graph.
  result<compiled_node> restore(std::size_t i) {
    const context_record& r = records_[i];
    if (own_[i]) return restore_from(r, {&*own_[i], 1});
    if (mains_.empty())
      return invalid(r, fmt::format("its context is in another node, and the model has no main node of {}",
                                    provider_.row->long_name));
    if (mains_.size() > 1)
      if (const auto listed = mains_by_graph().find(std::string{r.facts.graph_name}); listed != by_graph_->end())
        if (result<compiled_node> made = restore_from(r, {&listed->second, 1})) return made;
    return restore_from(r, mains_);
  }

  /// The first context that lists a graph, by the graph's name. It saves trying every context for every node of a model
  /// with many contexts.
  const std::unordered_map<std::string, context_binary>& mains_by_graph() {
    if (by_graph_) return *by_graph_;
    by_graph_.emplace();
    for (const context_binary& binary : mains_) {
      const auto call = [&] { return provider_.row->contexts.graphs(provider_.self.get(), binary); };
      const result<std::vector<std::string>> graphs = guarded_hook(call);
      if (!graphs) continue;
      for (const std::string& name : *graphs) by_graph_->try_emplace(name, binary);
    }
    return *by_graph_;
  }

  /// Restores a node from the first of these contexts that has its graph.
  result<compiled_node> restore_from(const context_record& r, std::span<const context_binary> binaries) const {
    status last, others;
    for (const context_binary& binary : binaries) {
      if (status s = require_own(r, binary); !s) {
        if (s.code() == status_code::not_found) others = invalid(r, s.words());
        else return s;
        continue;
      }
      const auto call = [&] { return provider_.row->contexts.restore(provider_.self.get(), binary, r.facts); };
      result<compiled_node> made = guarded_hook(call);
      if (made && !made->run)
        return invalid(r, fmt::format("{} returned no program for its context", provider_.row->long_name));
      if (made) return made;
      last = std::move(made).error();
      if (last.code() == status_code::not_found) continue;
      if (last.code() == status_code::out_of_memory) return last;
      return invalid(r, fmt::format("{}: {}: {}", provider_.row->long_name, binary.where(), last.words()));
    }
    if (!others) return others;
    return invalid(r, fmt::format("{}: there is no graph '{}' in {}", provider_.row->long_name, r.facts.graph_name,
                                  binaries.size() == 1 ? std::string{binaries[0].where()}
                                                       : fmt::format("{} contexts", binaries.size())));
  }

  /// NOT_FOUND, with a message, if the context was written with another model, because a graph of the same name in it
  /// is not this node's. A node or a context without an id, as other programs write them, is accepted.
  status require_own(const context_record& r, const context_binary& binary) const {
    if (r.id.empty()) return {};
    const auto call = [&] { return provider_.row->contexts.identity(provider_.self.get(), binary); };
    const result<std::string> id = guarded_hook(call);
    if (!id)
      return id.error().code() == status_code::out_of_memory
                 ? id.error()
                 : invalid(r, fmt::format("{}: {}: {}", provider_.row->long_name, binary.where(), id.error().words()));
    if (id->empty() || *id == r.id) return {};
    return failed(status_code::not_found,
                  "{}: {} was written with another model than {}: its id is {}, and the model has {}; compile "
                  "the model again",
                  provider_.row->long_name, binary.where(), where_.model.empty() ? "this one" : where_.model, *id,
                  r.id);
  }

  /// Keeps the graphs of opened files that this model does not use in the workspace, for other models.
  status park_others() {
    if (!shared_ || where_.read) return {};
    context_workspace::impl& pool = shared_->inside();
    std::unordered_set<std::string_view> own;
    for (const context_record& r : records_) own.insert(r.facts.graph_name);
    for (const context_binary& binary : mains_) {
      const auto file = opened_.find(std::string{binary.where()});
      if (file == opened_.end()) continue;  // an embedded context does not outlive its model
      const auto call = [&] { return provider_.row->contexts.graphs(provider_.self.get(), binary); };
      result<std::vector<std::string>> graphs = guarded_hook(call);
      if (!graphs)
        return with_code(status_code::invalid_graph, graphs.error())
            .in(fmt::format("{}: {}", provider_.row->long_name, binary.where()));
      const std::lock_guard lock{pool.guard};
      for (std::string& name : *graphs)
        if (!own.contains(name))
          pool.waiting.insert_or_assign({provider_.row->long_name, file->first, std::move(name)},
                                        waiting_context{binary, file->second});
    }
    return {};
  }

  const provider& provider_;
  const context_folder& where_;
  const context_workspace* shared_;
  std::vector<context_record> records_;
  std::optional<model_folders> folders_;
  std::vector<std::string> files_;  // per node: its file's real path; empty if it has none
  std::unordered_map<std::string_view, std::size_t> first_with_;             // per path: the first node that names it
  std::vector<std::optional<context_binary>> own_;                           // per node: its context, or a waiting one
  std::vector<context_binary> mains_;                                        // the contexts of main nodes, each once
  std::map<std::string, file_state> opened_;                                 // by the file's real path
  std::optional<std::unordered_map<std::string, context_binary>> by_graph_;  // see mains_by_graph(); created on demand
};

}  // namespace

result<std::vector<compiled_node>> restore_contexts(const provider& of, std::span<const node_view> nodes,
                                                    const context_folder& where, const context_workspace* shared) {
  return restorer{of, where, shared}.run(nodes);
}

}  // namespace CAMEO_NAMESPACE
