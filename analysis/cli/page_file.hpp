// Writes the page of a command's --html. Knows nothing of what the page shows.
#pragma once

#include <filesystem>
#include <string>

namespace penstock::cli {

/// Errors: TraceError if this build has no page.
void require_page(const std::filesystem::path& path);

/// A page that a command wrote before makes way for it; other files stay. Says on stdout what was written
/// unless `is_quiet`. Errors: TraceError when it cannot be written.
void write_page(const std::string& html, const std::filesystem::path& path, bool is_quiet);

}  // namespace penstock::cli
