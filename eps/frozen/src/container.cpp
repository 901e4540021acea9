#include "container.hpp"

#include "os/memory.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace CAMEO_NAMESPACE::eps::frozen_file {
namespace {

status damaged(std::string what) { return {status_code::invalid_graph, "the context is damaged: " + std::move(what)}; }

/// One step of the checksum. It is a bijection, so two different words lead to two different states.
constexpr std::uint64_t mix(std::uint64_t state, std::uint64_t word) {
  return std::rotl((state ^ word) * 0x9E3779B97F4A7C15u, 29);
}

template <std::size_t N>
std::string_view text_of(const char (&text)[N]) {
  return {text, ::strnlen(text, N)};
}
template <std::size_t N>
void put_text(std::string_view from, char (&to)[N]) {
  std::memset(to, 0, N);
  std::memcpy(to, from.data(), std::min(from.size(), N));
}

template <class T>
std::span<const std::byte> bytes_of(const T& object) {
  return std::as_bytes(std::span{&object, 1});
}

std::size_t aligned(std::size_t offset, std::size_t to) { return (offset + to - 1) / to * to; }

result<std::shared_ptr<const std::byte[]>> copy_of(std::span<const std::byte> bytes) {
  constexpr std::align_val_t alignment{blob_alignment};
  auto* const memory = static_cast<std::byte*>(::operator new(bytes.size(), alignment, std::nothrow));
  if (!memory) return status_code::out_of_memory;
  std::shared_ptr<const std::byte[]> kept{
      memory, [](const std::byte* at) { ::operator delete(const_cast<std::byte*>(at), alignment); }};
  if (status s = os::copy_mapped(bytes, memory); !s) return s;
  return kept;
}

}  // namespace

std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  constexpr std::size_t chains = 4,
                        block = 8 * chains;  // independent, so that the processor multiplies them in parallel
  std::uint64_t state[chains] = {1, 2, 3, bytes.size()};
  const std::byte* at = bytes.data();
  const std::size_t whole = bytes.size() / block * block;
  for (std::size_t i = 0; i < whole; i += block)
    for (std::size_t s = 0; s < chains; ++s) {
      std::uint64_t word;
      std::memcpy(&word, at + i + 8 * s, 8);
      state[s] = mix(state[s], word);
    }
  std::byte rest[block] = {};
  if (whole < bytes.size()) std::memcpy(rest, at + whole, bytes.size() - whole);
  std::uint64_t sum = 0;
  for (std::size_t s = 0; s < chains; ++s) {
    std::uint64_t word;
    std::memcpy(&word, rest + 8 * s, 8);
    sum = mix(sum, mix(state[s], word));
  }
  return sum ^ sum >> 32;
}

status made_by_another(std::string_view there, const maker& here) {
  return {status_code::invalid_graph,
          "the context was made by " + std::string{there} + ", this is " + here.words() + "; compile the model again"};
}

// --- reading ---

result<opened> opened::open(std::span<const std::byte> bytes, const maker& here, bool copies) {
  opened made;
  if (copies || reinterpret_cast<std::uintptr_t>(bytes.data()) % blob_alignment != 0) {
    auto copied = copy_of(bytes);  // copied before it is checked, so that no later change of the file matters
    if (!copied) return std::move(copied).error();
    made.copy_ = std::move(*copied);
    bytes = {made.copy_.get(), bytes.size()};
  }
  header head;
  if (bytes.size() < sizeof head) return damaged("it ends within its header");
  std::memcpy(&head, bytes.data(), sizeof head);
  if (std::memcmp(head.magic, magic, sizeof magic) != 0)
    return status{status_code::invalid_graph, "this is not a context of frozen plans"};
  if (head.version != format_version)
    return status{status_code::invalid_graph, "the context is of format " + std::to_string(head.version) +
                                                  ", this cameo reads format " + std::to_string(format_version)};
  if (head.bytes != sizeof head || head.checksum != checksum_of(bytes.first(offsetof(header, checksum))))
    return damaged("its header does not fit its checksum");
  const maker there{std::string{text_of(head.cameo)}, std::string{text_of(head.architecture)}};
  if (there.cameo != here.cameo || there.architecture != here.architecture) return made_by_another(there.words(), here);
  if (head.file_bytes != bytes.size())
    return damaged("it has " + std::to_string(bytes.size()) + " bytes and should have " +
                   std::to_string(head.file_bytes));
  made.id_ = text_of(head.id);
  made.bytes_ = bytes;
  const auto rows = made.part(head.directory, head.directory_bytes, "the directory");
  if (!rows) return status{rows.error()};
  if (checksum_of(*rows) != head.directory_checksum) return damaged("its directory does not fit its checksum");
  if (status s = made.read_directory(*rows); !s) return s;
  return made;
}

