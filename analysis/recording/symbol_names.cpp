#include "analysis/recording/symbol_names.hpp"

#include <cxxabi.h>

#include <cstddef>
#include <cstdlib>

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

}  // namespace

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
