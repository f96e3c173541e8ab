// One MPI call whose device buffers are replaced by stand-ins in host memory: the wrapper names the buffers
// that the call reads, writes or both; what is read is fetched; the MPI library is handed the stand-ins; what
// was written is copied back. With host buffers it does nothing, at the price of asking where each pointer
// lies. Knows no single MPI function.
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

/// Does the buffer need staging? If MPI_BOTTOM makes the addresses absolute, only the datatype tells.
[[nodiscard]] bool lies_on_device(const void* buffer) noexcept;
[[nodiscard]] bool may_be_absolute(const void* buffer) noexcept;
[[nodiscard]] bool reaches_device(const Region& absolute) noexcept;

/// Stands for `pack` below where a call needs the user's datatype, as for an operation or another
/// representation.
struct AsItLies {};

/// Packs `count` elements at the buffer; `datatype` becomes that of packed ones.
template <typename Count>
[[nodiscard]] auto packed_elements(Count count, MPI_Datatype& datatype) noexcept {
  return [count, &datatype](PackedArgument& packed) {
    packed.add(count, datatype, 0);
    datatype = packed.element_of(datatype);
  };
}

/// Owns the stand-ins until finish(). Errors: kept until fetch(), none thrown.
class StagedCall {
 public:
  StagedCall(CallScope& scope, const char* mpi_call, ErrorTarget errors) noexcept
      : scope_(&scope), mpi_call_(mpi_call), errors_(errors) {}

  /// Each replaces `buffer` by the address of its stand-in if it lies on a device. `region` returns the
  /// Region that the call reads or writes, and is not called for host buffers. `pack(a PackedArgument)` is
  /// called if the addresses are absolute: it adds all that the call may read or write and replaces what
  /// describes it. Without, the stand-in is as large as what lies between the addresses.
  template <typename Pointer, typename Reads, typename Pack = AsItLies>
  void read(Pointer& buffer, Reads region, Pack pack = {}) {
    use(
        buffer, region, [] { return Region(); }, pack);
  }
  template <typename Pointer, typename Writes, typename Pack = AsItLies>
  void write(Pointer& buffer, Writes region, Pack pack = {}) {
    use(
        buffer, [] { return Region(); }, region, pack);
  }
  template <typename Pointer, typename Reads, typename Writes, typename Pack = AsItLies>
  void use(Pointer& buffer, Reads reads, Writes writes, Pack pack = {});

  /// For what is over only after the call: the communicator may be freed by then.
  void outlive_the_call() noexcept { errors_ = errors_.kept(); }
  /// Why it is staged, for the record: a literal.
  void because(const char* why) noexcept { why_ = why; }
  /// Only these bytes of the buffer at `address` (a stand-in, or nothing happens) have been written.
  void narrow(const void* address, std::ptrdiff_t bytes, std::ptrdiff_t offset) noexcept;

  /// Why there is no stand-in for a buffer.
  [[nodiscard]] const Status& status() const noexcept { return status_; }
  [[nodiscard]] bool is_staged() const noexcept { return !buffers_.empty() || !packed_.empty(); }

  /// Downloads what the call reads. Before the MPI library is called; again if it is called again. An error
  /// may be that there is no stand-in.
  [[nodiscard]] Status fetch() const noexcept;
  /// Whether that could be done without waiting for the application's kernels.
  [[nodiscard]] bool may_fetch_now() const noexcept;
  /// Whether it could be written back without waiting for the application's kernels.
  [[nodiscard]] bool may_write_back_now() const noexcept;
  /// Copies back what the call wrote. Thread: one at a time; may be another than the one that began.
  [[nodiscard]] Status write_back() const noexcept;
  int raise(const Status& status) const { return errors_.raise_status(mpi_call_, status); }
  /// After the MPI library has returned `code`: copies back on success; returns the code of the call.
  int finish(int code) const;

 private:
  void stage(const void*& buffer, const Region& read, const Region& written,
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
    const Region read = reads();
    const Region written = writes();
    if (absolute && !reaches_device(read) && !reaches_device(written)) return;
    const void* replaced = buffer;
    std::optional<PackedArgument> packed;
    if constexpr (!std::is_same_v<Pack, AsItLies>) {
      if (absolute) pack(packed.emplace());
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
