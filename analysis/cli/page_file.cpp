#include "analysis/cli/page_file.hpp"

#include <fmt/format.h>

#include <fstream>
#include <optional>

#include "analysis/export/common/output.hpp"
#include "analysis/recording/flaw.hpp"
#include "analysis/report/text_figures.hpp"
#include "viz/embed/page.hpp"

namespace penstock::cli {
namespace {

bool is_page(const std::filesystem::path& file) {
  constexpr std::size_t enough = 2000;  // the mark is in the head, after the security policy
  std::string head(enough, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  return head.find("<meta name=\"generator\" content=\"penstock report\">") != std::string::npos;
}

}  // namespace

void require_page(const std::filesystem::path& path) {
  if (viz::page().empty()) {
    throw analysis::TraceError(
        {path, std::nullopt,
         "this build has no page: it was built without npm; --json has the same figures"});
  }
}

void write_page(const std::string& html, const std::filesystem::path& path, bool is_quiet) {
  analysis::exports::Destination destination(path, analysis::exports::Destination::Form::file, true, is_page);
  analysis::exports::OutputFile file(destination.work(), destination.shown());
  file.write(html);
  file.close();
  destination.commit();
  if (!is_quiet) {
    fmt::print("{}: {}, for any browser\n", path.string(),
               analysis::bytes_text(std::filesystem::file_size(path)));
  }
}

}  // namespace penstock::cli
