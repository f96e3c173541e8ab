#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace {

struct Outcome {
  std::string output;  ///< stdout and stderr
  int exit_code = -1;
  friend bool operator==(const Outcome&, const Outcome&) = default;
  friend void PrintTo(const Outcome& outcome, std::ostream* stream) {
    *stream << "exit code " << outcome.exit_code << ", output \"" << outcome.output << '"';
  }
};

/// Runs a shell command line. `environment` is for the program alone, not for the shell that starts it.
Outcome run(const std::string& environment, const std::string& command) {
  Outcome outcome;
  FILE* const pipe = popen(("exec env " + environment + " " + command + " 2>&1").c_str(), "r");
  std::array<char, 4096> piece{};
  while (const std::size_t bytes = std::fread(piece.data(), 1, piece.size(), pipe)) {
    outcome.output.append(piece.data(), bytes);
  }
  const int status = pclose(pipe);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

const std::string preload = "LD_PRELOAD=" PRELOAD_LIBRARY;

/// Lazily bound, and with every symbol bound at the start.
void expect_no_difference(const std::string& command) {
  const Outcome plain = run("", command);
  EXPECT_EQ(run(preload, command), plain);
  EXPECT_EQ(run("LD_BIND_NOW=1 " + preload, command), plain);
}

TEST(Preload, onto_true_and_false_nothing_happens) {
  expect_no_difference("/bin/true");
  expect_no_difference("/bin/false");
}

TEST(Preload, onto_a_shell_and_what_it_starts_nothing_happens) {
  expect_no_difference("sh -c 'echo one; echo two >&2; ls / | sort; (exit 4) || exit 3'");
}

TEST(Preload, onto_a_program_that_dies_by_a_signal_nothing_happens) {
  expect_no_difference("sh -c 'kill -TERM $$'");
}

TEST(Preload, onto_a_program_without_MPI_no_directory_is_made_and_no_file_left) {
  const std::string folder = testing::TempDir() + "penstock_preload_test";
  const std::string output = "PENSTOCK_RECORD=1 PENSTOCK_OUTPUT=" + folder + " ";
  ASSERT_EQ(run("", "rm -rf " + folder).exit_code, 0);
  EXPECT_EQ(run(output + preload, "/bin/true"), (Outcome{"", 0}));
  EXPECT_NE(run("", "test -e " + folder).exit_code, 0);
}

TEST(Preload, an_MPI_that_a_module_brings_privately_is_found) {
  const std::string command = MODULE_HOST " " PRIVATE_MPI_MODULE;
  const Outcome plain = run("", command);
  ASSERT_EQ(plain, (Outcome{"rank 0 of 1, sum 42\n", 0}));
  EXPECT_EQ(run(preload, command), plain);
  EXPECT_EQ(run("LD_BIND_NOW=1 " + preload, command), plain);
}

TEST(Preload, onto_a_program_that_links_MPI_its_output_is_the_same) {
  expect_no_difference(LINKED_PROGRAM);
}

TEST(Preload, another_tool_that_is_preloaded_behind_goes_on_seeing_the_calls) {
  const Outcome seen{"another tool saw MPI_Allreduce\nrank 0 of 1, sum 42\n", 0};
  ASSERT_EQ(run("LD_PRELOAD=" ANOTHER_TOOL, LINKED_PROGRAM), seen);
  EXPECT_EQ(run("'LD_PRELOAD=" PRELOAD_LIBRARY " " ANOTHER_TOOL "'", LINKED_PROGRAM), seen);
}

/// What tells a process that a launcher has started it. None of them makes MPI look for that launcher.
const std::string as_rank = "OMPI_COMM_WORLD_RANK=0 ";
constexpr const char* unseen_line =
    "penstock: MPI was used, but Penstock saw no MPI_Init (MPI sessions, or functions looked up in the MPI "
    "library itself): no GPU buffers were moved, and nothing was recorded\n";

TEST(Preload, onto_a_rank_that_takes_MPI_from_the_librarys_own_handle_one_line_at_exit_says_so) {
  const std::string command = OWN_HANDLE " " MPI_LIBRARY " 1";
  ASSERT_EQ(run(as_rank, command), (Outcome{"done\n", 0}));
  const Outcome outcome = run(as_rank + preload, command);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(outcome.output == unseen_line + std::string("done\n") ||
              outcome.output == std::string("done\n") + unseen_line)
      << outcome.output;
}

TEST(Preload, what_penstock_run_has_started_without_a_launcher_is_told_so_too) {
  const std::string command = OWN_HANDLE " " MPI_LIBRARY " 1";
  EXPECT_EQ(run(preload, command), (Outcome{"done\n", 0}));
  const Outcome outcome = run("PENSTOCK_RECORD=0 " + preload, command);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.output.find(unseen_line), std::string::npos) << outcome.output;
}

