#include "interpose/collectives/agreement/spare_communicators.hpp"

#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>

#include "interpose/calls/communicators.hpp"
#include "interpose/collectives/agreement/collective_arrival.hpp"
#include "interpose/collectives/deferred/deferred_collectives.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/node/policy.hpp"
#include "interpose/progress/request_table.hpp"

namespace penstock::interpose {
namespace {

/// Never destroyed: communicators may be freed after static destruction has begun.
struct Spares {
  std::mutex lock;
  std::unordered_map<const CommunicatorInfo*, std::weak_ptr<CommunicatorInfo>> all;
  bool are_wanted = true;
};
Spares& spares() {
  static Spares& instance = *new Spares;
  return instance;
}

/// Returns whether MPICH has run out of communicators, of which it has 2,048. (Open MPI has no practical
/// limit.) MPICH finds out by a collective call that the ranks have none in common, and has no error class
/// for it.
bool is_for_want_of_communicators(int code) noexcept {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (PMPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) return false;
  return std::strstr(text.data(), "Too many communicators") != nullptr ||
         std::strstr(text.data(), "Cannot allocate context ID") != nullptr;
}

}  // namespace

void note_spare(const std::shared_ptr<CommunicatorInfo>& info) noexcept try {
  const std::lock_guard guard(spares().lock);
  spares().all[info.get()] = info;
} catch (const std::bad_alloc&) {
  // this one is not given back then
}

void forget_spare(const CommunicatorInfo& info) noexcept {
  const std::lock_guard guard(spares().lock);
  spares().all.erase(&info);
}

bool are_spares_wanted() noexcept {
  const std::lock_guard guard(spares().lock);
  return spares().are_wanted && spares().all.size() < policy::most_spare_communicators;
}

void note_shortage() noexcept {
  const std::lock_guard guard(spares().lock);
  spares().are_wanted = false;
}

bool may_give_back(MPI_Comm parent) {
  CommunicatorInfo* const info = NodeDirectory::gpu_seen() ? peek_info(parent) : nullptr;
  return info != nullptr && are_all_on_node(parent, *info);
}

bool give_back_spares(int code) noexcept {
  if (!is_for_want_of_communicators(code)) return false;
  note_shortage();
  request_table().close_sentinel();
  decltype(Spares::all) all;
  {
    const std::lock_guard guard(spares().lock);
    all.swap(spares().all);
  }
  for (const auto& [key, spare] : all) {
    const std::shared_ptr<CommunicatorInfo> info = spare.lock();
    if (info != nullptr && info->deferred->give_back()) free_given_back(*info);
  }
  return true;
}

void free_given_back(CommunicatorInfo& info) noexcept {
  // two threads may call this at once
  const RequestTable::Lock lock(request_table());
  MPI_Comm given_back = std::exchange(info.for_collectives, MPI_COMM_NULL);
  if (given_back == MPI_COMM_NULL) return;
  note_freeing(given_back);
  PMPI_Comm_free(&given_back);
}

}  // namespace penstock::interpose
