// What the test calls of a library that stands in for MPI's Fortran bindings.
#pragma once

extern "C" {
/// Receives so many bytes from rank 0 by a blocking call.
void stand_in_receive(void* buffer, int bytes);
/// The same by two.
void stand_in_receive_and_wait(void* buffer, int bytes);
}
