#include "interpose/windows/accumulation.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>

#include "interpose/collectives/schedules/reduction_kind.hpp"
#include "interpose/datatypes/basic_type.hpp"
#include "interpose/datatypes/known_type.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/staging/host_memory.hpp"
#include "interpose/windows/accumulating.hpp"
#include "interpose/windows/kernel_combination.hpp"
#include "interpose/windows/memory/queued_work.hpp"
#include "interpose/windows/movement.hpp"
#include "interpose/windows/packed_combination.hpp"
#include "interpose/windows/small_update.hpp"
#include "transports/copy_selection/blocking_copy.hpp"

namespace penstock::interpose {
namespace {

using transports::BufferView;
using transports::Layout;

Status out_of_host_memory() noexcept {
  return {Code::out_of_memory, "an accumulate's copy in host memory"};
}

/// Two packed copies in host memory, of equal length: the caller's values and the target's.
struct PackedPair {
  explicit PackedPair(std::size_t size) : memory(HostMemory::take(2 * size)), bytes(size) {}
  [[nodiscard]] bool is_empty() const noexcept { return memory.data() == nullptr; }
  [[nodiscard]] char* origins() const noexcept { return reinterpret_cast<char*>(memory.data()); }
  [[nodiscard]] char* targets() const noexcept { return origins() + bytes; }

