// Device memory by one of CUDA's two APIs: the source file that is linked decides which.
#pragma once

#include <cstddef>

namespace penstock::test_support {

/// Makes a context on one of the machine's GPUs. Returns false where there is none.
[[nodiscard]] bool make_context(int rank);

/// Unit: bytes. Each ends the program with a line if the API refuses.
[[nodiscard]] void* allocate(std::size_t bytes);
void release(void* memory);
void write(void* memory, const void* source, std::size_t bytes);
void read(void* destination, const void* memory, std::size_t bytes);

}  // namespace penstock::test_support
