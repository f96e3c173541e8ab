// PENSTOCK_PROGRESS=thread: a thread that steps pending work while the application computes, so that a sender
// answers and a receiver pulls outside MPI calls too. Knows the engine; neither envelopes nor transports.
#pragma once

namespace penstock::interpose {

/// In MPI_Init, when the engine knows whether the application is threaded: if it is not, the two take turns
/// (turn.hpp); if it is, this thread is one more. The MPI library's level must be MPI_THREAD_MULTIPLE. Where
/// the system gives no thread, one line says so.
void start_progress_thread() noexcept;

/// At the beginning of MPI_Finalize. Waits for the thread's last step. Nothing without one.
void stop_progress_thread() noexcept;

}  // namespace penstock::interpose
