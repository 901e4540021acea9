#pragma once
#include <cameo/ep/context.hpp>

#include <atomic>
#include <bit>
#include <unordered_map>
#include <vector>

// The file that a context is: a header, a directory of plans and blobs, the plans, the blobs. All numbers are
// little-endian, all offsets are from the start of the file. docs/frozen.md describes it for people.

namespace CAMEO_NAMESPACE::eps::frozen_file {

static_assert(std::endian::native == std::endian::little, "cameo: frozen contexts are mapped as they are");

inline constexpr std::uint32_t format_version = 1;
inline constexpr std::size_t blob_alignment = 64, page = 4096, large_blob = 1 << 16;

struct header {
  char magic[8];  // "CAMEOFRZ"
  std::uint32_t version, bytes;
  std::uint64_t file_bytes;
  std::uint64_t directory, directory_bytes, directory_checksum;
  char cameo[48], architecture[112];  // texts, filled up with zeros
  char id[32];                        // that the nodes of its models have, too; zeros: none
  std::uint64_t checksum;             // of the header up to here
};
static_assert(sizeof(header) == 248 && offsetof(header, id) == 208 && offsetof(header, checksum) == 240);
inline constexpr char magic[8] = {'C', 'A', 'M', 'E', 'O', 'F', 'R', 'Z'};

struct directory {
  std::uint64_t blobs, plans;  // how many rows follow
};
struct blob_row {
  std::uint64_t offset, bytes, checksum;
};
struct plan_row {
  std::uint64_t offset, bytes, checksum;
  std::uint64_t name, name_bytes;  // from the start of the directory
};

/// Sixty-four bits that every byte changes. Not against forgers: what it covers is checked all the same.
std::uint64_t checksum_of(std::span<const std::byte>);

/// The version and processor that made a container.
struct maker {
  std::string cameo, architecture;
  std::string words() const { return "cameo " + cameo + " for " + architecture; }
};

/// INVALID_GRAPH naming both: the maker of a container, as text, and this program.
status made_by_another(std::string_view there, const maker& here);

/// A container whose header, directory and plans are as they were written. Offsets are checked; what plans say is not.
class opened {
 public:
  struct plan {
    std::string_view name;
    std::span<const std::byte> bytes;
  };
  /// INVALID_GRAPH with both sides' words. The bytes outlive it, unless they are copied: because `copies` says so, or
  /// because their address is no multiple of 64. FAIL when a mapped file became shorter while it was copied.
  static result<opened> open(std::span<const std::byte>, const maker& here, bool copies = false);
  /// What its parts refer to instead of the bytes that it was opened from; null: to those.
  const std::shared_ptr<const std::byte[]>& copy() const { return copy_; }
  /// Empty if it has none.
  const std::string& id() const { return id_; }
  /// Null if there is none of that name.
  const plan* find(std::string_view name) const;
  const std::vector<plan>& plans() const { return plans_; }
  std::size_t blob_count() const { return blobs_.size(); }
  std::span<const std::byte> blob(std::size_t i) const { return bytes_.subspan(blobs_[i].offset, blobs_[i].bytes); }
  /// Compares every blob with its checksum, once. INVALID_GRAPH.
  status verify() const;

 private:
  status read_directory(std::span<const std::byte>);
  result<std::span<const std::byte>> part(std::uint64_t offset, std::uint64_t bytes, std::string_view what) const;

  std::string id_;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const std::byte[]> copy_;  // when it was asked for, or the bytes lay askew
  std::span<const blob_row> blobs_;
  std::vector<plan> plans_;
  std::unordered_map<std::string_view, std::size_t> by_name_;
  std::shared_ptr<std::atomic<bool>> verified_ = std::make_shared<std::atomic<bool>>(false);
};

/// Collects plans and blobs, each blob once, and writes them.
class builder {
 public:
  std::string id;  // of the container; at most 32 characters
  /// The number of a blob with these bytes. They are copied unless `owner` keeps them.
  std::uint32_t add_blob(std::span<const std::byte>, std::shared_ptr<const void> owner);
  /// FAIL when there is another plan of this name; the same one again is fine.
  status add_plan(std::string_view name, std::vector<std::byte> bytes);
  status write(const maker&, byte_sink) const;

 private:
  struct blob {
    std::span<const std::byte> bytes;
    std::uint64_t checksum;
    std::shared_ptr<const void> owner;
  };
  struct plan {
    std::string name;
    std::vector<std::byte> bytes;
  };
  std::vector<blob> blobs_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_checksum_;
  std::vector<plan> plans_;
  std::unordered_map<std::string, std::size_t> by_name_;  // of plans
};

}  // namespace CAMEO_NAMESPACE::eps::frozen_file
