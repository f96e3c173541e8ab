// The arguments of a send, as all protocols take them. Knows none of these.
#pragma once

#include <mpi.h>

#include "interpose/binding/mpi_details.hpp"

namespace penstock::interpose {

/// The arguments of a send.
struct SendCall {
  const void* buffer;
  MPI_Count count;
  MPI_Datatype datatype;
  int destination;
  int tag;
  MPI_Comm communicator;
  SendMode mode = SendMode::standard;
};

}  // namespace penstock::interpose
