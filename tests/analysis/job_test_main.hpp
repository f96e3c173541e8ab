// What the tests of whole jobs are told on their command line; job_test_main.cpp has their main(). Test only.
#pragma once

#include <string>

namespace penstock::analysis {

extern std::string mpi_launch;        ///< the script that starts ranks
extern std::string family;            ///< mpich or openmpi
extern std::string program;           ///< that the ranks run
extern std::string penstock_command;  ///< the command `penstock`

/// Runs a command of the shell. Returns -1 if a signal ended it.
[[nodiscard]] int exit_code_of(const std::string& command);

}  // namespace penstock::analysis
