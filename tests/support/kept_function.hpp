// Keeps functions of tests as they are written: each has a frame and code of its own.
#pragma once

/// A function that is declared so is neither inlined nor merged with another of the same code.
#if defined(__clang__)
#define PENSTOCK_KEPT_FUNCTION [[gnu::noinline]]
#else
#define PENSTOCK_KEPT_FUNCTION [[gnu::noipa]]
#endif

/// A function's last call does not become a jump if this stands behind it.
#define PENSTOCK_NO_TAIL_CALL __asm__ volatile("" ::: "memory")
