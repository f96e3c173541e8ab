// The `penstock` command as a user meets it: exit codes, what goes to which stream.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "tests/analysis/ran_command.hpp"
#include "tests/analysis/recording_builder.hpp"
#include "tests/analysis/simulated_job.hpp"
#include "viz/embed/page.hpp"

namespace penstock::analysis {
namespace {

using testing::content_of;
using testing::Outcome;

class Command : public ::testing::Test {
 protected:
  Command() {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "LD_PRELOAD"}) {
      ::unsetenv(name);
    }
  }
  /// Runs `penstock <arguments>` by a shell.
  [[nodiscard]] Outcome penstock(const std::string& arguments) const {
    return testing::ran(PENSTOCK_COMMAND " " + arguments, directory_.path());
  }
  [[nodiscard]] std::filesystem::path make_recording() const {
    const std::filesystem::path recording = directory_.path() / "recording";
    std::filesystem::create_directory(recording);
    testing::RecordingBuilder(0, 1)
        .kernel(0, 10)
        .call({.function = "MPI_Barrier", .begin = 10, .end = 20})
        .write(recording);
    return recording;
  }
  [[nodiscard]] std::filesystem::path file(const std::string& name) const { return directory_.path() / name; }

 private:
  testing::TemporaryDirectory directory_;
};

/// One rank with twenty steps of so long, by an NVTX range; before it many more calls, and as long again, if
/// `begins_busily`.
void write_steps(const std::filesystem::path& recording, std::uint64_t step_ns, bool begins_busily) {
  std::filesystem::create_directory(recording);
  testing::RecordingBuilder builder(0, 1);
  std::uint64_t at = 0;
  for (int i = 0; i < (begins_busily ? 400 : 0); ++i, at += 200) {
    builder.call({.function = "MPI_Barrier", .begin = at, .end = at + 5, .call_site = 0x40});
  }
  for (int i = 0; i < 20; ++i, at += step_ns) {
    builder.range("step", at, at + step_ns).kernel(at, at + 5);
    builder.call({.function = "MPI_Bcast", .begin = at + 5, .end = at + step_ns, .call_site = 0x50});
  }
  builder.runs(0, at).of_run(begins_busily ? 1 : 2).write(recording);
}

TEST_F(Command, compares_steps_by_one_mark_although_others_were_found) {
  write_steps(file("slow"), 2000, true);
  write_steps(file("quick"), 1000, false);
  const std::string slow = file("slow").string();
  const std::string quick = file("quick").string();
  ASSERT_EQ(penstock("report " + slow).output.find("NVTX range step"), std::string::npos);
  ASSERT_NE(penstock("report " + quick).output.find("NVTX range step"), std::string::npos);

  const Outcome diff = penstock("diff " + quick + " " + slow);
  EXPECT_NE(diff.output.find("A step became slower: 1.000 µs before, 2.000 µs after"), std::string::npos)
      << diff.output;
  const std::string baseline = "report --fail-if 'step > +5%' --baseline ";
  EXPECT_EQ(penstock(baseline + quick + " " + slow).exit_code, 3);
  EXPECT_EQ(penstock(baseline + slow + " " + quick).exit_code, 0);
  const Outcome trend = penstock("trend --as-given " + quick + " " + slow);
  EXPECT_NE(trend.output.find("The newest run takes 2.000 µs a step: 100.0 % more"), std::string::npos)
      << trend.output;
}

