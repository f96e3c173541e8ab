#include "analysis/recording/symbol_names.hpp"

#include <cxxabi.h>

#include <cstddef>
#include <cstdlib>

#include "analysis/tables/pattern.hpp"

namespace penstock::analysis {
namespace {

std::string without_parameters(std::string name) {
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    depth += name[i] == ')' ? 1 : name[i] == '(' ? -1 : 0;
    if (name[i] == '(' && depth == 0) {
      // "operator()" and "(anonymous namespace)::f" contain a parenthesis that belongs to the name
      if (i != 0 && !name.substr(0, i).ends_with("operator") && !name.substr(0, i).ends_with("::")) {
        name.resize(i);
      }
      break;
    }
  }
  return name;
}

/// Removes the return type, which the mangled names of template functions include. It ends at the last space
/// outside all brackets.
std::string without_return_type(const std::string& name) {
  if (name.find("operator") != std::string::npos) {
    return name;  // "operator new" contains a space of its own
  }
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    const char each = name[i];
    depth += each == '>' || each == ')' ? 1 : each == '<' || each == '(' ? -1 : 0;
    if (each == ' ' && depth == 0) {
      return name.substr(i + 1);
    }
  }
  return name;
}

/// Brackets of "operator<" and "operator()" open and close nothing: what follows that word is left alone.
bool begins_operator(std::string_view rest) {
  return rest.starts_with("operator");
}

/// Removes "kernels::" and "(anonymous namespace)::", and classes, too.
std::string_view without_namespaces(std::string_view name) {
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i + 1 < name.size(); ++i) {
    const char each = name[i];
    if (i == begin && begins_operator(name.substr(i))) break;
    depth += each == '<' || each == '(' || each == '{'   ? 1
             : each == '>' || each == ')' || each == '}' ? -1
                                                         : 0;
    if (depth == 0 && each == ':' && name[i + 1] == ':') {
      begin = i + 2;
      ++i;
    }
  }
  return name.substr(begin);
}

/// Puts `instead` for each list of template arguments. That of a lambda expression, "<lambda()>", is its
/// name.
std::string without_template_arguments(std::string_view name, std::string_view instead = "") {
  std::string plain;
  int depth = 0;
  bool is_lambda = false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (depth == 0 && begins_operator(name.substr(i))) {
      return plain.append(name.substr(i));
    }
    if (name[i] == '<') {
      if (depth == 0) {
        is_lambda = name.substr(i).starts_with("<lambda");
        if (!is_lambda) plain += instead;
      }
      ++depth;
    }
    if (depth == 0 || is_lambda) plain += name[i];
    depth -= name[i] == '>' ? 1 : 0;
    is_lambda = is_lambda && depth > 0;
  }
  return plain;
}

}  // namespace

bool matches_name(std::string_view pattern, std::string_view name) {
  const std::string_view alone = without_namespaces(name);
  return matches(pattern, name) || matches(pattern, alone) ||
         matches(pattern, without_template_arguments(name)) ||
         matches(pattern, without_template_arguments(alone));
}

std::string short_symbol(std::string_view name) {
  constexpr std::size_t longest = 40;
  if (name.size() <= longest) {
    return std::string(name);
  }
  std::string plain = without_template_arguments(name, "<…>");
  constexpr std::string_view anonymous = "(anonymous namespace)::";
  for (std::size_t at = plain.find(anonymous); at != std::string::npos; at = plain.find(anonymous)) {
    plain.erase(at, anonymous.size());
  }
  return plain;
}

std::string readable_symbol(const std::string& symbol) {
  // A damaged name can have any length, and demangling time grows faster than the length. Unmangled names are
  // returned as they are: "f" alone would be read as the type float.
  constexpr std::size_t longest = 16 * 1024;
  if (!symbol.starts_with("_Z") || symbol.size() > longest) {
    return symbol;
  }
  int status = 0;
  char* const readable = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  if (readable == nullptr) {
    return symbol;
  }
  std::string name = without_return_type(without_parameters(readable));
  std::free(readable);
  return name;
}

}  // namespace penstock::analysis
