// Replaces otf2_export.cpp if the OTF2 library was missing when Penstock was built.
#include "analysis/export/otf2/otf2_export.hpp"

namespace penstock::analysis::exports {

std::string why_no_otf2() {
  return "this build of Penstock has no OTF2: its library (libopen-trace-format2-dev) was not there at build "
         "time";
}

std::unique_ptr<Exporter> make_otf2_exporter(const Destination& /*destination*/, const JobClock& /*clock*/) {
  return nullptr;  // never called, see why_no_otf2()
}

bool is_otf2_export(const std::filesystem::path& /*directory*/) {
  return false;
}

}  // namespace penstock::analysis::exports
