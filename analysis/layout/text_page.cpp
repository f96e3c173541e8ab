#include "analysis/layout/text_page.hpp"

#include <fmt/format.h>

namespace penstock::analysis {

std::string TextPage::styled(std::string_view code, std::string_view content) const {
  return has_colours_ && !code.empty() ? fmt::format("\033[{}m{}\033[0m", code, content)
                                       : std::string(content);
}

void TextPage::paragraph(std::string_view code, std::string_view content) {
  for (const std::string& each : wrapped(content, columns_)) {
    line(styled(code, each));
  }
}

void TextPage::table(const TextTable& rows) {
  line();
  bool is_title = true;
  for (const std::string& each : rows.lines(columns_)) {
    line(is_title ? styled("1", each) : each);
    is_title = false;
  }
}

}  // namespace penstock::analysis
