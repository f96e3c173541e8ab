#include "interpose/collectives/agreement/message_communicators.hpp"

#include "interpose/calls/communicators.hpp"
#include "interpose/calls/errors.hpp"
#include "interpose/collectives/agreement/spare_communicators.hpp"
#include "interpose/collectives/deferred/deferred_collectives.hpp"
#include "interpose/collectives/deferred/kept_handles.hpp"
#include "interpose/collectives/schedules/neighbourhood.hpp"
#include "interpose/record/recorder.hpp"

namespace penstock::interpose {

MPI_Comm messages_of(MPI_Comm communicator) {
  CommunicatorInfo* const info = peek_info(communicator);
  if (info == nullptr) return MPI_COMM_NULL;
  // false: this rank or another one has given it back
  if (info->for_collectives != MPI_COMM_NULL && !take_into_use(*info)) free_given_back(*info);
  if (info->for_collectives != MPI_COMM_NULL || info->has_no_messages) return info->for_collectives;
  const TemporaryErrorHandler errors_returned(communicator, MPI_ERRORS_RETURN);
  // a duplicate would copy the program's attributes
  if (make_with_same_neighbours(communicator, info->rank, &info->for_collectives) != MPI_SUCCESS) {
    info->for_collectives = MPI_COMM_NULL;
    info->has_no_messages = true;
    note_shortage();
    record::notice(
        "no communicator could be made for Penstock's collectives on device buffers: these are staged in "
        "host memory");
    return MPI_COMM_NULL;
  }
  PMPI_Comm_set_errhandler(info->for_collectives, MPI_ERRORS_RETURN);
  note_created(info->for_collectives, origin_for_collectives_of(*info));
  return info->for_collectives;
}

bool take_into_use(CommunicatorInfo& info) noexcept {
  if (info.deferred == nullptr || !info.deferred->is_open() || info.deferred->is_in_use()) return true;
  forget_spare(info);
  return info.deferred->take_into_use();
}

void free_messages_of(MPI_Comm communicator) {
  CommunicatorInfo* const info = peek_info(communicator);
  if (info == nullptr || info->for_collectives == MPI_COMM_NULL) return;
  forget_spare(*info);
  if (is_kept(info->for_collectives)) {
    info->for_collectives = MPI_COMM_NULL;
    info->has_no_messages = true;
    return;
  }
  note_freeing(info->for_collectives);
  PMPI_Comm_free(&info->for_collectives);
}

}  // namespace penstock::interpose
