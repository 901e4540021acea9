#pragma once
#include <cameo/format/ort_draft.hpp>
#include <cameo/run/runner.hpp>

namespace CAMEO_NAMESPACE {

/// Options of a minimal session.
struct minimal_options {
  /// Kernels may keep reordered copies of constants: faster, but needs memory for all constants a second time.
  bool prepack = false;
};

/// A model from an ORT file, planned and ready to run within one block of the caller's memory: no heap, no graph, no
/// exceptions. minimal_runtime makes it. Constants and names stay in the file. One run at a time; not thread-safe.
class minimal_session {
 public:
  minimal_session(minimal_session&& from) noexcept : impl_{std::exchange(from.impl_, nullptr)} {}
  minimal_session& operator=(minimal_session&& from) noexcept { return std::swap(impl_, from.impl_), *this; }
  CAMEO_API ~minimal_session();

  /// The model's inputs and outputs, in its order: name, element type, shape with -1 for dims known only in a run.
  CAMEO_API std::size_t input_count() const;
  /// See input_count().
  CAMEO_API std::size_t output_count() const;
  /// `i` is below the count.
  CAMEO_API const draft_value& input(std::size_t i) const;
  /// See input().
  CAMEO_API const draft_value& output(std::size_t i) const;
  /// The result of find_input() and find_output() for an unknown name.
  static constexpr std::size_t not_found = std::size_t(-1);
  /// The index of an input, or `not_found`.
  CAMEO_API std::size_t find_input(std::string_view name) const;
  /// The index of an output, or `not_found`.
  CAMEO_API std::size_t find_output(std::string_view name) const;

  /// Runs the model once with all inputs and outputs, in the model's order. An output with `data` is the caller's
  /// memory, of the size that `type` and `shape` state; other outputs are returned in the session's memory, valid until
  /// the next run.
  ///   INVALID_ARGUMENT  an input of another type or shape than the model's, or at an unaligned address;
  ///                     too many or too few inputs or outputs; an output that does not fit
  ///   OUT_OF_MEMORY     the session's memory is used up
  ///   others            as kernels return them
  /// After an error the outputs are undefined, and the next run starts afresh.
  CAMEO_API status run(std::span<const value> inputs, std::span<value> outputs, const run_options& = {});

  /// The bytes of the caller's memory that are in use: by the plan, and after a run by all that the run needed. The
  /// number is equal for every load of a file by the same program, so it shows how much memory to provide. Memory that
  /// starts at a multiple of 64 is used best.
  CAMEO_API std::size_t memory_used() const;

  /// For minimal_runtime.
  CAMEO_API static result<minimal_session> load(std::span<const std::byte> file, std::span<std::byte> memory,
                                                std::span<const detail::kernel_table* const> lists,
                                                const minimal_options&,
                                                const ort_draft_checks* = &all_ort_draft_checks);

 private:
  struct impl;
  explicit minimal_session(impl* made) : impl_{made} {}
  impl* impl_;
};

/// The functions of minimal_runtime. `Checked` is for files from any source, `Trusted` for files that are trusted.
template <const ort_draft_checks* Checked, const ort_draft_checks* Trusted, class... Lists>
struct minimal_loader {
  /// Reads, plans and prepares. `file` (the bytes of an ORT file, at any address) and `memory` must outlive the
  /// session. Codes of read_ort_draft and make_plan; OUT_OF_MEMORY means that `memory` is too small.
  static result<minimal_session> load(std::span<const std::byte> file, std::span<std::byte> memory,
                                      const minimal_options& options = {}) {
    return minimal_session::load(file, memory, lists, options, Checked);
  }
  /// Loads a file that is a part of the program and trusted like its code: nothing in it is checked, and the checks are
  /// not linked. The file must be one that load() accepts and that cameo wrote (not ONNX Runtime); for other files the
  /// behavior is undefined. Check the file with load() in a test on a host.
  static result<minimal_session> load_trusted(std::span<const std::byte> file, std::span<std::byte> memory,
                                              const minimal_options& options = {}) {
    return minimal_session::load(file, memory, lists, options, Trusted);
  }
  /// The memory that load() of this file takes, found by a load into `scratch`, which is free again afterwards. It is
  /// equal on every device with this program. If all shapes are in the file, runs take little more, for the kernels'
  /// scratch; memory_used() after a run reports how much. Errors of load(): OUT_OF_MEMORY means that `scratch` is too
  /// small.
  static result<std::size_t> memory_needed(std::span<const std::byte> file, std::span<std::byte> scratch,
                                           const minimal_options& options = {}) {
    const result<minimal_session> made = load(file, scratch, options);
    if (!made) return made.error();
    return made->memory_used();
  }

 private:
  static constexpr const detail::kernel_table* lists[] = {&Lists::table...};
};

/// The kernels of a program: kernel lists; each node is run by the first list that has a kernel for it. Kernels in none
/// of the lists are not linked.
///
///     using runtime = cameo::minimal_runtime<my_kernels>;
///     auto session = runtime::load(file, memory);
template <class... Lists>
struct minimal_runtime : minimal_loader<&all_ort_draft_checks, nullptr, Lists...> {};

/// As the first entry in the list of a minimal_runtime: optimizations that a file has saved are applied when it is
/// loaded, as replaying_ort_draft_checks describes, with its error codes. A program without this entry does not link
/// that code.
struct saved_optimizations {};
template <class... Lists>
struct minimal_runtime<saved_optimizations, Lists...>
    : minimal_loader<&replaying_ort_draft_checks, &replaying_trusted_ort_draft, Lists...> {};

}  // namespace CAMEO_NAMESPACE
