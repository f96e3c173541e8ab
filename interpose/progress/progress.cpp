#include "interpose/progress/progress.hpp"

#include <sched.h>

#include <memory>
#include <new>
#include <utility>

#include "interpose/binding/mpi_details.hpp"
#include "interpose/calls/quiet_errors.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/node/policy.hpp"
#include "interpose/node/tuning.hpp"
#include "interpose/progress/host_receives.hpp"
#include "interpose/progress/request_table.hpp"
#include "interpose/record/recorder.hpp"
#include "transports/host/processor_pause.hpp"

namespace penstock::interpose {

bool must_poll() noexcept {
  return request_table().must_poll();
}

void progress() {
  request_table().progress();
}

bool amid_sends() {
  return request_table().is_amid_sends();
}

bool computes_before_it_waits() {
  return request_table().computes_before_it_waits();
}

void begin_large_arrivals(Posted posted, bool takes_long) try {
  if (request_table().has_work()) request_table().begin_large_arrivals(posted, takes_long);
} catch (const std::bad_alloc&) {
  // a call that waits for the payloads will start them
}

void settle() {
  settle_until([] { return false; });
}

void settle_until(const std::function<bool()>& others_have_come) try {
  if (request_table().has_work()) [[unlikely]]
    request_table().settle(others_have_come);
} catch (const std::bad_alloc&) {
  // the remaining work must wait until the call is over
}

int wait_polling(MPI_Request* request, MPI_Status* status) {
  Backoff backoff;
  for (;;) {
    int flag = 0;
    const int code = test_quietly(request, &flag, status);
    if (code != MPI_SUCCESS || flag != 0) return code;
    progress();
    backoff.pause();
  }
}

int finish(Operation operation, MPI_Comm communicator, MPI_Status* status) {
  if (operation.pending == nullptr) {
    if (must_poll()) return raise_quieted(communicator, wait_polling(&operation.request, status));
    return raise_quieted(communicator, wait_quietly(&operation.request, status));
  }
  Waiting waiting(std::move(operation), ErrorTarget::of(communicator));
  for (Backoff backoff; !waiting.step(); backoff.pause()) progress();
  return waiting.end(status);
}

Waiting::Waiting(Operation operation, ErrorTarget errors)
    : entry_(std::make_unique<RequestEntry>()), errors_(std::move(errors)) {
  entry_->operation = std::move(operation);
}

Waiting::~Waiting() = default;

bool Waiting::step() {
  return RequestTable::advance(*entry_);
}

Pending::Progress Waiting::need() const noexcept {
  return RequestTable::need_of(*entry_);
}

void Waiting::tell(MPI_Status& status) const {
  copy_without_error(entry_->status, status);
  if (entry_->operation.pending != nullptr) entry_->operation.pending->fix_status(status);
}

int Waiting::end(MPI_Status* status) {
  Operation& operation = entry_->operation;
  MPI_Status local = local_copy_of(status);
  copy_without_error(entry_->status, local);
  int library_code = entry_->code;
  if (operation.request != MPI_REQUEST_NULL) library_code = wait_quietly(&operation.request, &local);
  int code = library_code;
  if (operation.pending != nullptr) {
    operation.pending->fix_status(local);
    code = operation.pending->complete(local, code);
  }
  copy_status(local, status);
  raise_quieted(errors_, library_code);
  return code;
}

void note_gpu_use() noexcept {
  node_directory().note_gpu();
  expect_envelopes_if(true);
  record::gpu_seen();
  static const bool has_figures = (take_tuning(), true);
  static_cast<void>(has_figures);
}

void Backoff::pause() noexcept {
  if (++rounds_ < policy::spinning_rounds) {
    transports::processor_pause();
  } else {
    ::sched_yield();
  }
}

}  // namespace penstock::interpose
