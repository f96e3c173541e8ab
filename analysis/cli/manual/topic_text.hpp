// A topic as `penstock help TOPIC` prints it.
#pragma once

#include <string>

#include "analysis/cli/manual/layout.hpp"
#include "analysis/cli/manual/topic.hpp"

namespace penstock::cli {

[[nodiscard]] std::string text_of(const Topic& topic, const Screen& screen);

}  // namespace penstock::cli
