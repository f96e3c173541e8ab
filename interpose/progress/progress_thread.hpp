// PENSTOCK_PROGRESS=thread: a thread that steps pending work while the application computes, so that senders
// answer and receivers pull outside MPI calls too. Knows the request table; neither envelopes nor transports.
#pragma once

namespace penstock::interpose {

/// Starts the thread, in MPI_Init, when it is known whether the application is threaded. If it is not,
/// thread and application take turns (progress_lock.hpp); if it is, this thread is one more. The MPI
/// library's level must be MPI_THREAD_MULTIPLE. If the system gives no thread, prints a line.
void start_progress_thread() noexcept;

/// Called at the beginning of MPI_Finalize. Waits for the thread's last step. Does nothing without a thread.
void stop_progress_thread() noexcept;

}  // namespace penstock::interpose
