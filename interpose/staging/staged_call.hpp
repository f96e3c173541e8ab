// Replaces the device buffers of one MPI call by stand-ins in host memory. The wrapper names the buffers that
// the call reads, writes or both; the bytes to be read are downloaded, the MPI library gets the stand-ins,
// and the bytes written are copied back. With host buffers it only queries where each pointer lies. Knows no
// single MPI function.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "interpose/calls/call_scope.hpp"
#include "interpose/calls/errors.hpp"
#include "interpose/staging/packed_argument.hpp"
#include "interpose/staging/staged_argument.hpp"
#include "transports/host/status.hpp"

namespace penstock::interpose {

/// Return whether the buffer needs staging. If MPI_BOTTOM makes addresses absolute, the datatype decides.
[[nodiscard]] bool lies_on_device(const void* buffer) noexcept;
[[nodiscard]] bool may_be_absolute(const void* buffer) noexcept;
[[nodiscard]] bool reaches_device(const ByteRange& absolute) noexcept;

/// Replaces `pack` below if a call needs the user's datatype, for an operation or another representation.
struct AsItLies {};

/// Returns a `pack` of `count` elements at the buffer, which changes `datatype` to that of packed ones.
template <typename Count>
[[nodiscard]] auto packed_elements(Count count, MPI_Datatype& datatype) noexcept {
  return [count, &datatype](PackedArgument& packed) {
    packed.add(count, datatype, 0);
    datatype = packed.element_of(datatype);
  };
}

/// Is a `pack` for calls to which elements are their bytes, whatever their places: it packs also where
/// addresses are not absolute, as a stand-in with the elements' gaps would touch a page for each row.
template <typename Count>
struct WhereverTheyLie {
  Count count;
  MPI_Datatype& datatype;
  void operator()(PackedArgument& packed) const { packed_elements(count, datatype)(packed); }
  [[nodiscard]] bool packs_in_place_of(const ByteRange& as_they_lie) const {
    return pack_into_few_blocks(count, datatype, as_they_lie);
  }
};
template <typename Count>
WhereverTheyLie(Count, MPI_Datatype&) -> WhereverTheyLie<Count>;

/// Owns the stand-ins until finish(). Errors: kept until fetch(); throws none.
class StagedCall {
 public:
  StagedCall(CallScope& scope, const char* mpi_call, ErrorTarget errors) noexcept
      : scope_(&scope), mpi_call_(mpi_call), errors_(errors) {}

  /// Each replaces `buffer` by the address of its stand-in if it is on a device. `region` returns the
  /// ByteRange that the call reads or writes, and is not called for host buffers. `pack(a PackedArgument)` is
  /// called if addresses are absolute, or as WhereverTheyLie has it: it adds all blocks that the call may
  /// read or write and replaces the arguments that describe them. Without it, the stand-in spans all
  /// addresses.
  template <typename Pointer, typename Reads, typename Pack = AsItLies>
  void read(Pointer& buffer, Reads region, Pack pack = {}) {
    use(
        buffer, region, [] { return ByteRange(); }, pack);
  }
  template <typename Pointer, typename Writes, typename Pack = AsItLies>
  void write(Pointer& buffer, Writes region, Pack pack = {}) {
    use(
        buffer, [] { return ByteRange(); }, region, pack);
  }
  template <typename Pointer, typename Reads, typename Writes, typename Pack = AsItLies>
  void use(Pointer& buffer, Reads reads, Writes writes, Pack pack = {});

  /// Prepares the object to outlive the MPI call, when the communicator may be freed.
  void outlive_the_call() noexcept { errors_ = errors_.kept(); }
  /// Sets the reason for staging, for the record: a literal.
  void because(const char* why) noexcept { why_ = why; }
  /// Restricts the bytes written of the stand-in at `address` to these. No effect if it is none.
  void narrow(const void* address, std::ptrdiff_t bytes, std::ptrdiff_t offset) noexcept;

  /// Returns why there is no stand-in for a buffer.
  [[nodiscard]] const Status& status() const noexcept { return status_; }
  [[nodiscard]] bool is_staged() const noexcept { return !buffers_.empty() || !packed_.empty(); }

  /// Downloads the bytes that the call reads. Call it before each call of the MPI library. Errors: also that
  /// there is no stand-in.
  [[nodiscard]] Status fetch() const noexcept;
  /// Returns whether fetch() would not wait for the application's kernels.
  [[nodiscard]] bool may_fetch_now() const noexcept;
  /// Returns whether write_back() would not wait for the application's kernels.
  [[nodiscard]] bool may_write_back_now() const noexcept;
  /// Copies back the bytes that the call wrote. Thread: one at a time; may differ from the one that began.
  [[nodiscard]] Status write_back() const noexcept;
  int raise(const Status& status) const { return errors_.raise_status(mpi_call_, status); }
  /// Ends the call after the MPI library has returned `code`: copies back on success. Returns the code.
  int finish(int code) const;

 private:
  void stage(const void*& buffer, const ByteRange& read, const ByteRange& written,
             std::optional<PackedArgument> packed);
  /// Stops at the first failure.
  template <typename Copy>
  [[nodiscard]] Status for_each_buffer(Copy copy) const noexcept;
  template <typename Ask>
  [[nodiscard]] bool all_buffers(Ask ask) const noexcept;

  CallScope* scope_;  ///< valid during the call only
  const char* mpi_call_;
  ErrorTarget errors_;
  const char* why_ = "this call is always staged";
  Status status_;
  std::vector<StagedArgument> buffers_;
  std::vector<PackedArgument> packed_;
};

template <typename Pointer, typename Reads, typename Writes, typename Pack>
void StagedCall::use(Pointer& buffer, Reads reads, Writes writes, [[maybe_unused]] Pack pack) {
  const bool absolute = may_be_absolute(buffer);
  if (!absolute && !lies_on_device(buffer)) [[likely]]
    return;
  try {
    const ByteRange read = reads();
    const ByteRange written = writes();
    if (read.empty() && written.empty()) return;  // the address will not be used
    if (absolute && !reaches_device(read) && !reaches_device(written)) return;
    const void* replaced = buffer;
    std::optional<PackedArgument> packed;
    if constexpr (!std::is_same_v<Pack, AsItLies>) {
      bool is_packed = absolute;
      if constexpr (requires { pack.packs_in_place_of(read); })
        is_packed = absolute || pack.packs_in_place_of(read.empty() ? written : read);
      if (is_packed) pack(packed.emplace(absolute ? MPI_BOTTOM : buffer));
    }
    stage(replaced, read, written, std::move(packed));
    buffer = const_cast<Pointer>(static_cast<const void*>(replaced));
  } catch (const UnreadableDatatype& datatype) {
    status_ = {Code::declined, datatype.what()};
  } catch (const std::bad_alloc&) {
    status_ = {Code::out_of_memory, "staging"};
  }
}

}  // namespace penstock::interpose
