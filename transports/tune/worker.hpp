// One of the two processes of a measurement: it owns memory on one GPU and sends or receives payloads by the
// transports, as a rank would, until its parent closes the socket. This header knows neither questions nor
// conclusions.
#pragma once

namespace penstock::transports::tune {

struct WorkerArguments {
  int socket = -1;    ///< receives Tasks, sends Outcomes
  int exchange = -1;  ///< descriptor of the Exchange
  int device = 0;
  bool receives = false;
};

/// Returns the exit status. Ends with its parent, however that ends.
[[nodiscard]] int run_worker(const WorkerArguments& arguments) noexcept;

}  // namespace penstock::transports::tune
