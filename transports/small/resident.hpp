// Decides when a kernel is resident for small copies, and gives it what it can do. The kernel is launched
// only while small copies follow each other quickly, so that it does not wait in vain, and while the caller
// waits for one of them anyway. Knows neither offers nor how the sources became addressable.
#pragma once

#include <cstdint>
#include <memory>

#include "transports/copies/copy_pull.hpp"
#include "transports/small/resident_orders.hpp"

namespace penstock::transports {

/// Sets how long the resident kernel stays while idle, as long as the program's thread is inside MPI calls.
/// 0, the initial value: never use one. Thread: any.
void set_linger(std::uint64_t linger_ns) noexcept;

/// Returns whether the resident kernel could make this copy into an idle view. The source lies on a device
/// that kernels of the context reach; the destination on a device, or in host memory if the copy is so small
/// that a bounce buffer does not slow it down.
[[nodiscard]] bool suits_resident_kernel(const CopySource& source, const BufferView& destination) noexcept;
/// Returns whether several blocks of the kernel would share the copy.
[[nodiscard]] bool suits_sharing(const CopySource& source, const BufferView& destination) noexcept;
/// Starts a copy that suits_resident_kernel() if a kernel is ready; else returns null. Thread: any; the pull
/// one at a time. Errors of the pull: as CopyPull's.
[[nodiscard]] std::unique_ptr<Pull> start_on_resident_kernel(const CopySource& source,
                                                             const BufferView& destination,
                                                             const cuda::ContextRef& context);

/// Starts such a copy by the resident kernel if one is ready, else by the copy engine, or, for layouts in
/// pieces, by a launch of its own, and notes that the kernel could have made it. Errors: as CopyPull's,
/// start_by_kernel()'s.
[[nodiscard]] Status start_on_resident_kernel_or_otherwise(const CopySource& source,
                                                           const BufferView& destination,
                                                           const cuda::ContextRef& context,
                                                           std::unique_ptr<Pull>& pull);

/// Copies between a device and host memory, at once, if a resident kernel is ready and the application's
/// earlier work is done. False: nothing was copied, for whatever reason. Thread: any.
[[nodiscard]] bool download_by_resident_kernel(void* to, const BufferView& source,
                                               const cuda::ContextRef& context) noexcept;
[[nodiscard]] bool upload_by_resident_kernel(const BufferView& destination, const void* from,
                                             const cuda::ContextRef& context) noexcept;

/// A one-shot collective that was ordered. The destructor waits until the kernel has left it. Thread: one at
/// a time.
class OrderedCollective {
 public:
  enum class Outcome : std::uint8_t {
    pending,
    complete,
    incomplete,  ///< this rank's part was sent, but others were late or have sent something else
    missed       ///< nothing was done: the kernel had left
  };
  virtual ~OrderedCollective() = default;
  /// Errors: the kernel has failed.
  [[nodiscard]] virtual Status query(Outcome& outcome) noexcept = 0;
};
/// Orders the collective; null if no kernel is ready for it. Thread: any.
[[nodiscard]] std::unique_ptr<OrderedCollective> order_one_shot(const OneShotOrder& order,
                                                                const cuda::ContextRef& context);

/// Makes the update, at once, if a resident kernel is ready; the application's earlier work is done.
/// `is_done` false: nothing was changed, and a kernel has become likelier for the next. Thread: any. Errors:
/// the kernel has failed.
[[nodiscard]] Status update_by_resident_kernel(const UpdateOrder& order, const cuda::ContextRef& context,
                                               bool& is_done) noexcept;

/// Notes a copy that the resident kernel could have made; enough of them launch the kernel. Cost: a load if
/// lingering is off; else some tens of ns, and now and then a launch (2.6 µs on an H200 host). `known`:
/// memory of the context's device, not managed. `is_shared`: several blocks would share the copy. Thread:
/// any.
void note_small_copy(const cuda::ContextRef& context, const void* known, bool is_shared = false) noexcept;

/// Dismisses all resident kernels and waits for them, a bounded time. For shut_down().
void end_resident_kernels() noexcept;

}  // namespace penstock::transports
