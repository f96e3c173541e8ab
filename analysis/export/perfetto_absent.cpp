// The file replaces perfetto_export.cpp and perfetto_packets.cpp in a build that has no protozero.
#include "analysis/export/perfetto_export.hpp"
#include "analysis/export/perfetto_packets.hpp"

namespace penstock::analysis::exports {

std::string why_no_perfetto() {
  return "this build of Penstock has no Perfetto traces: protozero (libprotozero-dev) was not there at build "
         "time; "
         "--csv writes the same records";
}

std::unique_ptr<Exporter> make_perfetto_exporter(OutputFile& /*file*/, const JobClock& /*clock*/) {
  return nullptr;  // never called, see why_no_perfetto()
}

bool perfetto::is_trace(const std::filesystem::path& /*file*/) {
  return false;
}

}  // namespace penstock::analysis::exports
