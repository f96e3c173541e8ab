// One of the two processes that a measurement takes: it owns memory on one GPU and sends or receives
// payloads by the transports, as a rank would, until whoever started it hangs up. Knows neither questions nor
// conclusions.
#pragma once

namespace penstock::transports::tune {

struct WorkerArguments {
  int socket = -1;    ///< Tasks come here, Outcomes go
  int exchange = -1;  ///< descriptor of the Exchange
  int device = 0;
  bool receives = false;
};

/// The exit status. Ends with its parent, however that ends.
[[nodiscard]] int run_worker(const WorkerArguments& arguments) noexcept;

}  // namespace penstock::transports::tune
