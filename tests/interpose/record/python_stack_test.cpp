// Functions of Python, read from the memory of an interpreter that the test makes up: as each version has it,
// and damaged.
#include "interpose/record/python/python_stack.hpp"

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "fake_python.hpp"
#include "interpose/record/python/python_lines.hpp"

namespace penstock {
namespace {

using record::line_in_table;
using record::PythonFrame;
using record::PythonLayout;
using record::PythonStack;
using record::ReadLog;
using test::FakePython;
using Lines = PythonLayout::Lines;

std::vector<PythonFrame> frames_of(const PythonLayout& layout, const FakePython& python, std::size_t most,
                                   ReadLog& log) {
  PythonStack stack(layout, python.types, log);
  const auto head = stack.innermost(python.thread_state);
  return head ? stack.frames(head->address, most) : std::vector<PythonFrame>{};
}

std::string text_of(const std::vector<PythonFrame>& frames) {
  std::string text;
  for (const PythonFrame& each : frames)
    text += each.function + "@" + each.file + ":" + std::to_string(each.line) + " ";
  return text;
}

class PythonVersions : public testing::TestWithParam<unsigned> {
 protected:
  const PythonLayout& layout_ = *record::python_layout(GetParam());
  FakePython python_{layout_};
  ReadLog log_;
  std::uint64_t innermost_ = 0;
  std::uint64_t step_ = 0;

