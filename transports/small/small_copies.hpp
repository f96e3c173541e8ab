// The interface of all that makes small copies fast: a resident kernel, and batches of copies by one launch.
// A copy call costs its caller microseconds however few bytes it moves. Knows neither offers nor how the
// sources became addressable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "transports/copies/copy_kernels.hpp"
#include "transports/copies/copy_pull.hpp"
#include "transports/kernels/element_update.hpp"
#include "transports/kernels/one_shot_collective.hpp"

namespace penstock::transports {

/// Sets how long the resident kernel stays while idle, as long as the program's thread is inside MPI calls.
/// 0, the initial value: never use one. Thread: any.
void set_linger(std::uint64_t linger_ns) noexcept;

/// Returns whether kernels of the context can copy to there, from device memory whose layout nested loops
/// describe.
[[nodiscard]] bool can_copy_by_kernel(const BufferView& destination,
                                      const cuda::ContextRef& context) noexcept;

/// Starts a copy from or into a layout in pieces by a kernel, alone or batched; `pull` stays null if no
/// kernel suits the copy. Thread: any; the pull one at a time. Errors: `declined` as long as nothing was
/// copied; the driver's refusal.
[[nodiscard]] Status start_strided_copy(const CopySource& source, const BufferView& destination,
                                        const cuda::ContextRef& context, std::unique_ptr<Pull>& pull);

/// Starts a small copy, both sides contiguous: by the resident kernel, in a batch, or, if neither serves, by
/// the copy engine, which makes it likelier that a kernel is resident for the next. `pull` stays null if no
/// kernel suits the copy. Thread: any; the pull one at a time. Errors: as CopyPull's; `declined` if the
/// driver cannot run our kernels.
[[nodiscard]] Status start_small_copy(const CopySource& source, const BufferView& destination,
                                      const cuda::ContextRef& context, std::unique_ptr<Pull>& pull);

/// Starts several copies by one launch, behind the work that the application had queued in the context at
/// `handed_over_ns` (0: now). There are at most CopyKernels::most_items; they may run in any order. Kernels
/// of the context must reach all of their memory, which `keeper` keeps mapped. Thread: any; the pull one at a
/// time. Errors: the driver's refusal; `declined` if no kernel serves: nothing was copied.
[[nodiscard]] Status start_together(std::span<const CopyItem> items, std::uint64_t handed_over_ns,
                                    const cuda::ContextRef& context, std::shared_ptr<const void> keeper,
                                    std::unique_ptr<Pull>& pull);

/// Starts a copy within a device by the resident kernel; null if none is ready for it. Thread: any; the pull
/// one at a time.
[[nodiscard]] std::unique_ptr<Pull> copy_by_resident_kernel(const CopySource& source,
                                                            const BufferView& destination,
                                                            const cuda::ContextRef& context);

/// Copies between a device and host memory, at once, if a resident kernel is ready and the application's
/// earlier work is done. False: nothing was copied, for whatever reason. Thread: any.
[[nodiscard]] bool download_by_resident_kernel(void* to, const BufferView& source,
                                               const cuda::ContextRef& context) noexcept;
[[nodiscard]] bool upload_by_resident_kernel(const BufferView& destination, const void* from,
                                             const cuda::ContextRef& context) noexcept;

struct Upload {
  const BufferView* view;
  const char* host;
};
inline constexpr std::size_t most_joint_uploads = 64;
/// Larger payloads do not go through the MPI library (Tuning::uploaded_from, as shipped).
inline constexpr std::size_t largest_joint_upload = 16384;
/// Makes several such uploads by one launch, with room for most_joint_uploads of largest_joint_upload each: a
/// launch and its end take as long as two or three orders of a resident kernel (H200: 8 to 9 µs). Waits for
/// the application's earlier work, as far as it concerns one of them. False: they have to be made one by one,
/// for whatever reason; some may have been made. They may be made in any order: if two overlap, either's
/// bytes may stay. Thread: any.
[[nodiscard]] bool upload_together(std::span<const Upload> uploads) noexcept;
/// Returns whether the upload to there can be one of them. They must all be in one context, too.
[[nodiscard]] bool suits_a_joint_upload(const BufferView& view) noexcept;

/// The bytes, below 4 GiB, that a process sends to and receives from each process in a one-shot collective,
/// including its part to itself.
struct OneShotParts {
  std::uint64_t sent[kernels::most_sources];
  std::uint64_t received[kernels::most_sources];  ///< all equal for vectors
  bool is_for_each;                               ///< as in kernels::OneShotCollective
  bool is_checked;
};
[[nodiscard]] std::uint64_t largest_of(const OneShotParts& parts) noexcept;

/// A one-shot collective (transports/one_shot) for the resident kernel.
struct OneShotOrder {
  const void* own = nullptr;
  void* to = nullptr;
  OneShotParts parts{};                          ///< none larger than largest_one_shot_order
  std::uint32_t combined = 0;                    ///< as in kernels::OneShotCollective
  const kernels::OneShotRoute* route = nullptr;  ///< in device memory
  std::uint32_t stamp = 0;
  kernels::ResidentType type{};
  kernels::ReductionOperation operation{};
};
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
/// Above this size one block takes longer than a launch: 16 KiB take 13 µs by one block and 14.6 by a launch,
/// 32 KiB 17 and 14.9 (two H100). Several blocks must share larger ones; from 512 KiB on, a launch is as fast
/// again.
inline constexpr std::uint32_t largest_unshared_one_shot_order = 16384;
inline constexpr std::uint32_t largest_one_shot_order = 262144;
/// Orders the collective; null if no kernel is ready for it. Thread: any.
[[nodiscard]] std::unique_ptr<OrderedCollective> order_one_shot(const OneShotOrder& order,
                                                                const cuda::ContextRef& context);

/// An update in place (kernels::ElementUpdate) for the resident kernel. All device memory is of the context
/// or mapped in it, and aligned as the elements are.
struct UpdateOrder {
  /// At an address on the device, or a value.
  struct Operand {
    const void* address = nullptr;
    std::uint64_t value = 0;
  };
  void* target = nullptr;
  Operand operand;
  Operand compared;
  void* result = nullptr;       ///< on the device, or
  void* host_result = nullptr;  ///< in host memory; both null: the earlier values are not wanted
  std::uint32_t bytes = 0;      ///< of all elements; at most kernels::largest_update
  std::uint32_t element_bytes = 0;
  kernels::UpdateKind kind{};
  kernels::ResidentType type{};
  kernels::ReductionOperation operation{};
};
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

/// Launches the small pulls that are collected for a batch, as the caller will not step them for a while.
/// Thread: any. Cost, if there are none: some ns.
void launch_collected() noexcept;

/// Dismisses all resident kernels and waits for them, a bounded time. For shut_down().
void end_resident_kernels() noexcept;

}  // namespace penstock::transports
