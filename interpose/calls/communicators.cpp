#include "interpose/calls/communicators.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <unordered_map>
#include <utility>

#include "interpose/calls/communicator_record.hpp"
#include "interpose/record/recorder.hpp"

namespace penstock::interpose {
namespace {

/// The attribute's value points to a shared pointer, so that others may keep the info.
using Holder = std::shared_ptr<CommunicatorInfo>;

constexpr std::uint32_t world_local_id = 1;
constexpr std::uint32_t self_local_id = 2;
/// Distinguishes groups of calls from the communicators that such calls make.
constexpr std::uint64_t groups_of_calls = 0x67726f7570735f5full;

/// State of the process, guarded by `lock` unless atomic. The lock is held around local MPI calls only. The
/// attribute callback, which runs inside the MPI library, never takes it.
struct Registry {
  std::mutex lock;
  std::atomic<int> keyval{MPI_KEYVAL_INVALID};
  MPI_Group world_group = MPI_GROUP_NULL;
  std::uint32_t next_local_id = self_local_id + 1;
  std::unordered_map<std::uint64_t, std::uint64_t> seen;  ///< by id before counting
  std::vector<std::pair<MPI_Comm, Origin>> in_creation;   ///< by MPI_Comm_idup, not used yet
};

// never destroyed: communicators may be freed after static destruction has begun
Registry& registry() {
  static Registry& the_registry = *new Registry;
  return the_registry;
}

/// Changes whenever a communicator is destroyed, so that no thread takes a reused handle for the old
/// communicator.
std::atomic<std::uint64_t> epoch{1};

/// The communicator that a thread used last; plain data.
struct Cache {
  std::uint64_t epoch = 0;  ///< 0: empty
  MPI_Comm communicator{};
  Holder* holder = nullptr;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Cache cache;

constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t value) noexcept {
  // the finaliser of splitmix64
  std::uint64_t z = (hash ^ value) + 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::uint64_t hash_of(std::span<const int> ranks) noexcept {
  return std::accumulate(ranks.begin(), ranks.end(), std::uint64_t{ranks.size()},
                         [](std::uint64_t hash, int rank) {
                           return mix(hash, static_cast<std::uint64_t>(static_cast<std::int64_t>(rank)));
                         });
}

std::vector<int> world_ranks_by(int (*group_of)(MPI_Comm, MPI_Group*), MPI_Comm communicator) {
  MPI_Group group = MPI_GROUP_NULL;
  group_of(communicator, &group);
  std::vector<int> ranks = world_ranks_of(group);
  PMPI_Group_free(&group);
  return ranks;
}

/// Returns an id that is the same on all ranks, also on both sides of an intercommunicator. Under the
/// registry's lock.
std::uint64_t make_global_id(Origin origin, std::uint64_t members) {
  const std::uint64_t id = mix(origin.value, members);
  if (origin.is_unique) return id;
  return mix(id, registry().seen[id]++);
}

void record_communicator(MPI_Comm communicator, const CommunicatorInfo& info) {
  if (!record::is_on()) return;
  std::array<char, MPI_MAX_OBJECT_NAME + 1> name{};
  int length = 0;
  PMPI_Comm_get_name(communicator, name.data(), &length);
  record_members(info.global_id, info.local_id, name.data(), info);
}

/// Under the registry's lock.
std::uint32_t make_local_id(MPI_Comm communicator) {
  if (communicator == MPI_COMM_WORLD) return world_local_id;
  if (communicator == MPI_COMM_SELF) return self_local_id;
  return registry().next_local_id++;
}

/// Under the registry's lock.
Holder make_info(MPI_Comm communicator, Origin origin) {
  auto info = std::make_shared<CommunicatorInfo>();
  info->handle = communicator;
  int is_inter = 0;
  PMPI_Comm_test_inter(communicator, &is_inter);
  PMPI_Comm_rank(communicator, &info->rank);
  PMPI_Comm_size(communicator, &info->size);
  info->is_inter = is_inter != 0;
  std::vector<int> local = world_ranks_by(PMPI_Comm_group, communicator);
  std::uint64_t members = hash_of(local);
  if (info->is_inter) {
    info->world_ranks = world_ranks_by(PMPI_Comm_remote_group, communicator);
    const std::uint64_t remote_members = hash_of(info->world_ranks);
    members = mix(std::min(members, remote_members), std::max(members, remote_members));
  } else {
    info->world_ranks = std::move(local);
  }
  info->global_id = make_global_id(origin, members);
  info->id_is_agreed = origin.is_agreed;
  info->is_for_collectives = origin.is_for_collectives;
  info->is_vertex_set.store(origin.is_vertex_set, std::memory_order_relaxed);
  info->local_id = make_local_id(communicator);
  if (!info->is_for_collectives) record_communicator(communicator, *info);
  return info;
}

/// Takes the origin that was recorded for a handle in creation. Under the registry's lock.
Origin take_origin(MPI_Comm communicator) {
  auto& in_creation = registry().in_creation;
  const auto found = std::find_if(in_creation.begin(), in_creation.end(),
                                  [&](const auto& entry) { return entry.first == communicator; });
  if (found == in_creation.end()) return {};
  const Origin origin = found->second;
  in_creation.erase(found);
  return origin;
}

Holder* get_attribute(MPI_Comm communicator, int keyval) {
  void* value = nullptr;
  int found = 0;
  if (PMPI_Comm_get_attr(communicator, keyval, static_cast<void*>(&value), &found) != MPI_SUCCESS)
    return nullptr;
  return found != 0 ? static_cast<Holder*>(value) : nullptr;
}

/// Returns the communicator's info; calls `origin` only if the info has to be made. Null for an invalid
/// communicator.
template <typename OriginSource>
Holder* get_or_make(MPI_Comm communicator, OriginSource origin) {
  Registry& all = registry();
  const int keyval = all.keyval.load(std::memory_order_acquire);
  if (keyval == MPI_KEYVAL_INVALID) return nullptr;
  if (Holder* const holder = get_attribute(communicator, keyval)) return holder;
  const std::lock_guard guard(all.lock);
  // another thread may have been faster
  if (Holder* const holder = get_attribute(communicator, keyval)) return holder;
  auto holder = std::make_unique<Holder>(make_info(communicator, origin()));
  if (PMPI_Comm_set_attr(communicator, keyval, holder.get()) != MPI_SUCCESS) return nullptr;
  return holder.release();
}

Holder* find_holder(MPI_Comm communicator) noexcept {
  const std::uint64_t now = epoch.load(std::memory_order_acquire);
  if (cache.epoch == now && cache.communicator == communicator) return cache.holder;
  if (communicator == MPI_COMM_NULL) return nullptr;
  try {
    Holder* const holder = get_or_make(communicator, [&] { return take_origin(communicator); });
    if (holder != nullptr) cache = {now, communicator, holder};
    return holder;
  } catch (...) {  // out of memory
    return nullptr;
  }
}

/// Under the registry's lock, before the MPI library frees the handle.
void let_go(CommunicatorInfo& info) noexcept {
  if (std::exchange(info.is_gone, true)) return;
  info.errors.take_from(info.handle);
}

extern "C" {
// Open MPI's MPI_COMM_NULL_COPY_FN is a function of its library; this one is equivalent.
static int never_copy(MPI_Comm, int, void*, void*, void*, int* copies) {
  *copies = 0;
  return MPI_SUCCESS;
}

static int drop_info(MPI_Comm, int, void* holder, void*) {
  epoch.fetch_add(1, std::memory_order_acq_rel);
  delete static_cast<Holder*>(holder);
  return MPI_SUCCESS;
}
}

}  // namespace

std::vector<int> world_ranks_of(MPI_Group group) {
  int size = 0;
  PMPI_Group_size(group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<int> world_ranks(ranks.size());
  PMPI_Group_translate_ranks(group, size, ranks.data(), registry().world_group, world_ranks.data());
  std::replace(world_ranks.begin(), world_ranks.end(), int{MPI_UNDEFINED}, -1);
  return world_ranks;
}

std::uint64_t mixed_id(std::uint64_t id, std::uint64_t number) noexcept {
  return mix(id, number);
}

std::uint64_t unique_id(std::uint64_t id, std::span<const int> members) {
  const std::lock_guard guard(registry().lock);
  return make_global_id({.value = mixed_id(id, groups_of_calls)}, hash_of(members));
}

std::shared_ptr<CommunicatorInfo> info_of(MPI_Comm communicator) noexcept {
  const Holder* const holder = find_holder(communicator);
  return holder != nullptr ? *holder : nullptr;
}

CommunicatorInfo* peek_info(MPI_Comm communicator) noexcept {
  const Holder* const holder = find_holder(communicator);
  return holder != nullptr ? holder->get() : nullptr;
}

std::shared_ptr<CommunicatorInfo> known_info(MPI_Comm communicator) noexcept {
  const int keyval = registry().keyval.load(std::memory_order_acquire);
  const bool may_be_known = keyval != MPI_KEYVAL_INVALID && communicator != MPI_COMM_NULL;
  const Holder* const holder = may_be_known ? get_attribute(communicator, keyval) : nullptr;
  return holder != nullptr ? *holder : nullptr;
}

void forget_agreement(MPI_Comm communicator) noexcept {
  const std::lock_guard guard(registry().lock);
  for (auto& [handle, origin] : registry().in_creation) origin.is_agreed &= handle != communicator;
}

int world_rank_of(MPI_Comm communicator, int rank) noexcept {
  if (rank == MPI_PROC_NULL || rank == MPI_ANY_SOURCE) return rank;
  const CommunicatorInfo* const info = peek_info(communicator);
  return info != nullptr ? world_rank_of(*info, rank) : -1;
}

int world_rank_of(const CommunicatorInfo& info, int rank) noexcept {
  if (rank < 0 || static_cast<std::size_t>(rank) >= info.world_ranks.size()) return -1;
  return info.world_ranks[static_cast<std::size_t>(rank)];
}

std::vector<int> members_of(MPI_Comm communicator, const CommunicatorInfo& info) {
  std::vector<int> members = info.world_ranks;
  if (!info.is_inter) return members;
  const std::vector<int> local = world_ranks_by(PMPI_Comm_group, communicator);
  members.insert(members.end(), local.begin(), local.end());
  return members;
}

Origin origin_from(MPI_Comm parent) noexcept {
  CommunicatorInfo* const info = peek_info(parent);
  if (info == nullptr) return {};
  return {mix(info->global_id, info->creations.fetch_add(1, std::memory_order_relaxed) + 1u), true,
          info->id_is_agreed};
}

Origin origin_for_collectives_of(const CommunicatorInfo& parent) noexcept {
  return {mix(parent.global_id, ~std::uint64_t{0}), true, parent.id_is_agreed, true};
}

void take_back_origin_from(MPI_Comm parent) noexcept {
  if (CommunicatorInfo* const info = peek_info(parent)) {
    info->creations.fetch_sub(1, std::memory_order_relaxed);
  }
}

Origin origin_among_members(std::uint64_t tag) noexcept {
  return {mix(1, tag), false, true};
}

void note_created(MPI_Comm communicator, Origin origin) noexcept {
  if (communicator == MPI_COMM_NULL) return;
  try {
    static_cast<void>(get_or_make(communicator, [&] { return origin; }));
  } catch (...) {  // out of memory: retried when the communicator is used
  }
}

void note_creating(MPI_Comm communicator, Origin origin) noexcept {
  try {
    const std::lock_guard guard(registry().lock);
    registry().in_creation.emplace_back(communicator, origin);
  } catch (...) {  // out of memory: the communicator gets its id at first use
  }
}

void note_named(MPI_Comm communicator) noexcept {
  const CommunicatorInfo* const info = peek_info(communicator);
  if (info == nullptr) return;
  try {
    record_communicator(communicator, *info);
  } catch (...) {  // out of memory: the report shows the old name
  }
}

void note_freeing(MPI_Comm communicator) noexcept {
  const std::shared_ptr<CommunicatorInfo> info = info_of(communicator);
  const std::lock_guard guard(registry().lock);
  take_origin(communicator);
  if (info != nullptr) let_go(*info);
}

void note_not_freed(MPI_Comm communicator) noexcept {
  const std::shared_ptr<CommunicatorInfo> info = info_of(communicator);
  if (info == nullptr) return;
  const std::lock_guard guard(registry().lock);
  info->is_gone = false;
  info->errors.drop();
}

HeldCommunicator::HeldCommunicator(std::shared_ptr<CommunicatorInfo> info) noexcept : info_(std::move(info)) {
  if (info_ == nullptr) return;
  const std::lock_guard guard(registry().lock);
  if (info_->is_gone) {
    info_.reset();
  } else {
    ++info_->holders;
  }
}

HeldCommunicator::~HeldCommunicator() {
  if (info_ == nullptr) return;
  {
    const std::lock_guard guard(registry().lock);
    if (--info_->holders != 0 || !info_->is_freed) return;
    let_go(*info_);
  }
  MPI_Comm handle = info_->handle;
  PMPI_Comm_free(&handle);
}

bool is_kept(MPI_Comm communicator) noexcept {
  const std::shared_ptr<CommunicatorInfo> info = info_of(communicator);
  if (info == nullptr) return false;
  const std::lock_guard guard(registry().lock);
  info->is_freed = info->holders != 0;
  if (!info->is_freed) let_go(*info);
  return info->is_freed;
}

void call_error_handler(const std::shared_ptr<CommunicatorInfo>& info, int code) {
  // another thread, or the handler itself, may free the communicator meanwhile
  const HeldCommunicator held(info);
  if (held.is_valid()) {
    PMPI_Comm_call_errhandler(info->handle, code);
  } else {
    info->errors.call(code);
  }
}

void open_communicators() noexcept {
  Registry& all = registry();
  int keyval = MPI_KEYVAL_INVALID;
  if (PMPI_Comm_create_keyval(never_copy, drop_info, &keyval, nullptr) != MPI_SUCCESS) return;
  PMPI_Comm_group(MPI_COMM_WORLD, &all.world_group);
  all.keyval.store(keyval, std::memory_order_release);
  constexpr Origin predefined{.is_agreed = true};
  note_created(MPI_COMM_WORLD, predefined);
  note_created(MPI_COMM_SELF, predefined);
}

void close_communicators() noexcept {
  Registry& all = registry();
  int keyval = all.keyval.exchange(MPI_KEYVAL_INVALID);
  if (keyval == MPI_KEYVAL_INVALID) return;
  // MPI_COMM_SELF's is deleted in MPI_Finalize, and this may run in one of its callbacks
  if (get_attribute(MPI_COMM_WORLD, keyval) != nullptr) PMPI_Comm_delete_attr(MPI_COMM_WORLD, keyval);
  PMPI_Group_free(&all.world_group);
  // communicators that were never freed keep the key alive until MPI_Finalize drops them
  PMPI_Comm_free_keyval(&keyval);
}

}  // namespace penstock::interpose