TEST_F(Command, compares_whole_runs_where_no_mark_is_common) {
  write_steps(file("ranges"), 1000, false);
  std::filesystem::create_directory(file("calls"));
  testing::RecordingBuilder calls(0, 1);
  for (std::uint64_t at = 0; at < 20'000; at += 1000) {
    calls.call({.function = "MPI_Barrier", .begin = at, .end = at + 5, .call_site = 0x40});
  }
  calls.runs(0, 20'000).kernel(0, 10).write(file("calls"));
  const std::string both = file("ranges").string() + " " + file("calls").string();
  EXPECT_NE(penstock("diff " + both).output.find("The run: 20.000 µs before, 20.000 µs after"),
            std::string::npos)
      << penstock("diff " + both).output;
  const Outcome judged = penstock("report --fail-if 'step > +5%' --baseline " + both);
  EXPECT_EQ(judged.exit_code, 4);
  EXPECT_NE(judged.errors.find("name an NVTX range with --step"), std::string::npos) << judged.errors;
}

TEST_F(Command, says_its_version_and_what_it_was_built_for) {
  const Outcome outcome = penstock("--version");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(outcome.output.starts_with("penstock " PENSTOCK_VERSION)) << outcome.output;
  // sources without git have no commit
  static const std::regex whole(
      "penstock [0-9.]+( \\(commit [0-9a-f]{12,}( and changes)?\\))?\n"
      "for (MPICH|Open MPI|MPI ABI|MPICH and Open MPI|[^;\n]+ and MPI ABI); (NVIDIA GPUs|simulated GPU, "
      "[^\n]*)\n(without [^\n]+\n)?");
  EXPECT_TRUE(std::regex_match(outcome.output, whole)) << outcome.output;
}

TEST_F(Command, wrong_use_ends_with_2_and_says_how_to_get_help) {
  for (const char* arguments :
       {"", "dance", "report --frobnicate", "run --frobnicate /bin/true", "run", "run --",
        "run --mpi lam /bin/true", "tune --time-limit 0", "tune something"}) {
    const Outcome outcome = penstock(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << arguments;
    EXPECT_NE(outcome.errors.find("--help"), std::string::npos) << arguments;
  }
}

TEST_F(Command, an_unknown_command_is_named_with_the_nearest_known_one) {
  const Outcome typo = penstock("reprot recording");
  EXPECT_EQ(typo.exit_code, 2);
  EXPECT_EQ(typo.errors,
            "penstock: there is no command \"reprot\"; did you mean \"report\"?\n"
            "Run with --help for more information.\n");
  const Outcome other = penstock("visualise recording");
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_TRUE(
      other.errors.starts_with("penstock: there is no command \"visualise\"; there are run, report, diff, "))
      << other.errors;
}

TEST_F(Command, a_number_out_of_range_is_told_in_words) {
  struct Case {
    const char* arguments;
    const char* words;
  };
  for (const Case& each :
       {Case{"report --top -1", "--top: \"-1\" is not a whole number of at least 1"},
        {"report --top 0", "--top: \"0\" is not a whole number of at least 1"},
        {"report --top 1.5", "--top: \"1.5\" is not a whole number of at least 1"},
        {"report --top 99999999999999999999", "--top: \"99999999999999999999\" is too large"},
        {"report --rank -1", "--rank: \"-1\" is not a whole number of at least 0"},
        {"report --rank 9999999999", "--rank: \"9999999999\" is too large"},
        {"report --jobs 1025", "--jobs: \"1025\" is not a whole number from 0 to 1024"},
        {"diff --top 0 a b", "--top: \"0\" is not a whole number of at least 1"},
        {"trend --top x a", "--top: \"x\" is not a whole number of at least 1"},
        {"scale --ranks 8,0 a", "--ranks: \"0\" is not a whole number of at least 1"},
        {"tune --time-limit 0", "--time-limit: \"0\" is not a whole number from 1 to 3600"}}) {
    const Outcome outcome = penstock(each.arguments);
    EXPECT_EQ(outcome.exit_code, 2) << each.arguments;
    EXPECT_EQ(outcome.errors, std::string(each.words) + "\nRun with --help for more information.\n");
  }
}

TEST_F(Command, report_prints_no_escape_codes_into_a_file) {
  const Outcome outcome = penstock("report " + make_recording().string());
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.output.find("exposed communication"), std::string::npos);
  EXPECT_EQ(outcome.output.find('\033'), std::string::npos);
  EXPECT_EQ(outcome.errors, "");
}

TEST_F(Command, output_that_cannot_be_written_is_an_error_of_every_command) {
  const std::string recording = make_recording().string();
  for (const std::string& arguments :
       {"report " + recording, "report --json " + recording, "report --now " + recording,
        "diff " + recording + " " + recording, "trend " + recording,
        "export --force --csv " + file("csv").string() + " " + recording, std::string("info"),
        std::string("help"), std::string("help causes"), std::string("man"), std::string("completion bash"),
        std::string("--version"), std::string("report --help")}) {
    const std::string errors = file("full").string();
    const int status = std::system((PENSTOCK_COMMAND " " + arguments + " >/dev/full 2>" + errors).c_str());
    EXPECT_EQ(WEXITSTATUS(status), 1) << arguments;
    // CLI11 flushes its texts itself, and so why is not known
    const bool says_why = content_of(errors).find("No space left on device") != std::string::npos;
    EXPECT_TRUE(says_why || content_of(errors) == "penstock: the output could not be written\n")
        << arguments << ": " << content_of(errors);
  }
}

TEST_F(Command, report_writes_json) {
  const Outcome outcome = penstock("report --json " + make_recording().string());
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(nlohmann::json::parse(outcome.output).at("schema"), "penstock-report-2");
}

TEST_F(Command, report_diff_and_export_skip_the_users_own_wrappers) {
  const std::filesystem::path recording = file("of_layers");
  std::filesystem::create_directory(recording);
  testing::RecordingBuilder builder(0, 1);
  for (std::uint64_t module = 1; module <= 3; ++module) {
    builder.module("/nowhere/lib" + std::to_string(module) + ".so", module << 16, (module + 1) << 16, 0,
                   module << 16);
  }
  const std::uint64_t site = builder.path({0x10001, 0x20002, 0x30003});
  builder.kernel(0, 10).call({.function = "MPI_Recv", .begin = 10, .end = 20, .call_site = site});
  builder.write(recording);
  const std::string skip = "--skip 'lib1.*' --skip lib2.so ";
  EXPECT_NE(penstock("report " + recording.string()).output.find("lib1.so+0x1"), std::string::npos);
  const Outcome report = penstock("report " + skip + recording.string());
  EXPECT_EQ(report.exit_code, 0) << report.errors;
  EXPECT_NE(report.output.find("lib3.so+0x3"), std::string::npos) << report.output;
  EXPECT_EQ(report.output.find("lib1.so"), std::string::npos) << report.output;
  const Outcome diff = penstock("diff " + skip + recording.string() + " " + recording.string());
  EXPECT_EQ(diff.output.find("lib1.so"), std::string::npos) << diff.output;
  EXPECT_NE(diff.output.find("lib3.so+0x3"), std::string::npos) << diff.output;
  const std::filesystem::path tables = file("tables");
  EXPECT_EQ(penstock("export " + skip + recording.string() + " --csv " + tables.string()).exit_code, 0);
  EXPECT_NE(content_of(tables / "mpi_calls.csv").find("lib3.so+0x3"), std::string::npos);
  EXPECT_EQ(penstock("report --skip '' " + recording.string()).exit_code, 2);
}

TEST_F(Command, report_writes_a_page_or_says_that_this_build_has_none) {
  const std::string recording = make_recording().string();
  const std::string html = file("out.html").string();
  const Outcome outcome = penstock("report --html " + html + " " + recording);
  if (viz::page().empty()) {
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.errors,
              "penstock: " + html +
                  ": this build has no page: it was built without npm; --json has the same figures\n");
    EXPECT_FALSE(std::filesystem::exists(html));
    return;
  }
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_EQ(outcome.output.find(html + ": "), 0u) << outcome.output;
  EXPECT_NE(content_of(html).find("\"schema\":\"penstock-report-2\""), std::string::npos);
  EXPECT_NE(content_of(html).find("\"schema\":\"penstock-timeline-1\""), std::string::npos);
  // a page makes way for the next one; --json and --fail-if go together with it
  const Outcome again = penstock("report --json --fail-if 'exposed > 0.5%' --html " + html + " " + recording);
  EXPECT_EQ(again.exit_code, 3) << again.errors;
  EXPECT_TRUE(nlohmann::json::accept(again.output));
}

