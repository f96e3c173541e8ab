// Makes the library's own kernels ready for launches: finds them in the image that the library carries, once
// a process. Before the first launch in a context the driver loads them there. To do so it waits for all that
// runs in the context and holds up the copies of other threads meanwhile (H100, driver 580): for ever, if
// what runs waits for a message. So they are loaded while the application's streams are idle. Knows none of
// the kernels' parameters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "transports/cuda/driver.hpp"
#include "transports/kernels/copy_batch.hpp"
#include "transports/kernels/reduction.hpp"
#include "transports/kernels/strided_copy.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::transports::cuda {

class Context;

enum class Kernel : std::uint8_t {
#define ROW(capacity) copy_##capacity,
  PENSTOCK_COPY_CAPACITIES(ROW)
#undef ROW
#define ROW(capacity) strided_copy_##capacity,
      PENSTOCK_STRIDED_CAPACITIES(ROW)
#undef ROW
          gather_runs,
  scatter_runs,
#define ROW(name, Type) reduce_##name,
  PENSTOCK_REDUCED_TYPES(ROW)
#undef ROW
#define ROW(name, Type) one_shot_##name,
      PENSTOCK_REDUCED_TYPES(ROW)
#undef ROW
          one_shot_blocks,
  pack_list_32,
  pack_list_64,
  measure_set_32,
  measure_set_64,
  fill_set_32,
  fill_set_64,
  place_set,
  unpack_list_32,
  unpack_list_64,
  resident,
};
inline constexpr std::size_t kernel_count = static_cast<std::size_t>(Kernel::resident) + 1;

/// Thread: any.
class Kernels {
 public:
  /// Loads the kernels on the first call. Cost: then a millisecond or so, later 2 ns.
  [[nodiscard]] static const Kernels& of_process() noexcept;
  explicit Kernels(const Driver* driver) noexcept;

  /// Returns ok if the kernels can be launched in that context at once. If they are not there yet, loads
  /// them, provided that the legacy stream has done all its work: streams that do not wait for it cannot be
  /// queried. Errors: `declined` if they are not there yet, or as status(); the driver's refusal. Cost: a
  /// load; until they are there, a query, once some 10 ms. Thread: any.
  [[nodiscard]] static Status ready_in(Context& context) noexcept;
  /// The same for the context in which a buffer on a device is copied.
  [[nodiscard]] static Status ready_for(const Buffer& buffer) noexcept;

  /// Returns, once, why the process's kernels could not be loaded or used so far. Ok if they could, were not
  /// needed yet, or an earlier call has returned the reason. Cost: a load.
  [[nodiscard]] static Status take_refusal() noexcept;

  /// Returns why there are none: `declined` if the driver is too old (before CUDA 12.0).
  [[nodiscard]] Status status() const noexcept { return status_; }
  [[nodiscard]] CUfunction operator[](Kernel kernel) const noexcept {
    return functions_[static_cast<std::size_t>(kernel)];
  }

 private:
  [[nodiscard]] Status load(const Driver& driver) noexcept;
  [[nodiscard]] Status put_into(Context& context) const noexcept;

  std::array<CUfunction, kernel_count> functions_{};
  Status status_;
};

}  // namespace penstock::transports::cuda
