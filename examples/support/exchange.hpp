// How ranks exchange device memory: device pointers straight to MPI, or staged by hand, as programs do whose
// MPI knows no GPU. One run of each shows what the difference costs. For command lines too: knows no MPI.
#pragma once

namespace example {

enum class Exchange {
  device,         ///< MPI is given device pointers
  staged_by_hand  ///< copied to pinned host memory, sent from there, received there and copied back
};

[[nodiscard]] inline const char* name_of(Exchange exchange) {
  return exchange == Exchange::device ? "device" : "staged-by-hand";
}

}  // namespace example