TEST_F(Command, report_replaces_no_file_that_is_not_a_page) {
  if (viz::page().empty()) GTEST_SKIP() << "this build has no page";
  const std::string recording = make_recording().string();
  const std::filesystem::path thesis = file("thesis.html");
  std::ofstream(thesis) << "<html>years of work</html>";
  const Outcome outcome = penstock("report --html " + thesis.string() + " " + recording);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.errors.find("is there already"), std::string::npos) << outcome.errors;
  EXPECT_EQ(content_of(thesis), "<html>years of work</html>");
  EXPECT_EQ(penstock("report --html /nowhere/out.html " + recording).exit_code, 1);
  EXPECT_EQ(penstock("report --html '' " + recording).exit_code, 2);
}

TEST_F(Command, report_fails_if_it_is_asked_to) {
  const std::string recording = make_recording().string();  // 1 % of its run is exposed
  EXPECT_EQ(penstock("report --fail-if 'exposed > 50%' " + recording).exit_code, 0);
  const Outcome outcome =
      penstock("report --json --fail-if 'exposed > 0.5%' --fail-if 'exposed > 90%' " + recording);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_NE(outcome.errors.find("exposed is 1 %; it fails if > 0.5 %"), std::string::npos) << outcome.errors;
  EXPECT_TRUE(nlohmann::json::accept(outcome.output));
}

