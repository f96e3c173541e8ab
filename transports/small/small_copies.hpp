// The one way into what makes small copies fast: a kernel that stands by on the GPU, and batches of copies by
// one launch. A copy call costs its caller microseconds however few bytes it moves. Knows neither offers nor
// how the sources came to be addressable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "transports/copies/copy_pull.hpp"
#include "transports/kernels/fused_collective.hpp"

namespace penstock::transports {

/// How long the kernel stays when it has nothing to do, while the program's thread is inside MPI calls; 0, as
/// at the start: never use one. Thread: any.
void set_linger(std::uint64_t linger_ns) noexcept;

/// Can kernels of the context copy to there, from device memory whose layout nested loops tell?
[[nodiscard]] bool can_copy_by_kernel(const Place& destination, const cuda::ContextRef& context) noexcept;

/// Starts a copy from or into a layout in pieces by a kernel, alone or with others of its time; `pull` stays
/// null if it is none for a kernel. Thread: any; the pull one at a time. Errors: `declined` as long as
/// nothing was copied; the driver's refusal.
[[nodiscard]] Status start_strided_copy(const CopySource& source, const Place& destination,
                                        const cuda::ContextRef& context, std::unique_ptr<Pull>& pull);

/// Starts a small copy: by the kernel that stands by, with others of its time, or, where neither serves, by
/// the copy engine, which makes it likelier that the kernel stands by for the next. `pull` stays null if the
/// copy is none for a kernel. Thread: any; the pull one at a time. Errors: as CopyPull's; `declined` where
/// the driver cannot run our kernels. Both sides are contiguous.
[[nodiscard]] Status start_small_copy(const CopySource& source, const Place& destination,
                                      const cuda::ContextRef& context, std::unique_ptr<Pull>& pull);

/// Within a device, by the kernel that stands by; null if none is ready for it. Thread: any; the pull one at
/// a time.
[[nodiscard]] std::unique_ptr<Pull> copy_standing_by(const CopySource& source, const Place& destination,
                                                     const cuda::ContextRef& context);

/// Between a device and host memory, at once, if a kernel is ready and the application's earlier work is
/// done. False: nothing was copied, for whatever reason. Thread: any.
[[nodiscard]] bool download_standing_by(void* to, const Place& source,
                                        const cuda::ContextRef& context) noexcept;
[[nodiscard]] bool upload_standing_by(const Place& destination, const void* from,
                                      const cuda::ContextRef& context) noexcept;

struct Upload {
  const Place* place;
  const char* host;
};
inline constexpr std::size_t most_joint_uploads = 64;
/// Larger payloads do not come through the MPI library (Tuning::uploaded_from, as shipped).
inline constexpr std::size_t largest_joint_upload = 16384;
/// Several such uploads by one launch, with room for most_joint_uploads of largest_joint_upload each: a
/// launch and its end take as long as two or three orders (H200: 8 to 9 µs). Waits for the application's
/// earlier work, as far as it concerns one of them. False: they have to be made one by one, for whatever
/// reason; some may have been. They may be made in any order: of those that overlap, either's bytes may stay.
/// Thread: any.
[[nodiscard]] bool upload_together(std::span<const Upload> uploads) noexcept;
/// Can the upload to there be one of them? Besides, all are in one context.
[[nodiscard]] bool suits_a_joint_upload(const Place& place) noexcept;

/// What a process sends to each and gets from each in a fused collective, its own part to itself, too. Bytes,
/// below 4 GiB.
struct FusedParts {
  std::uint64_t sent[kernels::most_sources];
  std::uint64_t received[kernels::most_sources];  ///< of vectors all alike
  bool is_for_each;                               ///< as FusedCollective's of the kernels
  bool is_checked;
};
[[nodiscard]] std::uint64_t largest_of(const FusedParts& parts) noexcept;

/// A fused collective (transports/fused) for the kernel that stands by.
struct FusedOrder {
  const void* own = nullptr;
  void* to = nullptr;
  FusedParts parts{};                          ///< none of more than largest_fused_order
  std::uint32_t combined = 0;                  ///< as FusedCollective's of the kernels
  const kernels::FusedRoute* route = nullptr;  ///< in device memory
  std::uint32_t stamp = 0;
  kernels::StandbyType type{};
  kernels::ReductionOperation operation{};
};
/// One that was ordered. The destructor waits until the kernel has left it. Thread: one at a time.
class OrderedCollective {
 public:
  enum class Outcome : std::uint8_t {
    pending,
    complete,
    incomplete,  ///< its part was sent, but others were late, or have sent something else
    missed       ///< nothing was done: the kernel had left
  };
  virtual ~OrderedCollective() = default;
  /// Error: the kernel has failed.
  [[nodiscard]] virtual Status query(Outcome& outcome) noexcept = 0;
};
/// More takes one block longer than a launch: of 16 KiB 13 µs and 14.6, of 32 KiB 17 and 14.9 (two H100). So
/// several have to share it; from 512 KiB on a launch is as fast again.
inline constexpr std::uint32_t largest_unshared_fused_order = 16384;
inline constexpr std::uint32_t largest_fused_order = 262144;
/// Null if no kernel is ready for it. Thread: any.
[[nodiscard]] std::unique_ptr<OrderedCollective> order_fused(const FusedOrder& order,
                                                             const cuda::ContextRef& context);

/// A copy that a kernel could have made is under way otherwise. Cost: a load while there is no lingering;
/// else some tens of ns, and now and then a launch (2.6 µs on an H200 host). `known`: memory of the context's
/// device, not managed. `is_shared`: of those that several blocks would share. Thread: any.
void note_small_copy(const cuda::ContextRef& context, const void* known, bool is_shared = false) noexcept;

/// Small pulls wait for others to come, so as to go together: no longer, as nobody will step them for a
/// while. Thread: any. Cost, if there are none: some ns.
void launch_collected() noexcept;

/// Sends all kernels away and waits for them, a bounded time. For shut_down().
void end_standing_by() noexcept;

}  // namespace penstock::transports
