// Prints the table by which transports are chosen, for `penstock info` and `penstock tune`. Must know neither
// how it is measured nor how it is read.
#pragma once

#include <string>
#include <string_view>

#include "transports/machine.hpp"
#include "transports/tuning/tuning_file.hpp"

namespace penstock::cli {

/// Prints a line of these commands; one without a title continues the line above.
void show_line(std::string_view title, std::string_view text);

/// Prints the table: its source, then the values for each kind of link of the machine, and for the machine.
void show_tuning(const transports::FoundTuning& tuning, const transports::MachineInfo& machine);

/// Returns the value of PENSTOCK_TUNING, or an empty string.
[[nodiscard]] std::string tuning_wish();

}  // namespace penstock::cli