TEST_F(Command, report_does_not_pass_a_condition_that_cannot_be_told) {
  const std::filesystem::path recording = make_recording();
  testing::RecordingBuilder blind(0, 1);
  blind.header().features = trace::feature::gpu_used;
  blind.call({.function = "MPI_Barrier", .begin = 10, .end = 20}).write(recording);
  const Outcome outcome = penstock("report --fail-if 'exposed > 50%' " + recording.string());
  EXPECT_EQ(outcome.exit_code, 4);
  EXPECT_NE(outcome.errors.find("cannot be decided: GPU kernels of rank 0 were not recorded"),
            std::string::npos)
      << outcome.errors;
}

TEST_F(Command, a_condition_that_cannot_be_read_is_wrong_use) {
  const Outcome outcome = penstock("report --fail-if 'slowness > 50%' " + make_recording().string());
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.errors.find("step, exposed, overlap, kernels, late_sender"), std::string::npos)
      << outcome.errors;
}

/// Returns a recording of 30 steps, each so long.
std::filesystem::path steps_of(std::uint64_t step_ns, const std::filesystem::path& directory,
                               const char* mpi_version = "MPICH Version: 4.0.2") {
  std::filesystem::create_directory(directory);
  testing::RecordingBuilder rank(0, 1);
  rank.of_run(static_cast<std::uint32_t>(step_ns / 1000));
  std::snprintf(rank.header().mpi_version, sizeof rank.header().mpi_version, "%s", mpi_version);
  rank.runs(0, 30 * step_ns);
  for (std::uint64_t begin = 0; begin < 30 * step_ns; begin += step_ns) {
    rank.range("step", begin, begin + step_ns)
        .launched_kernel(begin, begin, begin + 1'000'000, "update")
        .call({.function = "MPI_Barrier", .begin = begin + 1'000'000, .end = begin + 1'100'000});
  }
  rank.write(directory);
  return directory;
}

TEST_F(Command, report_compares_with_a_baseline) {
  const std::string before = steps_of(2'000'000, file("before")).string();
  const std::string after = steps_of(2'200'000, file("after")).string();
  const std::string report = "report " + after + " --baseline " + before;
  const Outcome slower = penstock(report + " --fail-if 'step > +5%' --fail-if 'host code > 1%'");
  EXPECT_EQ(slower.exit_code, 3);
  EXPECT_NE(slower.errors.find("step changed by +10 %; it fails if > +5 %"), std::string::npos)
      << slower.errors;
  EXPECT_EQ(penstock(report + " --fail-if 'step > +15%' --fail-if 'step > 3ms'").exit_code, 0);
  EXPECT_EQ(penstock(report + " --fail-if 'step > +5%' --whole-run").exit_code, 4)
      << "there are no steps then";
  EXPECT_EQ(penstock("report " + after + " --fail-if 'step > +5%' --baseline /nowhere").exit_code, 1);
}

TEST_F(Command, report_says_that_a_baseline_is_of_another_mpi_and_goes_on) {
  const std::string before = steps_of(2'000'000, file("before")).string();
  const std::string same = steps_of(2'200'000, file("same")).string();
  const std::string other = steps_of(2'200'000, file("other"), "Open MPI v4.1.4, package: Debian").string();
  const std::string report = "report --fail-if 'step > +5%' --baseline " + before + " ";
  EXPECT_EQ(penstock(report + same).errors.find("another kind of run"), std::string::npos);
  const Outcome outcome = penstock(report + other);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_TRUE(
      outcome.errors.starts_with("penstock report: --baseline is of another kind of run: MPI libraries "
                                 "differ: MPICH 4.0.2; Open MPI v4.1.4\n"))
      << outcome.errors;
}

