// Takes the built page into the command. PENSTOCK_PAGE_FILE: its path, from CMake.
#include "viz/embed/page.hpp"

asm(".pushsection .rodata\n"
    "penstock_page_begin: .incbin \"" PENSTOCK_PAGE_FILE
    "\"\n"
    "penstock_page_end: .byte 0\n"
    ".hidden penstock_page_begin\n"
    ".hidden penstock_page_end\n"
    ".global penstock_page_begin\n"
    ".global penstock_page_end\n"
    ".popsection\n");

extern "C" const char penstock_page_begin[];
extern "C" const char penstock_page_end[];

namespace penstock::viz {

std::string_view page() noexcept {
  return {penstock_page_begin, penstock_page_end};
}

}  // namespace penstock::viz
