// A persistent operation of the MPI library on stand-ins in host memory, which are allocated once, filled at
// each start and written back at each completion. Knows no single MPI function.
#pragma once

#include <mpi.h>

#include <memory>
#include <utility>

#include "interpose/progress/requests.hpp"
#include "interpose/staging/library_call.hpp"
#include "interpose/staging/staged_call.hpp"

namespace penstock::interpose {

/// Owns the stand-ins, which an operation in flight shares. The request is the user's handle.
class PersistentStagedCall final : public Recipe {
 public:
  /// `request` is the library's request on the stand-ins of `call`.
  PersistentStagedCall(StagedCall call, MPI_Request request) : request_(request) {
    call.outlive_the_call();
    call_ = std::make_shared<const StagedCall>(std::move(call));
  }

  int start(const CallScope&, Operation& operation) override {
    if (const Status fetched = call_->fetch(); !fetched.ok()) return call_->raise(fetched);
    auto pending = std::make_unique<PendingStagedCall>(call_);
    pending->look_at_gpu();
    const int code = PMPI_Start(&request_);
    if (code == MPI_SUCCESS)
      operation = {.request = request_, .pending = std::move(pending), .is_persistent = true};
    return code;
  }
  [[nodiscard]] Posted posts() const noexcept override { return Posted::send; }

 private:
  std::shared_ptr<const StagedCall> call_;
  MPI_Request request_;
};

}  // namespace penstock::interpose
