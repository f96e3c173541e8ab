#include "examples/gmh/library/failure.hpp"

#include <cstdio>

namespace gmh {

Failure::Failure(MPI_Comm communicator) : communicator_(communicator) {
  int size = 1;
  MPI_Comm_size(communicator_, &size);
  if (size > 1)
    check_mpi(MPI_Irecv(&notice_, sizeof notice_, MPI_BYTE, MPI_ANY_SOURCE, 0, communicator_, &request_),
              "listen for failures");
}

Failure::~Failure() {
  if (request_ == MPI_REQUEST_NULL) return;
  MPI_Cancel(&request_);
  MPI_Wait(&request_, MPI_STATUS_IGNORE);
}

void Failure::keep(int code, const char* line) noexcept {
  line_ = line;
  code_.store(code, std::memory_order_release);
}

void Failure::set(const Error& error) noexcept {
  const std::scoped_lock lock(mutex_);
  if (is_set()) return;
  keep(error.code(), error.what());
  int size = 1;
  int rank = 0;
  MPI_Comm_size(communicator_, &size);
  MPI_Comm_rank(communicator_, &rank);
  sent_notice_.code = error.code();
  std::snprintf(sent_notice_.line, sizeof sent_notice_.line, "%s", error.what());
  for (int other = 0; other < size; ++other) {
    if (other != rank)
      MPI_Isend(&sent_notice_, sizeof sent_notice_, MPI_BYTE, other, 0, communicator_,
                &sends_.emplace_back(MPI_REQUEST_NULL));
  }
}

void Failure::close() {
  const int has_sent = sends_.empty() ? 0 : 1;
  int noticed_by_all = 0;
  check_mpi(MPI_Allreduce(&has_sent, &noticed_by_all, 1, MPI_INT, MPI_SUM, communicator_), "end together");
  while (received_notices_ < noticed_by_all - has_sent) {
    if (request_ == MPI_REQUEST_NULL)
      MPI_Irecv(&notice_, sizeof notice_, MPI_BYTE, MPI_ANY_SOURCE, 0, communicator_, &request_);
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
    receive_notice();
  }
  MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE);
}

void Failure::receive_notice() noexcept {
  ++received_notices_;
  if (!is_set()) keep(notice_.code, notice_.line);
}

Error Failure::first() const {
  return {static_cast<gmh_error>(code_.load(std::memory_order_acquire)), line_};
}

void Failure::throw_if_set() const {
  if (is_set()) throw first();
}

void Failure::poll() noexcept {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || request_ == MPI_REQUEST_NULL) return;
  int arrived = 0;
  if (MPI_Test(&request_, &arrived, MPI_STATUS_IGNORE) == MPI_SUCCESS && arrived != 0) receive_notice();
}

}  // namespace gmh
