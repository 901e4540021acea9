#pragma once
#include <cameo/ep/context.hpp>

#include <atomic>
#include <bit>
#include <unordered_map>
#include <vector>

// The file format of contexts: a header, a directory of plans and blobs, the plans, the blobs. All numbers are
// little-endian, all offsets are from the start of the file. docs/frozen.md describes the format.

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
  char id[32];                        // equal to the id in the nodes of its models; zeros: none
  std::uint64_t checksum;             // of the header up to here
};
static_assert(sizeof(header) == 248 && offsetof(header, id) == 208 && offsetof(header, checksum) == 240);
inline constexpr char magic[8] = {'C', 'A', 'M', 'E', 'O', 'F', 'R', 'Z'};

struct directory {
  std::uint64_t blobs, plans;  // the numbers of rows that follow
};
struct blob_row {
  std::uint64_t offset, bytes, checksum;
};
struct plan_row {
  std::uint64_t offset, bytes, checksum;
  std::uint64_t name, name_bytes;  // from the start of the directory
};

/// A 64-bit checksum, which depends on every byte. It does not protect from forgery, so contents are checked, too.
std::uint64_t checksum_of(std::span<const std::byte>);

/// The version and processor that made a container.
struct maker {
  std::string cameo, architecture;
  std::string words() const { return "cameo " + cameo + " for " + architecture; }
};

/// The error for a container that another program made: INVALID_GRAPH with the maker of the container, `there`, and
/// that of this program.
status made_by_another(std::string_view there, const maker& here);

/// A container whose header, directory and plans have the right checksums. Offsets are checked, the contents of plans
/// are not.
class opened {
 public:
  struct plan {
    std::string_view name;
    std::span<const std::byte> bytes;
  };
  /// Opens a container. The bytes are copied if `copies`, or if their address is not a multiple of 64; otherwise they
  /// must outlive the object. INVALID_GRAPH if another program made the container, or if it is damaged. FAIL if a
  /// mapped file became shorter while it was copied.
  static result<opened> open(std::span<const std::byte>, const maker& here, bool copies = false);
  /// The copy of the bytes to which plans and blobs refer; null if they refer to the bytes passed to open().
  const std::shared_ptr<const std::byte[]>& copy() const { return copy_; }
  /// The container's id; empty if it has none.
  const std::string& id() const { return id_; }
  /// The plan with this name; null if there is none.
  const plan* find(std::string_view name) const;
  const std::vector<plan>& plans() const { return plans_; }
  std::size_t blob_count() const { return blobs_.size(); }
  std::span<const std::byte> blob(std::size_t i) const { return bytes_.subspan(blobs_[i].offset, blobs_[i].bytes); }
  /// Compares every blob with its checksum, only at the first call. INVALID_GRAPH if one differs.
  status verify() const;

 private:
  status read_directory(std::span<const std::byte>);
  result<std::span<const std::byte>> part(std::uint64_t offset, std::uint64_t bytes, std::string_view what) const;

  std::string id_;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const std::byte[]> copy_;  // null unless the bytes were copied
  std::span<const blob_row> blobs_;
  std::vector<plan> plans_;
  std::unordered_map<std::string_view, std::size_t> by_name_;
  std::shared_ptr<std::atomic<bool>> verified_ = std::make_shared<std::atomic<bool>>(false);
};

/// Collects plans and blobs, each blob once, and writes them.
class builder {
 public:
  std::string id;  // of the container; at most 32 characters
  /// Adds a blob unless there is an equal one, and returns its number. The bytes are copied unless `owner` keeps them
  /// alive.
  std::uint32_t add_blob(std::span<const std::byte>, std::shared_ptr<const void> owner);
  /// Adds a plan, unless there is an equal one. FAIL if there is a different plan with this name.
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
