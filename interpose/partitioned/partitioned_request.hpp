// The request of a partitioned message, and its operation in flight, as the request table sees them.
#pragma once

#include <mpi.h>

#include <memory>

#include "interpose/partitioned/partitioned_message.hpp"

namespace penstock::interpose {

/// Attaches a message to `request`, an inactive one of the MPI library's, partitioned or persistent.
void attach_message(MPI_Request request, std::shared_ptr<PartitionedMessage> message);

struct FoundMessage {
  std::shared_ptr<PartitionedMessage> message;  ///< null: the request is not ours
  bool is_active = false;
};
/// Takes RequestTable::Lock.
[[nodiscard]] FoundMessage find_message(MPI_Request request);

}  // namespace penstock::interpose
