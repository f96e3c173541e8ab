// The table of figures by which this rank's transports are chosen: as `penstock tune` has measured it here,
// or as shipped, with what the settings say on top.
#pragma once

namespace penstock::interpose {

/// Puts in force what needs no GPU: the shipped table with the figures that PENSTOCK_TUNING names. In
/// MPI_Init, after read_settings(). A figure that cannot be read is said on one line.
void begin_tuning() noexcept;

/// Finds the machine's table and puts it in force. Once, when the rank first has to do with GPU memory: CUDA
/// is in use then, and a rank that never has need not read a file. One rank of the node says why a file is
/// not used.
void take_tuning() noexcept;

}  // namespace penstock::interpose