TEST_F(Command, report_says_that_a_baseline_is_of_the_same_run) {
  const std::string before = steps_of(2'000'000, file("before")).string();
  const std::string after = steps_of(2'200'000, file("after")).string();
  const std::string report = "report --fail-if 'step > +5%' --baseline " + before + " ";
  EXPECT_EQ(penstock(report + before).errors,
            "penstock report: --baseline is of the same run as the recording\n");
  EXPECT_EQ(penstock(report + after).errors.find("same run"), std::string::npos);
}

TEST_F(Command, report_now_says_what_ranks_are_in_without_figures) {
  const std::filesystem::path recording = file("recording");
  std::filesystem::create_directory(recording);
  testing::RecordingBuilder(0, 2)
      .never_finishes()
      .alive_until(500)
      .fact("commit", "0123abc")
      .in_call({.function = "MPI_Recv", .begin = 100, .peer = 1, .tag = 7})
      .write(recording);
  const Outcome text = penstock("report --now " + recording.string());
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_NE(text.output.find("Rank 0 waited for rank 1, which has no recording"), std::string::npos)
      << text.output;
  EXPECT_EQ(text.output.find("Where the time goes"), std::string::npos);
  const Outcome json = penstock("report --now --json " + recording.string());
  EXPECT_EQ(nlohmann::json::parse(json.output).at("schema"), "penstock-look-1");
  EXPECT_EQ(nlohmann::json::parse(json.output).at("job").at("commit"), "0123abc");
}

TEST_F(Command, report_now_of_a_job_that_ended_says_so) {
  const Outcome outcome = penstock("report --now " + make_recording().string());
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.output.find("The job has ended"), std::string::npos) << outcome.output;
}

TEST_F(Command, report_now_with_conditions_is_wrong_use) {
  const Outcome outcome = penstock("report --now --fail-if 'exposed > 1%' " + make_recording().string());
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_NE(outcome.errors.find("no figures"), std::string::npos) << outcome.errors;
}

TEST_F(Command, report_says_that_a_change_needs_a_baseline_and_a_baseline_a_change) {
  const std::string recording = make_recording().string();
  const Outcome no_baseline = penstock("report --fail-if 'step > +5%' " + recording);
  EXPECT_EQ(no_baseline.exit_code, 2);
  EXPECT_NE(no_baseline.errors.find("--baseline RECORDING"), std::string::npos) << no_baseline.errors;
  const Outcome no_change = penstock("report --fail-if 'exposed > 90%' --baseline x " + recording);
  EXPECT_EQ(no_change.exit_code, 2);
  EXPECT_NE(no_change.errors.find("step > +5%"), std::string::npos) << no_change.errors;
}

TEST_F(Command, diff_compares_two_recordings_or_repeated_runs) {
  const auto run = [this](std::uint64_t number) {
    return " " + steps_of(2'000'000 + number * 1000, file("run-" + std::to_string(number))).string();
  };
  const std::string first = run(1);
  const std::string second = run(2);
  const Outcome pair = penstock("diff" + first + second);
  EXPECT_EQ(pair.exit_code, 0) << pair.errors;
  EXPECT_EQ(pair.output.find("same run"), std::string::npos) << pair.output;
  const Outcome repeated = penstock("diff --json --before" + first + run(4) + " --after" + second + run(3));
  EXPECT_EQ(repeated.exit_code, 0) << repeated.errors;
  EXPECT_EQ(nlohmann::json::parse(repeated.output).at("totals").at(0).at("verdict"), "jitter");
  EXPECT_EQ(nlohmann::json::parse(repeated.output).at("runs_before"), 2);
}

TEST_F(Command, diff_of_one_run_each_without_steps_cannot_show_jitter) {
  const std::string recording = make_recording().string();
  const Outcome outcome = penstock("diff " + recording + " " + recording);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_NE(outcome.output.find("One run each cannot show"), std::string::npos) << outcome.output;
}

