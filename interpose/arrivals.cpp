#include "interpose/arrivals.hpp"

#include <cstddef>

namespace penstock::interpose {
namespace {

bool is_in_status(int code) noexcept {
  int error_class = MPI_SUCCESS;
  return PMPI_Error_class(code, &error_class) == MPI_SUCCESS && error_class == MPI_ERR_IN_STATUS;
}

}  // namespace

Arrivals::Arrivals(const std::vector<UserRequest>& requests) {
  for (const UserRequest& request : requests) {
    Entry* entry = request.active_entry();
    if (entry == nullptr) continue;
    attended_.emplace_back(entry);
    if (entry->arrived || entry->operation.request == MPI_REQUEST_NULL) continue;
    awaited_.push_back(entry);
    requests_.push_back(entry->operation.request);
  }
  indices_.resize(awaited_.size());
  statuses_.resize(awaited_.size());
}

void Arrivals::look() {
  if (awaited_.empty()) return;
  int count = 0;
  const int code = PMPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count,
                                 indices_.data(), statuses_.data());
  if (count == MPI_UNDEFINED || count == 0) return;
  const bool some_failed = code != MPI_SUCCESS && is_in_status(code);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const auto index = static_cast<std::size_t>(indices_[i]);
    Entry& entry = *awaited_[index];
    entry.operation.request = requests_[index] = MPI_REQUEST_NULL;
    entry.status = statuses_[i];
    entry.code = some_failed ? statuses_[i].MPI_ERROR : MPI_SUCCESS;
    entry.arrived = true;
    if (entry.operation.pending != nullptr) entry.operation.pending->arrived(entry.status);
    awaited_[index] = nullptr;
  }
  std::erase(requests_, MPI_REQUEST_NULL);
  std::erase(awaited_, nullptr);
}

}  // namespace penstock::interpose