  void SetUp() override {
    const std::uint64_t file = python_.str("app.py");
    step_ = python_.code(python_.str("step"), file, 10);
    const std::uint64_t main = python_.code(python_.str("main"), file, 30);
    std::uint64_t outer = python_.frame(main, 0, 2);
    if (layout_.owner != 0 && GetParam() >= 12) outer = python_.frame_of_c(outer);
    innermost_ = python_.frame(step_, outer, 4);
    python_.run(innermost_);
  }
  std::string read(std::size_t most = 12) { return text_of(frames_of(layout_, python_, most, log_)); }
};

TEST_P(PythonVersions, have_functions_files_and_lines_innermost_first) {
  EXPECT_EQ(read(), "step@app.py:10 main@app.py:30 ");
}

TEST_P(PythonVersions, are_read_no_further_than_asked) {
  EXPECT_EQ(read(1), "step@app.py:10 ");
  EXPECT_EQ(read(0), "");
}

TEST_P(PythonVersions, tell_a_function_that_has_not_begun_by_its_first_line) {
  python_.run(python_.frame(step_, 0, -2));
  EXPECT_EQ(read(), "step@app.py:10 ");
}

TEST_P(PythonVersions, have_names_in_all_scripts_and_on_one_line) {
  const std::uint64_t latin = python_.wide_str<std::uint8_t>({'n', 0xe9});
  const std::uint64_t greek = python_.wide_str<std::uint16_t>({0x3c0, '\n', 0xd800});
  const std::uint64_t emoji = python_.wide_str<std::uint32_t>({0x1f600, 0x110000});
  const std::uint64_t inner = python_.frame(python_.code(greek, emoji, 3), 0, 0);
  python_.run(python_.frame(python_.code(latin, greek, 5), inner, 0));
  EXPECT_EQ(read(), "n\u00e9@\u03c0 ?:5 \u03c0 ?@\U0001f600?:3 ");
}

TEST_P(PythonVersions, have_no_frames_in_a_state_of_another_thread) {
  std::string elsewhere = "not read";
  std::thread([&] { elsewhere = read(); }).join();
  EXPECT_EQ(elsewhere, "");
}

TEST_P(PythonVersions, have_no_frames_where_no_python_runs) {
  python_.put(python_.thread_state + layout_.frame, std::uint64_t{0});
  EXPECT_EQ(read(), "");
}

TEST_P(PythonVersions, end_at_what_is_no_code_and_do_not_go_round_in_circles) {
  const std::uint64_t of_no_code = python_.frame(python_.str("text"), innermost_, 0);
  python_.run(python_.frame(step_, of_no_code, 4));
  EXPECT_EQ(read(), "step@app.py:10 ");
  const std::uint64_t circle = python_.frame(step_, 0, 4);
  python_.put(circle + layout_.previous, circle);
  python_.run(circle);
  EXPECT_EQ(read(), "");
  if (GetParam() < 12) return;
  const std::uint64_t one = python_.frame_of_c(0);
  const std::uint64_t other = python_.frame_of_c(one);
  python_.put(one + layout_.previous, other);
  python_.run(one);
  EXPECT_EQ(read(), "");
}

TEST_P(PythonVersions, tell_whether_anything_that_was_read_has_changed) {
  ASSERT_EQ(read(), "step@app.py:10 main@app.py:30 ");
  std::vector<std::byte> scratch;
  EXPECT_TRUE(log_.is_unchanged(scratch));
  python_.put(step_ + layout_.first_line, 11);
  EXPECT_FALSE(log_.is_unchanged(scratch));
  python_.put(step_ + layout_.first_line, 10);
  EXPECT_TRUE(log_.is_unchanged(scratch));
  const std::uint64_t other = python_.code(python_.str("other"), python_.str("app.py"), 10);
  python_.put(innermost_ + layout_.code, other);
  EXPECT_FALSE(log_.is_unchanged(scratch));
}

TEST_P(PythonVersions, that_are_damaged_are_read_without_harm) {
  std::mt19937 random(GetParam());
  std::vector<std::byte> whole(FakePython::bytes);
  std::memcpy(whole.data(), reinterpret_cast<const void*>(python_.begin()), whole.size());
  std::vector<std::byte> scratch;
  std::size_t readable = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::memcpy(reinterpret_cast<void*>(python_.begin()), whole.data(), whole.size());
    for (auto changes = random() % 6; changes > 0; --changes) {
      const std::uint64_t at = python_.begin() + random() % (python_.used() / 8) * 8;
      const std::uint64_t place =
          python_.begin() + random() % (2 * FakePython::bytes) - FakePython::bytes / 2;
      python_.put(at, random() % 4 != 0 ? place : std::uint64_t{random()} << (random() % 40));
    }
    python_.put(python_.thread_state + layout_.thread_id, static_cast<std::uint64_t>(pthread_self()));
    log_.clear();
    const std::vector<PythonFrame> frames = frames_of(layout_, python_, 12, log_);
    EXPECT_LE(frames.size(), 12u);
    readable += frames.empty() ? 0 : 1;
    static_cast<void>(log_.is_unchanged(scratch));
  }
  EXPECT_GT(readable, 1000u);
}

INSTANTIATE_TEST_SUITE_P(Known, PythonVersions, testing::Range(8u, 14u));

TEST(PythonLayout, of_versions_that_nobody_looked_at_is_not_known) {
  EXPECT_EQ(record::python_layout(7), nullptr);
  EXPECT_EQ(record::python_layout(14), nullptr);
}

std::vector<std::byte> table_of(std::initializer_list<unsigned> values) {
  std::vector<std::byte> table;
  for (const unsigned value : values) table.push_back(static_cast<std::byte>(value));
  return table;
}

TEST(PythonLines, are_told_by_steps) {
  // 0 to 5: line 1; 6 to 9: line 3; from 10 on: line 2
  const auto table = table_of({6, 2, 4, 0xff});
  EXPECT_EQ(line_in_table(Lines::steps, table, true, 1, 0), 1);
  EXPECT_EQ(line_in_table(Lines::steps, table, true, 1, 5), 1);
  EXPECT_EQ(line_in_table(Lines::steps, table, true, 1, 6), 3);
  EXPECT_EQ(line_in_table(Lines::steps, table, true, 1, 10), 2);
  EXPECT_EQ(line_in_table(Lines::steps, table, true, 1, 99), 2);
  EXPECT_EQ(line_in_table(Lines::steps, table, false, 1, 99), std::nullopt);
}

TEST(PythonLines, are_told_by_ranges_of_which_some_have_none) {
  // 0 to 5: line 12; 6 to 9: none; 10 to 13: line 11
  const auto table = table_of({6, 2, 4, 0x80, 4, 0xff});
  EXPECT_EQ(line_in_table(Lines::ranges, table, true, 10, 0), 12);
  EXPECT_EQ(line_in_table(Lines::ranges, table, true, 10, 8), 0);
  EXPECT_EQ(line_in_table(Lines::ranges, table, true, 10, 12), 11);
  EXPECT_EQ(line_in_table(Lines::ranges, table, true, 10, 14), 0);
  EXPECT_EQ(line_in_table(Lines::ranges, table, false, 10, 14), std::nullopt);
}

TEST(PythonLines, are_told_by_locations_of_each_form) {
  const auto entry = [](unsigned kind, unsigned units) { return 0x80u | kind << 3 | (units - 1); };
  const auto table = table_of({entry(3, 1), 0x12,              // 0: line 10
                               entry(11, 2), 1, 2,             // 2: line 11
                               entry(13, 1), 80 - 64 + 64, 1,  // 6: 80 = 16 + 64 · 1: by 40, line 51
                               entry(14, 1), 3, 0, 1, 1,       // 8: by -1, line 50
                               entry(15, 1),                   // 10: none
                               entry(12, 8), 1, 2});           // 12: line 52
  EXPECT_EQ(line_in_table(Lines::locations, table, true, 10, 0), 10);
  EXPECT_EQ(line_in_table(Lines::locations, table, true, 10, 4), 11);
  EXPECT_EQ(line_in_table(Lines::locations, table, true, 10, 6), 51);
  EXPECT_EQ(line_in_table(Lines::locations, table, true, 10, 8), 50);
  EXPECT_EQ(line_in_table(Lines::locations, table, true, 10, 10), 0);
  EXPECT_EQ(line_in_table(Lines::locations, table, true, 10, 27), 52);
  EXPECT_EQ(line_in_table(Lines::locations, table, true, 10, 28), 0);
  EXPECT_EQ(line_in_table(Lines::locations, table, false, 10, 28), std::nullopt);
}

TEST(PythonLines, of_any_bytes_are_lines_or_none) {
  std::mt19937 random(3);
  for (int i = 0; i < 100'000; ++i) {
    std::vector<std::byte> table(random() % 24);
    for (std::byte& each : table) each = static_cast<std::byte>(random());
    for (const Lines kind : {Lines::steps, Lines::ranges, Lines::locations}) {
      const auto line =
          line_in_table(kind, table, random() % 2 == 0, static_cast<int>(random()), random() % 64);
      EXPECT_GE(line.value_or(0), 0);
    }
  }
}

TEST(ReadLog, of_memory_that_is_not_there_says_so) {
  ReadLog log;
  std::array<std::byte, 16> to{};
  std::vector<std::byte> scratch;
  EXPECT_FALSE(log.read(8, to));
  EXPECT_FALSE(log.is_unchanged(scratch)) << "it knows nothing";
  auto* const page = static_cast<std::byte*>(
      mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  munmap(page + 4096, 4096);
  EXPECT_TRUE(log.read(reinterpret_cast<std::uint64_t>(page), to));
  EXPECT_FALSE(log.read(reinterpret_cast<std::uint64_t>(page) + 4090, to)) << "half of it";
  EXPECT_TRUE(log.is_unchanged(scratch));
  munmap(page, 4096);
  EXPECT_FALSE(log.is_unchanged(scratch));
}

TEST(ReadLog, of_more_than_it_keeps_is_never_unchanged) {
  ReadLog log;
  std::vector<std::byte> memory(ReadLog::most_bytes / 2 + 1);
  std::vector<std::byte> to(memory.size());
  std::vector<std::byte> scratch;
  const auto at = reinterpret_cast<std::uint64_t>(memory.data());
  EXPECT_TRUE(log.read(at, to));
  EXPECT_TRUE(log.is_unchanged(scratch));
  EXPECT_TRUE(log.read(at, to));
  EXPECT_FALSE(log.is_unchanged(scratch));
  log.clear();
  EXPECT_TRUE(log.read(at, to));
  EXPECT_TRUE(log.is_unchanged(scratch));
}

}  // namespace
}  // namespace penstock
