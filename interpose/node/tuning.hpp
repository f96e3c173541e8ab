// The table of figures by which this rank's transports are chosen: measured on this machine by `penstock
// tune`, or the shipped one, with figures from the settings on top.
#pragma once

namespace penstock::interpose {

/// Puts in force what needs no GPU: the shipped table with the figures that PENSTOCK_TUNING names. Called in
/// MPI_Init, after read_settings(). Prints a line for a figure that cannot be read.
void begin_tuning() noexcept;

/// Finds the machine's table and puts it in force. Called once, when the rank first uses GPU memory: CUDA is
/// in use then, and a rank that never uses it need not read a file. One rank of the node prints why a file is
/// not used.
void take_tuning() noexcept;

}  // namespace penstock::interpose
