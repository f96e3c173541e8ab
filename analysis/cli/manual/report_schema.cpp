// PENSTOCK_SCHEMA_FILE: the schema's path, from CMake.
#include "analysis/cli/manual/report_schema.hpp"

asm(".pushsection .rodata\n"
    "penstock_report_schema_begin: .incbin \"" PENSTOCK_SCHEMA_FILE
    "\"\n"
    "penstock_report_schema_end: .byte 0\n"
    ".hidden penstock_report_schema_begin\n"
    ".hidden penstock_report_schema_end\n"
    ".global penstock_report_schema_begin\n"
    ".global penstock_report_schema_end\n"
    ".popsection\n");

extern "C" const char penstock_report_schema_begin[];
extern "C" const char penstock_report_schema_end[];

namespace penstock::cli {

std::string_view report_schema() noexcept {
  return {penstock_report_schema_begin, penstock_report_schema_end};
}

}  // namespace penstock::cli
