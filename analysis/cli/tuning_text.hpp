// The table by which transports are chosen, as `penstock info` and `penstock tune` show it. Knows neither how
// it is measured nor how it is read.
#pragma once

#include <string>
#include <string_view>

#include "transports/machine.hpp"
#include "transports/tuning/tuning_file.hpp"

namespace penstock::cli {

/// Prints a line of what these commands show; one without a title goes on with what is above it.
void show_line(std::string_view title, std::string_view text);

/// Prints the table: where it is from, then what holds for each kind of link that the machine has, and for
/// the machine.
void show_tuning(const transports::FoundTuning& tuning, const transports::MachineInfo& machine);

/// What PENSTOCK_TUNING says, or nothing.
[[nodiscard]] std::string tuning_wish();

}  // namespace penstock::cli
