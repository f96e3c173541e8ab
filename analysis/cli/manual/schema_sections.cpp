#include "analysis/cli/manual/schema_sections.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string description_of(const Json& node) {
  return node.value("description", "");
}

/// Returns the first type, where there are several.
std::string type_of(const Json& node) {
  if (!node.contains("type")) return "";
  const Json& type = node.at("type");
  return (type.is_array() ? type.at(0) : type).get<std::string>();
}

/// Returns the unit that a key says.
std::string unit_in(std::string_view key) {
  // the first that fits: calls without bytes are a count
  constexpr std::array<std::pair<std::string_view, const char*>, 10> endings = {{{"_without_bytes", ""},
                                                                                 {"_unix_s", "s since 1970"},
                                                                                 {"gb_per_s", "GB/s"},
                                                                                 {"_s", "s"},
                                                                                 {"bytes", "bytes"},
                                                                                 {"_j", "J"},
                                                                                 {"_w", "W"},
                                                                                 {"_mhz", "MHz"},
                                                                                 {"_c", "°C"},
                                                                                 {"number", "number"}}};
  for (const auto& [ending, unit] : endings) {
    if (key.ends_with(ending)) return unit;
  }
  return "";
}

std::string last_name(const std::string& reference) {
  return reference.substr(reference.rfind('/') + 1);
}

class SchemaText {
 public:
  explicit SchemaText(std::string_view schema) : root_(Json::parse(schema)) {}

  std::vector<TopicSection> sections() {
    add_object("the whole report", root_, false);
    for (const auto& [name, definition] : root_.at("definitions").items()) add_object(name, definition, true);
    return std::move(sections_);
  }

 private:
  /// Objects within others follow those that hold them.
  void add_object(const std::string& name, const Json& object, bool with_description) {
    if (!object.contains("properties")) return;
    TopicSection section{name, {}, {}};
    if (const std::string text = description_of(object); with_description && !text.empty())
      section.texts.push_back(text);
    std::vector<std::pair<std::string, const Json*>> inner;
    for (const auto& [key, value] : object.at("properties").items()) {
      const std::string text = description_of(value);
      section.entries.push_back(
          {key, kind_of(key, value), text.empty() ? std::vector<std::string>() : std::vector{text}});
      const Json& held = value.contains("items") ? value.at("items") : value;
      if (held.contains("properties")) inner.emplace_back(key, &held);
    }
    sections_.push_back(std::move(section));
    for (const auto& [key, held] : inner) add_object(key, *held, false);
  }

  /// Returns its unit, its values, or the section that explains it; empty: its key says it.
  [[nodiscard]] std::string kind_of(const std::string& key, const Json& value) const {
    if (value.contains("enum")) {
      std::string values;
      for (const Json& each : value.at("enum")) {
        values += (values.empty() ? "" : ", ") + (each.is_string() ? each.get<std::string>() : each.dump());
      }
      return values;
    }
    if (value.contains("anyOf")) {
      std::string kind;
      for (const Json& each : value.at("anyOf")) {
        if (type_of(each) == "null") continue;
        kind = kind_of(key, each);
      }
      return kind.empty() ? "or null" : kind + ", or null";
    }
    if (value.contains("items")) {
      const Json& items = value.at("items");
      if (items.contains("properties")) return "list, see " + key;
      const std::string each = kind_of(key, items);
      return each.empty() ? "list" : each.starts_with("see ") ? "list, " + each : "list: " + each;
    }
    if (value.contains("properties")) return "see " + key;
    if (value.contains("$ref")) return kind_of_reference(key, last_name(value.at("$ref").get<std::string>()));
    if (type_of(value) == "boolean") return "true or false";
    return type_of(value) == "string" || value.contains("const") ? "text" : unit_in(key);
  }

  [[nodiscard]] std::string kind_of_reference(const std::string& key, const std::string& name) const {
    const Json& definition = root_.at("definitions").at(name);
    if (definition.contains("properties")) return "see " + name;
    if (definition.contains("anyOf")) {
      if (std::string kind = kind_of(key, definition); kind.starts_with("see ")) return kind;
    }
    if (name == "share") return "0 to 1";
    if (const std::string unit = unit_in(key); !unit.empty()) return unit;
    if (name == "seconds") return "s";
    return kind_of(key, definition);
  }

  Json root_;
  std::vector<TopicSection> sections_;
};

}  // namespace

std::vector<TopicSection> sections_of_schema(std::string_view schema) {
  return SchemaText(schema).sections();
}

}  // namespace penstock::cli
