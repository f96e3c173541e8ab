// Any bytes as a gauge configuration: what the reader's test and its search for bad inputs have in common.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "examples/dslash/ildg.hpp"

namespace dslash::test {

/// A configuration of 2 x 2 x 2 x 2 sites.
inline std::string small_configuration(int bits) {
  Model model;
  model.lattice = {2, 2, 2, 2};
  std::ostringstream file;
  write_ildg(file, model, bits);
  return file.str();
}

/// Reads all slices; what was wrong, or nothing.
inline std::string outcome_of_reading(const std::string& bytes) {
  std::istringstream file(bytes);
  try {
    const IldgHeader header = IldgHeader::read(file);
    std::vector<double> numbers(window_numbers_of_slice(header.lattice));
    for (int slice = 0; slice < header.lattice.t; ++slice) {
      read_slice(file, header, slice, numbers.data());
    }
    return "";
  } catch (const FormatError& error) {
    return error.what();
  }
}

}  // namespace dslash::test