TEST(Preload, onto_a_python_program_that_loads_MPI_by_ctypes_one_line_at_exit_says_so) {
  if (run("", "python3 -c 'import ctypes'").exit_code != 0) GTEST_SKIP() << "no python3 with ctypes";
  const Outcome outcome =
      run(as_rank + preload, "python3 -c 'import ctypes; mpi = ctypes.CDLL(\"" MPI_LIBRARY
                             "\"); mpi.MPI_Init(None, None); mpi.MPI_Finalize(); print(\"done\")'");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.output.find(unseen_line), std::string::npos) << outcome.output;
}

TEST(Preload, onto_a_rank_that_opens_an_MPI_library_and_does_not_use_it_nothing_is_said) {
  EXPECT_EQ(run(as_rank + preload, OWN_HANDLE " " MPI_LIBRARY " 0"), (Outcome{"done\n", 0}));
}

TEST(Preload, onto_ranks_without_MPI_and_those_that_call_MPI_Init_nothing_is_said_at_exit) {
  EXPECT_EQ(run(as_rank + preload, "sh -c 'ls / >/dev/null; echo done'"), (Outcome{"done\n", 0}));
  EXPECT_EQ(run(as_rank + preload, LINKED_PROGRAM), (Outcome{"rank 0 of 1, sum 42\n", 0}));
}

#ifdef SESSIONS_ONLY
TEST(Preload, onto_a_rank_that_begins_a_session_before_MPI_Init_one_line_says_so_at_once) {
  ASSERT_EQ(run(as_rank, SESSIONS_ONLY), (Outcome{"done\n", 0}));
  EXPECT_EQ(
      run(as_rank + preload, SESSIONS_ONLY),
      (Outcome{"penstock: MPI_Session_init before MPI_Init: until MPI_Init no GPU buffers are moved, and "
               "nothing is recorded; behind it device messages are staged\ndone\n",
               0}));
}
#endif

#ifdef NEWER_RECEIVE
TEST(Preload,
     an_MPI_that_can_receive_by_a_function_which_is_not_wrapped_keeps_the_process_out_with_one_line) {
  const Outcome outcome = run("'LD_PRELOAD=" PRELOAD_LIBRARY " " NEWER_RECEIVE "'", LINKED_PROGRAM);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.output.find("penstock: this MPI library has MPI_Recv_c, by which"), std::string::npos)
      << outcome.output;
  EXPECT_NE(outcome.output.find("rank 0 of 1, sum 42\n"), std::string::npos) << outcome.output;
}
#endif

TEST(Preload, a_library_with_the_standard_ABI_is_known_by_its_name) {
  const Outcome outcome = run(preload, MODULE_HOST " " ABI_MODULE);
#ifdef SERVES_THE_STANDARD_ABI
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.output.find("this MPI library lacks"), std::string::npos) << outcome.output;
#else
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.output.find("but the program uses the standard ABI of MPI: preload libpenstock_abi.so"),
            std::string::npos)
      << outcome.output;
#endif
}

#ifdef OTHER_PRELOAD_LIBRARY
TEST(Preload, the_library_of_the_other_MPI_family_says_so_and_MPI_Init_fails) {
  const Outcome outcome = run("LD_PRELOAD=" OTHER_PRELOAD_LIBRARY, MODULE_HOST " " PRIVATE_MPI_MODULE);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.output.find("preload libpenstock_"), std::string::npos) << outcome.output;
}
#endif

}  // namespace
