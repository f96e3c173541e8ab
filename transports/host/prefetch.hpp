// Prefetches a cache line before its use.
#pragma once

namespace penstock::transports {

inline void prefetch_to_read(const void* line) noexcept {
  __builtin_prefetch(line, 0);
}

/// Takes the line for this core alone: it leaves the caches of other cores.
inline void prefetch_to_write(void* line) noexcept {
#if defined(__x86_64__)
  // the compiler takes it for an extension; every processor of this architecture knows it, or does nothing
  asm volatile("prefetchw %0" : : "m"(*static_cast<char*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

}  // namespace penstock::transports
