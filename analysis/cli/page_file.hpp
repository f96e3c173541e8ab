// Writes the page of a command's --html. Must not know what the page shows.
#pragma once

#include <filesystem>
#include <string>

namespace penstock::cli {

/// Errors: TraceError if this build has no page.
void require_page(const std::filesystem::path& path);

/// Writes the page. Replaces a page that a command wrote before, but no other file. Prints the path on stdout
/// unless `is_quiet`. Errors: TraceError if it cannot be written.
void write_page(const std::string& html, const std::filesystem::path& path, bool is_quiet);

}  // namespace penstock::cli