result<std::span<const std::byte>> opened::part(std::uint64_t offset, std::uint64_t bytes,
                                                std::string_view what) const {
  if (offset % 8 != 0 || offset > bytes_.size() || bytes > bytes_.size() - offset)
    return damaged(std::string{what} + " lies outside of it");
  return bytes_.subspan(std::size_t(offset), std::size_t(bytes));
}

status opened::read_directory(std::span<const std::byte> from) {
  directory counts;
  if (from.size() < sizeof counts) return damaged("its directory is too short");
  std::memcpy(&counts, from.data(), sizeof counts);
  const std::size_t rest = from.size() - sizeof counts;
  if (counts.blobs > rest / sizeof(blob_row) ||
      counts.plans > (rest - counts.blobs * sizeof(blob_row)) / sizeof(plan_row))
    return damaged("its directory is too short");
  blobs_ = {reinterpret_cast<const blob_row*>(from.data() + sizeof counts), std::size_t(counts.blobs)};
  for (const blob_row& row : blobs_) {
    if (row.offset % blob_alignment != 0) return damaged("a blob is not aligned");
    if (const auto blob = part(row.offset, row.bytes, "a blob"); !blob) return blob.error();
  }
  const std::span<const plan_row> rows{reinterpret_cast<const plan_row*>(blobs_.data() + blobs_.size()),
                                       std::size_t(counts.plans)};
  for (const plan_row& row : rows) {
    if (row.name > from.size() || row.name_bytes > from.size() - row.name)
      return damaged("the name of a plan lies outside of its directory");
    const auto bytes = part(row.offset, row.bytes, "a plan");
    if (!bytes) return bytes.error();
    if (checksum_of(*bytes) != row.checksum) return damaged("a plan does not fit its checksum");
    const std::string_view name{reinterpret_cast<const char*>(from.data() + row.name), std::size_t(row.name_bytes)};
    if (!by_name_.emplace(name, plans_.size()).second)
      return damaged("two plans are called '" + std::string{name} + "'");
    plans_.push_back({name, *bytes});
  }
  return {};
}

const opened::plan* opened::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &plans_[found->second];
}

status opened::verify() const {
  if (verified_->load(std::memory_order_acquire)) return {};
  for (std::size_t i = 0; i < blobs_.size(); ++i)
    if (checksum_of(blob(i)) != blobs_[i].checksum)
      return damaged("blob " + std::to_string(i) + " of its weights does not fit its checksum");
  verified_->store(true, std::memory_order_release);
  return {};
}

// --- writing ---

std::uint32_t builder::add_blob(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  const std::uint64_t checksum = checksum_of(bytes);
  const auto same = by_checksum_.equal_range(checksum);
  for (auto at = same.first; at != same.second; ++at) {
    const std::span<const std::byte> known = blobs_[at->second].bytes;
    if (known.size() == bytes.size() && (bytes.empty() || std::memcmp(known.data(), bytes.data(), bytes.size()) == 0))
      return at->second;
  }
  if (!owner) {
    auto copy = std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
    bytes = *copy;
    owner = std::move(copy);
  }
  const auto number = std::uint32_t(blobs_.size());
  blobs_.push_back({bytes, checksum, std::move(owner)});
  by_checksum_.emplace(checksum, number);
  return number;
}