TEST_F(Command, diff_counts_a_run_once_on_each_side_and_says_when_it_is_on_both) {
  const std::string before = steps_of(2'000'000, file("before")).string();
  const std::string after = steps_of(2'200'000, file("after")).string();
  const Outcome named_twice =
      penstock("diff --json --before " + before + " " + before + " --after " + after + " " + after);
  EXPECT_EQ(named_twice.exit_code, 0) << named_twice.errors;
  const nlohmann::json json = nlohmann::json::parse(named_twice.output);
  EXPECT_EQ(json.at("runs_before"), 1);
  EXPECT_EQ(json.at("runs_after"), 1);
  EXPECT_EQ(json.at("remarks").at(0), before + " is named twice, and counts once");
  EXPECT_EQ(json.at("remarks").at(1), after + " is named twice, and counts once");
  const Outcome both = penstock("diff --json " + before + " " + before);
  EXPECT_EQ(nlohmann::json::parse(both.output).at("remarks").at(0),
            "a run before and one after are one and the same run");
}

TEST_F(Command, diff_and_scale_cannot_tell_of_a_step_that_was_not_recorded) {
  const std::string recording = make_recording().string();
  for (const std::string command : {"diff", "scale"}) {
    const Outcome outcome = penstock(command + " --step nosuch " + recording + " " + recording);
    EXPECT_EQ(outcome.exit_code, 4) << command;
    EXPECT_EQ(outcome.output, "") << command;
    EXPECT_NE(outcome.errors.find("has no NVTX range \"nosuch\""), std::string::npos) << outcome.errors;
  }
}

TEST_F(Command, report_says_what_faster_kernels_would_gain) {
  const std::filesystem::path recording = file("recording");
  std::filesystem::create_directory(recording);
  testing::RecordingBuilder(0, 1)
      .kernel(0, 1000, "update")
      .cuda_synchronisation(5, 1000)
      .call({.function = "MPI_Barrier", .begin = 1000, .end = 1010})
      .write(recording);
  const std::string report = "report --whole-run " + recording.string();
  const std::string answer = "the kernel \"up*\" takes 50.0 % of its time";
  const Outcome answered = penstock(report + " --what-if 'up*=0.5'");
  EXPECT_EQ(answered.exit_code, 0) << answered.errors;
  EXPECT_NE(answered.output.find(answer), std::string::npos) << answered.output;
  const Outcome outcome = penstock(report + " --what-if 'up*=0.5' --what-if 'update@12=0' --what-if 'up=2'");
  EXPECT_EQ(outcome.exit_code, 4);
  EXPECT_NE(outcome.output.find(answer), std::string::npos) << outcome.output;
  EXPECT_EQ(outcome.errors,
            "penstock report: --what-if cannot be answered: no kernel on stream 12 has a name that matches "
            "\"update\"\n"
            "penstock report: --what-if cannot be answered: no kernel has a name that matches \"up\"\n");
  EXPECT_EQ(outcome.output.find("has a name that matches"), std::string::npos) << outcome.output;
  for (const char* wrong : {"update", "=1", "update=", "update=-1", "update=x", "update@x=1", "update=1e9"}) {
    EXPECT_EQ(penstock(report + " --what-if '" + wrong + "'").exit_code, 2) << wrong;
  }
}

TEST_F(Command, diff_writes_a_page_where_this_build_has_one) {
  const std::string recording = make_recording().string();
  const std::string html = file("diff.html").string();
  const Outcome outcome = penstock("diff --html " + html + " " + recording + " " + recording);
  if (viz::page().empty()) {
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.errors.find("this build has no page"), std::string::npos) << outcome.errors;
    return;
  }
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_EQ(outcome.output.find(html + ": "), 0u) << outcome.output;
  EXPECT_NE(content_of(html).find("\"schema\":\"penstock-diff-1\""), std::string::npos);
  const std::string page = content_of(html);
  const std::string timeline = "\"schema\":\"penstock-timeline-1\"";
  const std::size_t first = page.find(timeline);
  ASSERT_NE(first, std::string::npos);
  EXPECT_NE(page.find(timeline, first + 1), std::string::npos) << "one of both runs has no timeline";
  EXPECT_EQ(content_of(html).find("\"schema\":\"penstock-report-2\""), std::string::npos);
}

