// The fastest policies that were measured, in a file of JSON that names the machine. Knows no MPI and no GPU.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "examples/dslash/options.hpp"

namespace dslash {

struct Machine {
  std::string gpu;
  std::string driver;
  std::string mpi;

  [[nodiscard]] bool operator==(const Machine&) const = default;
};

/// What the fastest policy depends on.
struct TuningKey {
  Lattice of_rank;
  Numbers numbers = Numbers::in_single;  ///< of the operator: the solver's inner precision
  int rows = 2;
  int sides = 1;  ///< at once
  bool has_clover = false;
  example::Exchange exchange = example::Exchange::device;
  int ranks = 1;
  int ranks_along_z = 1;
};

struct Measured {
  Policy policy = Policy::none;
  MpiRequests requests = MpiRequests::each_time;
  double application_s = 0;
};

class TuningFile {
 public:
  /// Reads what is there.
  TuningFile(std::string path, Machine machine);

  /// Why nothing in the file is used, on one line, or nothing. It is not written then either.
  [[nodiscard]] const std::string& complaint() const { return complaint_; }
  /// Of an earlier run.
  [[nodiscard]] std::optional<Measured> fastest(const TuningKey& key) const;
  /// Adds the fastest to the file; why it cannot be kept, or nothing.
  [[nodiscard]] std::string keep(const TuningKey& key, const std::vector<Measured>& all);

 private:
  struct Entry {
    std::string key;  ///< as JSON
    Measured fastest;
    std::string json;
  };

  void read();

  std::string path_;
  Machine machine_;
  std::string complaint_;
  std::vector<Entry> entries_;
};

[[nodiscard]] Measured fastest_of(const std::vector<Measured>& all);

/// The file as a table for people, or nothing where there is none.
[[nodiscard]] std::string table_of_tuning_file(const std::string& path);

}  // namespace dslash
