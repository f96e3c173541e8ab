// Man pages, in the macros of man(7): of a command (section 1), and of a topic (section 7). Made of the same
// text as --help and `penstock help`.
#pragma once

#include <string>

#include "analysis/cli/manual/command_text.hpp"
#include "analysis/cli/manual/topic.hpp"

namespace penstock::cli {

/// The page of the whole command if `command` is it, else of the subcommand.
[[nodiscard]] std::string man_page(const CommandText& whole, const CommandText& command);
[[nodiscard]] std::string man_page(const Topic& topic, const CommandText& whole);

}  // namespace penstock::cli
