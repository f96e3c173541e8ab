// Samples power and clocks of the GPUs that the process uses, ten times a second, on a thread of its own: the
// driver may take milliseconds to answer, or never do. Such a thread is left behind, and nothing else waits
// for it. Writes records and a fact; knows no collector of GPU activity.
#pragma once

namespace penstock::record {

/// Starts the thread, once. PENSTOCK_NVML may name the library, or be "none". Does nothing for the simulated
/// GPU unless it does. Thread: any.
void start_gpu_power() noexcept;

/// Takes a last sample and ends the thread. Waits a second for it at most.
void stop_gpu_power() noexcept;

}  // namespace penstock::record
