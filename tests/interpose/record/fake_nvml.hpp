// A libnvidia-ml that tells what a test wants. Without a test's words its GPUs draw 300 W, run at 1,200 of
// 1,980 MHz, and are throttled by their power cap.
#pragma once

#include <atomic>

namespace penstock::test {

enum class FakeNvmlBehaviour : int {
  normal,
  refuses,
  knows_no_gpu,
  has_no_energy_counter,
  never_answers,  ///< when asked for the power
};

/// Reached by the name `fake_nvml_control` in the library.
struct FakeNvmlControl {
  std::atomic<FakeNvmlBehaviour> behaviour{FakeNvmlBehaviour::normal};
  std::atomic<unsigned> power_mw{300'000};
  std::atomic<unsigned> sm_mhz{1200};
  std::atomic<unsigned long long> throttle_reasons{0x4};
  std::atomic<unsigned> asked_for_power{0};  ///< how often
};

}  // namespace penstock::test
