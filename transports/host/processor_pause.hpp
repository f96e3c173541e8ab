// Tells the processor that a loop spins: it saves power, and the other hyperthread gets on.
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
