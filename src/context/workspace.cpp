#include "context/workspace.hpp"

#include <optional>

namespace CAMEO_NAMESPACE {

struct context_binary::shared {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
  std::string where;
  std::mutex guard;
  std::optional<result<std::shared_ptr<const void>>> content = {};  // nullopt: not opened yet
};

context_binary::context_binary(std::span<const std::byte> bytes, std::shared_ptr<const void> owner, std::string where)
    : shared_{std::make_shared<shared>()} {
  shared_->bytes = bytes, shared_->owner = std::move(owner), shared_->where = std::move(where);
}

std::span<const std::byte> context_binary::bytes() const { return shared_->bytes; }
std::string_view context_binary::where() const { return shared_->where; }

result<std::shared_ptr<const void>> context_binary::opened_once(
    detail::function_ref<result<std::shared_ptr<const void>>()> open) const {
  const std::lock_guard lock{shared_->guard};
  if (!shared_->content) shared_->content.emplace(open());
  const result<std::shared_ptr<const void>>& content = *shared_->content;
  if (!content) return content.error();
  return *content;
}

namespace {

file_state state_in(const result<os::file_facts>& facts) {
  return facts ? file_state{facts->id, facts->bytes, facts->written_ns} : file_state{};
}

}  // namespace

file_state file_state::read(const std::string& path) {
  return state_in(os::facts_at({}, path, os::last_link::followed));
}
file_state file_state::read(const os::handle& opened) { return state_in(os::facts_of(opened)); }

context_workspace::context_workspace() : impl_{std::make_unique<impl>()} {}
context_workspace::~context_workspace() = default;

std::size_t context_workspace::waiting_graphs() const {
  const std::lock_guard lock{impl_->guard};
  return impl_->waiting.size();
}

}  // namespace CAMEO_NAMESPACE
