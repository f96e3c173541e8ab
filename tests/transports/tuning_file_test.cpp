// What penstock tune's file may look like, without any GPU: what is right is read, what is wrong is named.
#include "transports/tuning/tuning_file.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

#include "transports/host/byte_sizes.hpp"

namespace penstock::transports {
namespace {

using cuda::Link;

const std::string head = "format = 1\nmeasured = 2026-11-20 17:03\ndriver = 13000\ngpu = GPU-1 A GPU\n";
const std::string good = head +
                         "pushed_from = 256K  # 64K 9/12\nstaged_chunk = 2M\n"
                         "[nvlink]\nstaged_from = 1M\nrelayed_from = 0\n"
                         "[pcie]\nrelayed_chunk = 8M\n\n[end]\n";

const TuningParameter& parameter(std::string_view name) {
  for (const TuningParameter& each : tuning_parameters()) {
    if (name == each.name) return each;
  }
  throw std::runtime_error("no such figure");
}

std::string fault_of(const std::string& text) {
  TuningFile file;
  return parse_tuning(text, file);
}

TEST(TuningFile, gives_its_figures_and_leaves_the_others_as_shipped) {
  TuningFile file;
  ASSERT_EQ(parse_tuning(good, file), "");
  EXPECT_EQ(file.measured, "2026-11-20 17:03");
  EXPECT_EQ(file.driver_version, 13000);
  ASSERT_EQ(file.gpus.size(), 1u);
  EXPECT_EQ(file.gpus[0].uuid, "GPU-1");
  EXPECT_EQ(file.gpus[0].name, "A GPU");
  const Tuning table = file.table();
  EXPECT_EQ(table.pushed_from, 256u << 10);
  EXPECT_EQ(table.staged_chunk, 2u << 20);
  EXPECT_EQ(table.of(Link::nvlink).staged_from, 1u << 20);
  EXPECT_EQ(table.of(Link::nvlink).relayed_from, 0u);
  EXPECT_EQ(table.of(Link::pcie).relayed_chunk, 8u << 20);
  EXPECT_EQ(table.of(Link::nvlink).relayed_chunk, shipped_tuning().of(Link::nvlink).relayed_chunk);
  EXPECT_EQ(table.of(Link::same_device).relayed_from, shipped_tuning().of(Link::same_device).relayed_from);
  EXPECT_EQ(table.bounced_from, shipped_tuning().bounced_from);
  EXPECT_EQ(file.find(parameter("pushed_from"), Link::none)->remark, "64K 9/12");
  EXPECT_EQ(file.find(parameter("bounced_from"), Link::none), nullptr);
}

TEST(TuningFile, is_read_as_it_was_written) {
  TuningFile written;
  ASSERT_EQ(parse_tuning(good, written), "");
  TuningFile read;
  ASSERT_EQ(parse_tuning(text_of(written), read), "");
  EXPECT_EQ(text_of(read), text_of(written));
  EXPECT_EQ(read.entries.size(), 5u);
}

TEST(TuningFile, that_is_cut_off_anywhere_is_refused) {
  const std::string whole = good.substr(0, good.size() - 1);  // without the last line's end nothing is lost
  EXPECT_EQ(fault_of(whole), "");
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_NE(fault_of(whole.substr(0, length)), "") << "after " << length << " bytes";
}

TEST(TuningFile, that_is_broken_is_refused_with_the_line_and_what_is_wrong_there) {
  const auto with = [](const std::string& line) { return head + line + "\n[end]\n"; };
  EXPECT_EQ(fault_of("pushed_from = 1K\n[end]\n"), "1: the file does not begin with its format");
  EXPECT_EQ(fault_of("format = 2\n[end]\n"), "1: it is of format 2, which this version does not know");
  EXPECT_EQ(fault_of(with("pushed_form = 1K")), "5: pushed_form is not a figure of this section");
  EXPECT_EQ(fault_of(with("relayed_from = 1K")), "5: relayed_from is not a figure of this section");
  EXPECT_EQ(fault_of(with("[pcie]\npushed_from = 1K")), "6: pushed_from is not a figure of this section");
  EXPECT_EQ(fault_of(with("[ethernet]")), "5: [ethernet] is not a valid section");
  EXPECT_EQ(fault_of(with("pushed_from")), "5: pushed_from is not a valid line (name = value)");
  EXPECT_EQ(fault_of(with("pushed_from = 1K\npushed_from = 2K")), "6: pushed_from is given twice");
  EXPECT_EQ(fault_of(with("driver = 13.0")), "5: driver = 13.0 is not a version");
  EXPECT_EQ(fault_of("format = 1\n[end]\n"),
            "2: the file does not name the GPUs and the driver of the measurement");
  EXPECT_NE(fault_of(std::string("\0\x7f\x45\x4c\x46 = \xff\n[end]", 13)), "");
}

TEST(TuningFile, with_absurd_figures_is_refused) {
  for (const char* line :
       {"pushed_from = -1", "pushed_from = 1.5M", "pushed_from = 64Q", "pushed_from = 99999999999999999999",
        "pushed_from = 18446744073709551615", "staged_chunk = 0", "staged_chunk = 3M", "staged_chunk = 64K",
        "staged_chunk = 1G", "staged_chunk = never", "batched_to = never", "batched_to = 4G"}) {
    const std::string fault = fault_of(head + line + "\n[end]\n");
    EXPECT_EQ(fault.substr(0, 3), "5: ") << line;
    EXPECT_NE(fault.find(" is not a size from "), std::string::npos) << line << ": " << fault;
  }
}

TEST(TuningWish, names_figures_that_hold_for_all_links_and_a_file_in_any_order) {
  for (const char* wish : {"/a/table,relayed_from=2M,linger_us=0", "relayed_from=2M, linger_us=0,/a/table"}) {
    const FoundTuning found = wished_tuning(wish);
    EXPECT_EQ(found.problem, "");
    EXPECT_EQ(found.path, "/a/table");
    for (const Link link : {Link::nvlink, Link::pcie, Link::same_device})
      EXPECT_EQ(found.table.of(link).relayed_from, 2u << 20);
    EXPECT_EQ(found.table.linger_us, 0u);
    EXPECT_EQ(found.table.staged_chunk, shipped_tuning().staged_chunk);
  }
}

TEST(TuningFile, of_an_earlier_version_may_have_a_figure_that_is_gone) {
  EXPECT_EQ(fault_of(head + "[nvlink]\nstriped_from = 128M  # 64M 170/180\nrelayed_from = 0\n[end]\n"), "");
}

TEST(TuningWish, for_a_figure_that_is_gone_changes_nothing) {
  const FoundTuning found = wished_tuning("striped_from=64G");
  EXPECT_EQ(found.problem, "");
  EXPECT_TRUE(found.figures.empty());
}

TEST(TuningWish, of_nothing_or_what_is_shipped_changes_nothing) {
  for (const char* wish : {"", "shipped", ",", "/a/name=value"}) {
    const FoundTuning found = wished_tuning(wish);
    EXPECT_EQ(found.problem, "") << wish;
    EXPECT_TRUE(found.figures.empty()) << wish;
  }
}

TEST(TuningWish, with_a_figure_that_cannot_be_read_says_so_and_takes_the_others) {
  const auto problem = [](const char* wish) {
    const FoundTuning found = wished_tuning(wish);
    EXPECT_EQ(found.table.buffered_to, 1u << 10) << wish;
    return found.problem;
  };
  EXPECT_EQ(problem("relayed_form=2M,buffered_to=1K"), "relayed_form is not a figure");
  EXPECT_EQ(problem("buffered_to=1K,linger_us=long"),
            "linger_us = long is not a time from 0 to 1000000 microseconds");
  EXPECT_EQ(problem("buffered_to=1K,staged_chunk=3M"),
            "staged_chunk = 3M is not a size from 1M to 32M, a power of two");
}

TEST(TuningFile, lies_where_the_user_keeps_settings) {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  const std::string home = variable("HOME");
  const std::string folder = variable("XDG_CONFIG_HOME");
  ::setenv("HOME", "/home/me", 1);
  ::unsetenv("XDG_CONFIG_HOME");
  EXPECT_EQ(default_tuning_path().substr(0, 32), "/home/me/.config/penstock/tuning");
  ::setenv("XDG_CONFIG_HOME", "/settings", 1);
  EXPECT_EQ(default_tuning_path().substr(0, 26), "/settings/penstock/tuning-");
  ::setenv("XDG_CONFIG_HOME", "not/absolute", 1);
  EXPECT_EQ(default_tuning_path().substr(0, 17), "/home/me/.config/");
  ::unsetenv("XDG_CONFIG_HOME");
  ::unsetenv("HOME");
  EXPECT_EQ(default_tuning_path(), "");
  if (!home.empty()) ::setenv("HOME", home.c_str(), 1);
  if (!folder.empty()) ::setenv("XDG_CONFIG_HOME", folder.c_str(), 1);
}

TEST(ByteSizes, are_written_by_the_largest_unit_that_divides_them_and_read_again) {
  for (const std::uint64_t bytes :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1000}, std::uint64_t{1024}, std::uint64_t{1025},
        std::uint64_t{3} << 20, std::uint64_t{7} << 40}) {
    std::uint64_t read = 99;
    EXPECT_TRUE(parse_bytes(bytes_text(bytes), read));
    EXPECT_EQ(read, bytes);
  }
  EXPECT_EQ(bytes_text(3u << 20), "3M");
  EXPECT_EQ(bytes_text(std::uint64_t{7} << 40), "7168G");
}

}  // namespace
}  // namespace penstock::transports