TEST_F(Command, diff_of_one_recording_is_wrong_use) {
  const std::string recording = make_recording().string();
  EXPECT_EQ(penstock("diff").exit_code, 2);
  EXPECT_EQ(penstock("diff " + recording).exit_code, 2);
  EXPECT_EQ(penstock("diff --before " + recording).exit_code, 2);
  EXPECT_EQ(penstock("diff " + recording + " /nowhere").exit_code, 1);
}

TEST_F(Command, scale_predicts_from_three_numbers_of_ranks_and_says_what_is_missing_with_fewer) {
  std::string recordings;
  for (const std::size_t ranks : {1u, 2u, 4u}) {
    testing::Model model;
    model.kernel_ns.assign(ranks, 4'000'000 / ranks);
    const std::filesystem::path directory = file("on-" + std::to_string(ranks));
    std::filesystem::create_directory(directory);
    for (const testing::RecordingBuilder& each : testing::simulate(model).ranks) {
      each.write(directory);
    }
    recordings += " " + directory.string();
  }
  const Outcome outcome = penstock("scale --json --ranks 16,32" + recordings);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  const nlohmann::json json = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(json.at("series"), "strong");
  EXPECT_EQ(json.at("forecasts").at(1).at("ranks"), 32);
  const Outcome text = penstock("scale" + recordings);
  EXPECT_EQ(text.exit_code, 0) << text.errors;
  EXPECT_NE(text.output.find("\n8 predicted"), std::string::npos) << text.output;
  const Outcome one = penstock("scale --ranks 64 " + file("on-4").string());
  EXPECT_EQ(one.exit_code, 4);
  EXPECT_EQ(one.output, "");
  EXPECT_NE(one.errors.find("at least 3 different numbers of ranks"), std::string::npos) << one.errors;
  EXPECT_NE(one.errors.find("parallel efficiency"), std::string::npos) << one.errors;
  EXPECT_EQ(penstock("scale").exit_code, 2);
  EXPECT_EQ(penstock("scale --ranks 0" + recordings).exit_code, 2);
}

TEST_F(Command, report_of_a_step_that_was_not_recorded_says_so_and_ends_with_4) {
  const Outcome outcome = penstock("report --json --step nosuch " + make_recording().string());
  EXPECT_EQ(outcome.exit_code, 4);
  EXPECT_NE(outcome.errors.find("has no NVTX range \"nosuch\""), std::string::npos) << outcome.errors;
  EXPECT_FALSE(outcome.output.empty());
}

TEST_F(Command, words_behind_two_dashes_are_recordings_except_for_run) {
  const Outcome outcome = penstock("report --json -- " + make_recording().string());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_NE(penstock("report -- nowhere").exit_code, 0);
}

TEST_F(Command, report_of_nothing_says_what_is_missing_and_ends_with_1) {
  const Outcome outcome = penstock("report /nowhere/penstock-out");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.errors, "penstock: /nowhere/penstock-out: no such file or directory\n");
  EXPECT_EQ(outcome.output, "");
}

TEST_F(Command, run_passes_arguments_and_exit_code_through) {
  EXPECT_EQ(penstock("run -- /bin/sh -c 'exit 7'").exit_code, 7);
  EXPECT_EQ(penstock("run /bin/echo -h --json -- -o x").output, "-h --json -- -o x\n");
  EXPECT_EQ(penstock("run -- /bin/echo -h -- x").output, "-h -- x\n");
}

TEST_F(Command, run_of_a_program_that_is_not_there_ends_with_127) {
  const Outcome outcome = penstock("run ./not-there");
  EXPECT_EQ(outcome.exit_code, 127);
  EXPECT_EQ(outcome.errors, "penstock: ./not-there: no such program\n");
}

