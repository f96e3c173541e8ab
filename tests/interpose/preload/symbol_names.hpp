// Names of symbols in shared libraries, by nm, and of the functions that have a row in the table.
#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>
#include <string>

#include "interpose/binding/mpi_level.hpp"

namespace penstock::test_support {

using Names = std::set<std::string>;

inline std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string output;
  std::array<char, 4096> piece{};
  while (const std::size_t bytes = std::fread(piece.data(), 1, piece.size(), pipe.get())) {
    output.append(piece.data(), bytes);
  }
  return output;
}

/// Of the dynamic symbol table; `kinds` as nm writes them.
inline Names symbols(const std::string& library, const std::string& options, const std::string& kinds) {
  std::istringstream lines(output_of(NM " -D -P " + options + " " + library));
  Names names;
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string name;
    std::string kind;
    words >> name >> kind;
    if (kinds.find(kind) != std::string::npos) names.insert(name.substr(0, name.find('@')));
  }
  return names;
}

inline Names with_prefix(const Names& names, const std::string& prefix) {
  Names chosen;
  std::copy_if(names.begin(), names.end(), std::inserter(chosen, chosen.end()),
               [&](const std::string& name) { return name.starts_with(prefix); });
  return chosen;
}

inline Names without(const Names& names, const Names& others) {
  Names rest;
  std::set_difference(names.begin(), names.end(), others.begin(), others.end(),
                      std::inserter(rest, rest.end()));
  return rest;
}

/// Rows of the table, with those that are not wrapped or without.
inline Names table(bool with_left_out) {
  Names names;
  const auto add = [&](const std::string& owner, const char* name) {
    if (with_left_out || owner != "left_out") names.insert(name);
  };
#define PENSTOCK_ROW(owner, waits, name, ...) add(#owner, "MPI_" #name);
#include "interpose/binding/mpi_functions.def"
  return names;
}

}  // namespace penstock::test_support