status builder::add_plan(std::string_view name, std::vector<std::byte> bytes) {
  const auto [at, is_new] = by_name_.try_emplace(std::string{name}, plans_.size());
  if (!is_new) {
    if (plans_[at->second].bytes == bytes) return {};
    return {status_code::fail, "the context has another plan called '" + std::string{name} +
                                   "'; ep.context_node_name_prefix makes names of models differ"};
  }
  plans_.push_back({std::string{name}, std::move(bytes)});
  return {};
}

namespace {

/// The offsets and sizes of a container's parts.
struct layout {
  std::vector<blob_row> blobs;
  std::vector<plan_row> plans;
  std::string names;
  std::size_t directory_bytes = 0, end = 0;
};

/// Writes bytes to a sink, and zeros up to the offset of the next ones.
class padded_sink {
 public:
  explicit padded_sink(byte_sink to) : sink_{to} {}
  status put(std::span<const std::byte> bytes) {
    at_ += bytes.size();
    return bytes.empty() ? status{} : sink_(bytes);
  }
  status put_at(std::size_t offset, std::span<const std::byte> bytes) {
    static constexpr std::byte zeros[page] = {};
    while (at_ < offset)
      if (status s = put(std::span{zeros}.first(std::min(offset - at_, page))); !s) return s;
    return put(bytes);
  }

 private:
  byte_sink sink_;
  std::size_t at_ = 0;
};

}  // namespace

status builder::write(const maker& by, byte_sink to) const {
  layout at;
  at.directory_bytes = sizeof(directory) + blobs_.size() * sizeof(blob_row) + plans_.size() * sizeof(plan_row);
  for (const plan& p : plans_) {
    at.plans.push_back({0, p.bytes.size(), checksum_of(p.bytes), at.directory_bytes, p.name.size()});
    at.names += p.name, at.directory_bytes += p.name.size();
  }
  at.end = sizeof(header) + at.directory_bytes;
  for (plan_row& row : at.plans) {
    row.offset = aligned(at.end, blob_alignment);
    at.end = row.offset + row.bytes;
  }
  for (const blob& b : blobs_) {
    const std::size_t offset = aligned(at.end, b.bytes.size() >= large_blob ? page : blob_alignment);
    at.blobs.push_back({offset, b.bytes.size(), b.checksum});
    at.end = offset + b.bytes.size();
  }
  std::vector<std::byte> rows;
  const auto add = [&](std::span<const std::byte> bytes) { rows.insert(rows.end(), bytes.begin(), bytes.end()); };
  add(bytes_of(directory{blobs_.size(), plans_.size()}));
  add(std::as_bytes(std::span{at.blobs}));
  add(std::as_bytes(std::span{at.plans}));
  add(std::as_bytes(std::span{at.names}));
  header head{};
  std::memcpy(head.magic, magic, sizeof magic);
  head.version = format_version, head.bytes = sizeof head, head.file_bytes = at.end;
  head.directory = sizeof head, head.directory_bytes = rows.size(), head.directory_checksum = checksum_of(rows);
  put_text(by.cameo, head.cameo), put_text(by.architecture, head.architecture), put_text(id, head.id);
  head.checksum = checksum_of(bytes_of(head).first(offsetof(header, checksum)));
  padded_sink out{to};
  if (status s = out.put(bytes_of(head)); !s) return s;
  if (status s = out.put(rows); !s) return s;
  for (std::size_t i = 0; i < plans_.size(); ++i)
    if (status s = out.put_at(std::size_t(at.plans[i].offset), plans_[i].bytes); !s) return s;
  for (std::size_t i = 0; i < blobs_.size(); ++i)
    if (status s = out.put_at(std::size_t(at.blobs[i].offset), blobs_[i].bytes); !s) return s;
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps::frozen_file