TEST_F(Command, run_refuses_parts_of_a_run_that_cannot_be_read) {
  struct Case {
    const char* arguments;
    const char* words;
  };
  const char* const window =
      " is neither a range (step, step:100, step:100: or step:100:200, counted from 1) nor profiler\n";
  const char* const ranks = " is not a list of ranks, such as 0,3-5\n";
  for (const Case& each :
       {Case{"--window sweep:20:10", window},
        {"--window sweep:a:b", window},
        {"--window sweep:0:0", window},
        {"--window sweep:", window},
        {"--window :3", window},
        {"--window ''", window},
        {"--ranks foo", ranks},
        {"--ranks 3-1", ranks},
        {"--ranks 0,", ranks},
        {"--ranks ''", ranks},
        {"--keep-last x", " is not a number of bytes, such as 200M\n"},
        {"--keep-last 1K", " is too little: a rank with one thread takes 1540K, and usual is 200M\n"},
        {"--keep-last 1539K", " is too little: a rank with one thread takes 1540K, and usual is 200M\n"}}) {
    const Outcome outcome = penstock(std::string("run ") + each.arguments + " /bin/echo started");
    EXPECT_EQ(outcome.exit_code, 2) << each.arguments;
    EXPECT_NE(outcome.errors.find(each.words), std::string::npos) << each.arguments << ": " << outcome.errors;
    EXPECT_EQ(outcome.output, "") << each.arguments;
  }
  for (const char* good : {"--window sweep", "--window sweep:3", "--window sweep:3:", "--window sweep:3:5",
                           "--window profiler", "--window solver::step:3:5", "--window 'MPI: halo'",
                           "--ranks 0,3-5", "--ranks 7", "--keep-last 1540K", "--keep-last 200M"}) {
    EXPECT_EQ(penstock(std::string("run ") + good + " /bin/echo started").output, "started\n") << good;
  }
}

TEST_F(Command, run_of_a_launcher_starts_nothing_and_ends_with_2) {
  const std::filesystem::path started = file("started");
  for (const char* name : {"mpiexec", "mpirun.openmpi", "srun"}) {
    const std::filesystem::path launcher = file(name);
    std::ofstream(launcher) << "#!/bin/sh\ntouch " << started.string() << "\n";
    std::filesystem::permissions(launcher, std::filesystem::perms::owner_all);
    const Outcome outcome = penstock("run " + launcher.string() + " -n 2 /bin/true");
    EXPECT_EQ(outcome.exit_code, 2) << name;
    EXPECT_NE(outcome.errors.find(launcher.string() + " -n 4 penstock run ./app"), std::string::npos)
        << outcome.errors;
    EXPECT_FALSE(std::filesystem::exists(started)) << name;
  }
}

TEST_F(Command, run_of_a_file_that_is_no_program_ends_with_126) {
  EXPECT_EQ(penstock("run /etc/passwd").exit_code, 126);
}

TEST_F(Command, run_hands_its_options_to_the_program_by_environment) {
  const Outcome outcome = penstock(
      "run --mpi mpich -o somewhere --transport staged /bin/sh -c 'echo $PENSTOCK_RECORD $PENSTOCK_OUTPUT "
      "$PENSTOCK_TRANSPORT'");
  const bool has_library = outcome.errors.empty();  // the preload library may not be built yet
  if (has_library) {
    EXPECT_EQ(outcome.output, "1 " + (std::filesystem::current_path() / "somewhere").string() + " staged\n");
  } else {
    EXPECT_NE(outcome.errors.find("is missing"), std::string::npos) << outcome.errors;
  }
}

TEST_F(Command, tune_says_at_once_that_its_table_cannot_be_written) {
  const Outcome outcome = penstock("tune --output /proc/nowhere/table");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.errors.find("penstock: /proc/nowhere: "), 0u) << outcome.errors;
}

TEST_F(Command, info_names_both_mpis_and_the_gpu_driver) {
  const Outcome outcome = penstock("info");
  EXPECT_EQ(outcome.exit_code, 0);
  for (const char* word : {"MPICH", "Open MPI", "GPU driver", "CUPTI", "NVML"}) {
    EXPECT_NE(outcome.output.find(word), std::string::npos) << word;
  }
}

TEST_F(Command, info_says_whether_this_build_is_for_the_simulated_gpu) {
  const bool is_simulated = penstock("--version").output.find("simulated GPU") != std::string::npos;
  const std::string output = penstock("info").output;
  EXPECT_EQ(output.starts_with("this build         is for the simulated GPU"), is_simulated) << output;
}

}  // namespace
}  // namespace penstock::analysis
