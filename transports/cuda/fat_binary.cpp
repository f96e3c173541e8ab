// Includes nvcc's fat binary in the library. PENSTOCK_FAT_BINARY: its path, from CMake.
#include "transports/cuda/kernel_image.hpp"

asm(".pushsection .rodata\n"
    ".balign 16\n"
    "penstock_fat_binary: .incbin \"" PENSTOCK_FAT_BINARY
    "\"\n"
    ".hidden penstock_fat_binary\n"
    ".global penstock_fat_binary\n"
    ".popsection\n");

extern "C" const unsigned char penstock_fat_binary[];

namespace penstock::transports::kernels {

const void* image() noexcept {
  return penstock_fat_binary;
}

}  // namespace penstock::transports::kernels