  HostMemory memory;
  std::size_t bytes;
};

Status accumulate_packed(Window& window, const CheckedTarget& target, const BufferView& origin,
                         const BufferView* result, MPI_Op operation, MPI_Datatype element) {
  const std::size_t bytes = target.where.bytes();
  const PackedPair packed(bytes);
  const HostMemory earlier = result != nullptr ? HostMemory::take(bytes) : HostMemory();
  if (packed.is_empty() || (result != nullptr && earlier.data() == nullptr)) return out_of_host_memory();
  if (Status fetched = transports::download(packed.origins(), origin); !fetched.ok()) return fetched;
  const PackedCombination combination(operation, element, bytes);
  MemberMemory& memory = *target.memory;
  {
    const Accumulating atomically(window.words(), target.rank);
    if (Status read = memory.read(packed.targets(), target.where); !read.ok()) return read;
    if (result != nullptr) std::memcpy(earlier.data(), packed.targets(), bytes);
    if (Status combined = combination.run(packed.origins(), packed.targets()); !combined.ok())
      return combined;
    if (Status written = memory.write(target.where, packed.targets()); !written.ok()) return written;
  }
  return result != nullptr ? transports::upload(*result, earlier.data()) : Status{};
}

/// Copies between a buffer and the target, and waits for that.
Status copy_now(MemberMemory& memory, Direction direction, const BufferView& buffer, const Layout& where) {
  std::unique_ptr<transports::Pull> pull;
  Status status = memory.start(direction, buffer, where, pull);
  if (!status.ok() || pull == nullptr) return status;
  wait_with_progress([&] {
    bool is_over = false;
    status = pull->advance(is_over);
    return is_over || !status.ok();
  });
  return status;
}

/// Returns nothing if the kernel that does it in one step is not there, or cannot do it.
std::optional<Status> update_in_one_step(Window& window, const CheckedTarget& target,
                                         const UpdateBuffers& buffers, MPI_Op operation,
                                         MPI_Datatype element) {
  const auto update = SmallUpdate::find(*target.memory, target.where, buffers, operation, element);
  if (!update) return std::nullopt;
  update->wait_for_application();
  bool is_done = false;
  const Accumulating atomically(window.words(), target.rank);
  const Status updated = update->run(is_done);
  if (updated.ok() && !is_done) return std::nullopt;
  return updated;
}

/// Returns nothing if the values must be combined in host memory.
std::optional<Status> accumulate_in_place(Window& window, const CheckedTarget& target,
                                          const BufferView& origin, const BufferView* result,
                                          MPI_Op operation, MPI_Datatype element) {
  const UpdateBuffers buffers{operation != MPI_NO_OP ? &origin : nullptr, nullptr, result};
  if (const auto updated = update_in_one_step(window, target, buffers, operation, element)) return updated;
  MemberMemory& memory = *target.memory;
  std::optional<KernelCombination> kernel;
  if (operation != MPI_REPLACE && operation != MPI_NO_OP) {
    kernel = KernelCombination::find(memory, target.where, origin, operation, element);
    if (!kernel) return std::nullopt;
    // the kernel does not wait for what the application has queued
    wait_for_queued(origin.buffer, origin.handed_over_ns);
  }
  const Accumulating atomically(window.words(), target.rank);
  if (result != nullptr) {
    if (Status read = copy_now(memory, Direction::get, *result, target.where); !read.ok()) return read;
  }
  if (kernel) return kernel->run();
  return operation == MPI_REPLACE ? copy_now(memory, Direction::put, origin, target.where) : Status{};
}

}  // namespace

int accumulate(const std::shared_ptr<Window>& window, const char* mpi_call, const CallersBuffer& origin,
               const CallersBuffer* result, const TargetPart& target, MPI_Op operation,
               MPI_Request* request) {
  if (!is_predefined(operation)) return window->raise(MPI_ERR_OP);
  const CheckedTarget checked = check_target(*window, target);
  int code = checked.code;
  if (code == MPI_SUCCESS && operation != MPI_NO_OP) code = check_buffer(origin.count, origin.datatype);
  if (code == MPI_SUCCESS && result != nullptr) code = check_buffer(result->count, result->datatype);
  if (code != MPI_SUCCESS) return window->raise(code);
  if (!checked.is_nothing) {
    const MPI_Datatype element = basic_type_of(target.datatype);
    if (element == MPI_DATATYPE_NULL && operation != MPI_REPLACE && operation != MPI_NO_OP)
      return window->raise(MPI_ERR_TYPE);
    BufferView from;
    if (operation != MPI_NO_OP) from = origin_view(origin.address, origin.count, origin.datatype);
    BufferView to;
    if (result != nullptr) to = origin_view(result->address, result->count, result->datatype);
    const std::size_t bytes = checked.where.bytes();
    if (operation != MPI_NO_OP && from.layout.bytes() != bytes) return window->raise(MPI_ERR_TRUNCATE);
    if (result != nullptr && to.layout.bytes() < bytes) return window->raise(MPI_ERR_TRUNCATE);
    if (result != nullptr) to.layout = to.layout.prefix(bytes);
    const BufferView* const earlier = result != nullptr ? &to : nullptr;
    const bool is_read = operation == MPI_NO_OP;
    const WindowCopy record = copy_that_begins(is_read ? Direction::get : Direction::put,
                                               (is_read ? to : from).buffer.kind, *checked.memory, bytes);
    const auto in_place = accumulate_in_place(*window, checked, from, earlier, operation, element);
    const Status done =
        in_place ? *in_place : accumulate_packed(*window, checked, from, earlier, operation, element);
    if (!done.ok()) return window->errors().raise_status(mpi_call, done);
    record_copy(record);
  }
  if (request != nullptr)
    attach_operation(window, mpi_call, window->keep(checked.rank, nullptr, {}), request);
  return MPI_SUCCESS;
}

namespace {

Status swap_packed(Window& window, const CheckedTarget& target, const BufferView& origin,
                   const BufferView& compared, const BufferView& result) {
  const std::size_t bytes = target.where.bytes();
  using Value = std::array<char, sizeof(std::uint64_t)>;  // the largest of the comparable ones
  Value desired{};
  Value wanted{};
  Value found{};
  if (Status fetched = transports::download(desired.data(), origin); !fetched.ok()) return fetched;
  if (Status fetched = transports::download(wanted.data(), compared); !fetched.ok()) return fetched;
  MemberMemory& memory = *target.memory;
  {
    const Accumulating atomically(window.words(), target.rank);
    if (Status read = memory.read(found.data(), target.where); !read.ok()) return read;
    if (std::memcmp(found.data(), wanted.data(), bytes) == 0) {
      if (Status written = memory.write(target.where, desired.data()); !written.ok()) return written;
    }
  }
  return transports::upload(result, found.data());
}

/// MPI compares integers, truth values and bytes.
bool is_comparable(MPI_Datatype datatype) noexcept {
  const KnownType* const type = known_type(datatype);
  return type != nullptr && type->type <= transports::ElementType::uint64;
}

}  // namespace

int compare_and_swap(Window& window, const void* origin, const void* compared, void* result,
                     const TargetPart& target) {
  const CheckedTarget checked = check_target(window, target);
  if (checked.code != MPI_SUCCESS) return window.raise(checked.code);
  if (checked.is_nothing) return MPI_SUCCESS;
  if (!is_comparable(target.datatype)) return window.raise(MPI_ERR_TYPE);
  const BufferView from = origin_view(origin, 1, target.datatype);
  const BufferView with = origin_view(compared, 1, target.datatype);
  const BufferView to = origin_view(result, 1, target.datatype);
  const WindowCopy record =
      copy_that_begins(Direction::put, from.buffer.kind, *checked.memory, checked.where.bytes());
  const auto swapped = update_in_one_step(window, checked, {&from, &with, &to}, MPI_OP_NULL, target.datatype);
  const Status done = swapped ? *swapped : swap_packed(window, checked, from, with, to);
  if (!done.ok()) return window.errors().raise_status("MPI_Compare_and_swap", done);
  record_copy(record);
  return MPI_SUCCESS;
}

}  // namespace penstock::interpose
