// The figures of the report's JSON with their units and what they mean, from its schema.
#pragma once

#include <string_view>
#include <vector>

#include "analysis/cli/manual/topic.hpp"

namespace penstock::cli {

/// A section for each object of the schema, the whole report first, with an entry for each key.
[[nodiscard]] std::vector<TopicSection> sections_of_schema(std::string_view schema);

}  // namespace penstock::cli
