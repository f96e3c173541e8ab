// A window of which some member's memory is, or may be, device memory: its members, its epochs, and the
// operations that have begun and are not complete. Knows no MPI call but those that raise errors.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "interpose/calls/errors.hpp"
#include "interpose/calls/transfer_record.hpp"
#include "interpose/windows/access_forecast.hpp"
#include "interpose/windows/memory/allocated_memory.hpp"
#include "interpose/windows/memory/attached_regions.hpp"
#include "interpose/windows/memory/member_memory.hpp"
#include "interpose/windows/memory/region_cache.hpp"
#include "interpose/windows/memory/shared_parts.hpp"
#include "interpose/windows/memory/shared_words.hpp"
#include "interpose/windows/small_accesses.hpp"
#include "transports/copies/pull.hpp"
#include "transports/host/callers_mutex.hpp"

namespace penstock::interpose {

/// A copy that a call has begun, or several that begin together. Changed under its window's mutex.
struct WindowOperation {
  std::unique_ptr<transports::Pull> pull;  ///< null once it is over, and while it is begun
  Status status;
  std::optional<std::size_t> target;  ///< none: several may be meant
  bool has_begun = true;
  WindowCopy record;
};

/// What the members have attached to a window of MPI_Win_create_dynamic.
struct DynamicMemory {
  /// `tables`: of each member.
  DynamicMemory(std::size_t rank, const std::vector<RegionTable>& tables) : own(tables[rank]), all(tables) {}

  AttachedRegions own;
  RegionCache all;  ///< as this rank reaches them; its own, too
};

/// What lies behind a window.
struct WindowMemory {
  std::vector<std::shared_ptr<MemberMemory>> members;  ///< of a dynamic window: none
  AllocatedMemory allocated;                           ///< of MPI_Win_allocate
  SharedParts shared;                                  ///< words, and tables of regions
  std::unique_ptr<DynamicMemory> dynamic;              ///< null for other windows
};

/// What MPI_Win_get_attr returns pointers to.
struct WindowAttributes {
  void* base = nullptr;
  MPI_Aint size = 0;
  int unit = 1;
  int flavor = MPI_WIN_FLAVOR_CREATE;
  int model = MPI_WIN_UNIFIED;
};

/// How this rank holds a target's lock.
enum class Held : std::uint8_t { no, shared, exclusive, unchecked };

/// Which synchronisation allows this rank's operations.
enum class Access : std::uint8_t { none, fence, group, locks, all_locked };

/// The epochs of one rank on a window. Changed under the window's mutex.
struct Epochs {
  Access access = Access::none;
  std::vector<Held> held;            ///< of each target
  std::size_t locks = 0;             ///< targets whose lock is held or awaited
  std::vector<std::size_t> targets;  ///< of MPI_Win_start
  std::vector<std::size_t> origins;  ///< of MPI_Win_post that MPI_Win_wait has not ended
  bool is_exposed = false;
  std::vector<std::uint32_t> posts_seen;        ///< of each target
  std::vector<std::uint32_t> completions_seen;  ///< of each origin
};

/// Thread: any, as far as MPI allows; epochs are opened and closed by one thread at a time. Errors: as a
/// Status.
class Window {
 public:
  Window(MPI_Win handle, std::size_t rank, WindowMemory memory, SharedWords words,
         const WindowAttributes& attributes);

  [[nodiscard]] MPI_Win handle() const noexcept { return handle_; }
  [[nodiscard]] ErrorTarget errors() const noexcept { return ErrorTarget::of_window(handle_); }
  /// Where errors of requests are raised, which may outlive the handle.
  [[nodiscard]] ErrorTarget errors_of_requests() const noexcept {
    return is_freed_.load() ? ErrorTarget::of(MPI_COMM_NULL) : errors();
  }
  void note_freed() noexcept { is_freed_.store(true); }
  int raise(int code) const { return errors().raise(code); }
  [[nodiscard]] std::size_t rank() const noexcept { return rank_; }
  [[nodiscard]] std::size_t size() const noexcept { return words_.members(); }
  /// Not of a dynamic window.
  [[nodiscard]] const std::shared_ptr<MemberMemory>& member(std::size_t rank) const noexcept {
    return memory_.members[rank];
  }
  /// Returns the lowest rank that has memory in the window; 0 if none has. Not of a dynamic window.
  [[nodiscard]] std::size_t first_with_memory() const noexcept;
  /// Unmaps the members' memory, behind the last access.
  void close_members() noexcept;
  /// Null if the window is not dynamic.
  [[nodiscard]] DynamicMemory* dynamic() const noexcept { return memory_.dynamic.get(); }
  [[nodiscard]] const SharedWords& words() const noexcept { return words_; }
  [[nodiscard]] WindowAttributes& attributes() noexcept { return attributes_; }

  [[nodiscard]] transports::CallersMutex& mutex() noexcept { return mutex_; }
  /// Under the mutex.
  [[nodiscard]] Epochs& epochs() noexcept { return epochs_; }
  /// Returns whether this rank may access that target's memory now.
  [[nodiscard]] bool may_access(std::size_t target);

  /// Takes over a copy that has begun. It is recorded once it is over.
  [[nodiscard]] std::shared_ptr<WindowOperation> keep(std::size_t target,
                                                      std::unique_ptr<transports::Pull> pull,
                                                      const WindowCopy& record);
  /// Steps one, which the caller has a share of; returns whether it is over. Then the window forgets it.
  [[nodiscard]] bool step(WindowOperation& operation);
  /// Returns whether the window has taken over an access, which begins with others when it must. False: the
  /// caller begins it at once, and then calls note_begun(). Errors: std::bad_alloc.
  [[nodiscard]] bool hold_back(const SmallAccess& access);
  void note_begun() noexcept;
  /// Begins what was held back. Not to be called by what progress() steps. Errors: std::bad_alloc.
  void begin_held_back();

  /// Completes this rank's operations on a target (none: on all), with progress. Returns the first failure.
  [[nodiscard]] Status complete(std::optional<std::size_t> target);

  /// Waits, with progress, for what the application has queued on the GPU of this rank's own memory.
  void wait_for_kernels();
  /// Waits, with progress, until all members have come as often as this one.
  void meet();

 private:
  /// Steps one under the mutex; returns whether it is over.
  [[nodiscard]] static bool advance(WindowOperation& operation) noexcept;
  [[nodiscard]] bool step_all(std::optional<std::size_t> target) noexcept;

  MPI_Win handle_;
  std::size_t rank_;
  WindowMemory memory_;
  SharedWords words_;
  WindowAttributes attributes_;
  transports::CallersMutex mutex_;
  Epochs epochs_;
  std::vector<std::shared_ptr<WindowOperation>> operations_;  ///< none that is over
  std::vector<SmallAccess> held_back_;
  std::size_t held_back_bytes_ = 0;
  AccessForecast forecast_;
  std::atomic<bool> is_freed_{false};
  Status failure_;  ///< the first of an operation since the last complete()
};

}  // namespace penstock::interpose
