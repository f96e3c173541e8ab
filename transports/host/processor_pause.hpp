// Notifies the processor that a loop spins: this saves power and leaves the core to the other hyperthread.
#pragma once

namespace penstock::transports {

inline void processor_pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace penstock::transports
