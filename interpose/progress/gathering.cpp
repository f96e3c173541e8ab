#include "interpose/progress/gathering.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>

#include "interpose/binding/mpi_details.hpp"
#include "interpose/calls/communicators.hpp"
#include "interpose/node/node_directory.hpp"

namespace penstock::interpose {
namespace {

/// The windows and files that the program has open. Never destroyed, as static destructors may close files.
struct Gatherings {
  std::mutex lock;
  std::unordered_map<MPI_Win, std::shared_ptr<Gathering>> windows;
  std::unordered_map<MPI_File, std::shared_ptr<Gathering>> files;
};
Gatherings& gatherings() {
  static Gatherings& all = *new Gatherings;
  return all;
}

template <typename Handle>
using OfHandles = std::unordered_map<Handle, std::shared_ptr<Gathering>>;

template <typename Handle>
std::shared_ptr<Gathering> find_gathering(OfHandles<Handle> Gatherings::*kind, Handle handle) noexcept {
  Gatherings& all = gatherings();
  const std::lock_guard guard(all.lock);
  const auto found = (all.*kind).find(handle);
  return found == (all.*kind).end() ? nullptr : found->second;
}

template <typename Handle>
void note_gathering(OfHandles<Handle> Gatherings::*kind, Handle handle, const Gathering& maker) noexcept try {
  std::shared_ptr<Gathering> made = maker.of_what_was_made();
  Gatherings& all = gatherings();
  const std::lock_guard guard(all.lock);
  (all.*kind)[handle] = std::move(made);
} catch (const std::bad_alloc&) {
  // later calls treat it as one that Penstock has not seen made
}

template <typename Handle>
void forget_gathering(OfHandles<Handle> Gatherings::*kind, Handle handle) noexcept {
  std::shared_ptr<Gathering> forgotten;  // destroyed after the lock is released
  Gatherings& all = gatherings();
  const std::lock_guard guard(all.lock);
  const auto found = (all.*kind).find(handle);
  if (found == (all.*kind).end()) return;
  forgotten = std::move(found->second);
  (all.*kind).erase(found);
}

/// Distinguishes calls on a communicator from communicators made from it, which have ids of their own.
constexpr std::uint64_t calls_on_communicator = 0x77696e646f77735full;

}  // namespace

Gathering::Gathering(std::uint64_t id, bool is_agreed, std::vector<int> members)
    : id_(id), is_agreed_(is_agreed), members_(std::move(members)) {}

std::shared_ptr<Gathering> Gathering::of_what_was_made() const {
  return std::make_shared<Gathering>(mixed_id(id_, calls_), is_agreed_, members_);
}

void Gathering::come() {
  ++calls_;
  if (is_alone()) return;
  come_ = 0;
  say();
  settle_until([this] { return have_others_come(); });
}

/// Records the arrival. Before a GPU is used no rank reads it.
void Gathering::say() noexcept try {
  DirectoryRow* const row = node_directory().own_row();
  if (!is_agreed_ || row == nullptr || !NodeDirectory::gpu_seen()) return;
  if (vote_slot_ == nullptr) {
    vote_slot_ = std::make_unique<VoteSlot>(*row, id_, Readers::among(*row, id_, members_));
  }
  if (const auto slot = vote_slot_->get()) note_arrival(*row, slot->index, ordinal());
} catch (const std::bad_alloc&) {
  // the other ranks wait until they have no work left
}

/// Returns true if all other members have arrived. For a rank on another node or without Penstock this is
/// never known.
bool Gathering::have_others_come() {
  if (!is_agreed_) return false;
  for (; come_ < members_.size(); ++come_) {
    const int member = members_[come_];
    const DirectoryRow* const row = member >= 0 ? node_directory().row_of(member) : nullptr;
    if (row == nullptr) return false;
    if (row == node_directory().own_row()) continue;
    if (look_for_arrival(*row, id_, ordinal()).seen != Seen::here) return false;
  }
  return true;
}

std::shared_ptr<Gathering> gathering_on(MPI_Comm communicator) noexcept try {
  CommunicatorInfo* const info = peek_info(communicator);
  if (info == nullptr) return nullptr;
  if (info->other_calls == nullptr) {
    info->other_calls = std::make_shared<Gathering>(mixed_id(info->global_id, calls_on_communicator),
                                                    info->id_is_agreed, members_of(communicator, *info));
  }
  return info->other_calls;
} catch (const std::bad_alloc&) {
  return nullptr;
}

std::shared_ptr<Gathering> gathering_on_window(MPI_Win window) noexcept {
  return find_gathering(&Gatherings::windows, window);
}
std::shared_ptr<Gathering> gathering_on_file(MPI_File file) noexcept {
  return find_gathering(&Gatherings::files, file);
}
void note_window(MPI_Win window, const Gathering& maker) noexcept {
  note_gathering(&Gatherings::windows, window, maker);
}
void note_file(MPI_File file, const Gathering& maker) noexcept {
  note_gathering(&Gatherings::files, file, maker);
}
void forget_window(MPI_Win window) noexcept {
  forget_gathering(&Gatherings::windows, window);
}
void forget_file(MPI_File file) noexcept {
  forget_gathering(&Gatherings::files, file);
}

void gather_group(MPI_Group group, std::uint64_t id, bool is_agreed) noexcept try {
  std::vector<int> members = world_ranks_of(group);
  if (members.size() == 1) return;
  Gathering once(unique_id(id, members), is_agreed, std::move(members));
  once.come();
} catch (const std::bad_alloc&) {
  settle();
}

bool come_to(Gathering* gathering) noexcept try {
  if (gathering == nullptr) {
    settle();
    return false;
  }
  gathering->come();
  return true;
} catch (const std::bad_alloc&) {
  return gathering != nullptr;
}

int after(Gathering& gathering, int code) noexcept {
  if (failed_alone(code)) gathering.take_back();
  return code;
}

int await_exposure_epoch(MPI_Win window) {
  if (!must_poll()) return PMPI_Win_wait(window);
  for (Backoff backoff;; backoff.pause()) {
    int is_over = 0;
    const int code = PMPI_Win_test(window, &is_over);
    if (code != MPI_SUCCESS || is_over != 0) return code;
    progress();
  }
}

}  // namespace penstock::interpose
