// Call paths: what is recorded is what an unwinder that knows everything finds, and no stack, however odd,
// brings the program down.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <array>
#include <csignal>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "call_path_callers.hpp"
#include "child_process.hpp"
#include "interpose/record/call_paths/stack_walk.hpp"
#include "interpose/record/call_paths/unwind_table.hpp"
#include "interpose/record/recorder.hpp"
#include "recording_reader.hpp"
#include "tests/support/kept_function.hpp"

namespace penstock {
namespace {

using test::Callee;
using test::Callers;
using test::in_child;
using test::ReadRecording;
using test::TemporaryFolder;

using Frames = std::vector<std::uint64_t>;

/// Stands for a function of MPI: what it notes of one call.
struct Call {
  std::uint64_t site = 0;
  Frames true_frames;  ///< from the caller's return address on
};

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* to) {
  if (_Unwind_GetIP(context) != 0) static_cast<Frames*>(to)->push_back(_Unwind_GetIP(context));
  return _URC_NO_REASON;
}

PENSTOCK_KEPT_FUNCTION void call_of_mpi(void* data) {
  Call& call = *static_cast<Call*>(data);
  const void* const return_address = __builtin_return_address(0);
  call.site = record::call_site_of(return_address);
  Frames frames;
  _Unwind_Backtrace(add_frame, &frames);
  frames.erase(frames.begin());  // this function's own
  call.true_frames = std::move(frames);
  ASSERT_FALSE(call.true_frames.empty());
  ASSERT_EQ(call.true_frames[0], reinterpret_cast<std::uint64_t>(return_address));
}

/// Does nothing else, so that it leaves its caller's frame pointer where it was.
PENSTOCK_KEPT_FUNCTION void bare_call_of_mpi(void* data) {
  *static_cast<std::uint64_t*>(data) = record::call_site_of(__builtin_return_address(0));
}

bool is_path(std::uint64_t site) {
  return (site & trace::call_path_bit) != 0;
}

/// The frames of a call by the recording.
Frames recorded_frames(const ReadRecording& recording, std::uint64_t site) {
  if (!is_path(site)) return {site};
  Frames frames;
  for (const auto& part : recording.all<trace::CallPath>(trace::RecordKind::call_path)) {
    if (part.id != (site & ~trace::call_path_bit)) continue;
    EXPECT_EQ(part.first, frames.size());
    frames.insert(frames.end(), part.return_addresses, part.return_addresses + part.frames);
  }
  return frames;
}

Frames nearest(Frames frames, std::size_t count = record::most_frames) {
  if (frames.size() > count) frames.resize(count);
  return frames;
}

class CallPaths : public testing::TestWithParam<const Callers* (*)()> {
 protected:
  const Callers& callers_ = *GetParam()();
  const TemporaryFolder folder_;

  /// Records `calls` made by `work`, and compares their paths with the truth.
  void expect_true_paths(const std::function<std::vector<Call>()>& work) {
    const auto result = in_child([&] {
      ASSERT_TRUE(record::begin(folder_.identity()));
      const std::vector<Call> calls = work();
      record::end();
      const ReadRecording recording(folder_.recording());
      for (const Call& call : calls) {
        EXPECT_EQ(recorded_frames(recording, call.site), nearest(call.true_frames));
      }
    });
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(result.signal, 0);
  }
};

TEST_P(CallPaths, have_the_frames_that_the_unwinder_of_exceptions_finds) {
  expect_true_paths([&] {
    std::vector<Call> calls(5);
    callers_.plain(call_of_mpi, &calls[0]);
    callers_.realigned(call_of_mpi, &calls[1]);
    callers_.with_array(1000, call_of_mpi, &calls[2]);
    callers_.recursive(3, call_of_mpi, &calls[3]);
    callers_.recursive(7, call_of_mpi, &calls[4]);
    return calls;
  });
}

TEST_P(CallPaths, end_after_twelve_frames_of_a_deep_stack) {
  expect_true_paths([&] {
    std::vector<Call> calls(2);
    callers_.recursive(13, call_of_mpi, &calls[0]);
    callers_.recursive(5000, call_of_mpi, &calls[1]);
    EXPECT_GT(calls[1].true_frames.size(), 5000u);
    EXPECT_EQ(calls[0].site, calls[1].site) << "the nearest twelve frames are the same";
    return calls;
  });
}

TEST_P(CallPaths, tell_apart_the_callers_of_a_wrapper_time_and_again) {
  expect_true_paths([&] {
    std::vector<Call> calls(8);
    for (std::size_t i = 0; i < calls.size(); i += 2) {
      callers_.first_of_wrapper(call_of_mpi, &calls[i]);
      callers_.second_of_wrapper(call_of_mpi, &calls[i + 1]);
      EXPECT_EQ(calls[i].true_frames[0], calls[i + 1].true_frames[0]) << "one call of MPI";
      EXPECT_NE(calls[i].site, calls[i + 1].site);
      EXPECT_EQ(is_path(calls[i].site) ? calls[i].site : 0, calls[0].site);
    }
    return calls;
  });
}

TEST_P(CallPaths, are_the_same_whatever_the_size_of_frames_between_them) {
  expect_true_paths([&] {
    std::vector<Call> calls(600);
    std::set<std::uint64_t> sites;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      callers_.with_array(i * 16, call_of_mpi, &calls[i]);
      sites.insert(calls[i].site);
    }
    EXPECT_EQ(sites.size(), 1u);
    return calls;
  });
}

TEST_P(CallPaths, do_not_depend_on_what_the_function_of_mpi_does_with_registers) {
  expect_true_paths([&] {
    std::vector<Call> calls(3);
    for (std::size_t i = 0; i < calls.size(); ++i) {
      std::uint64_t site = 0;
      const auto by_both = [&](Callee callee, void* data) {
        if (i == 0) callers_.with_array(64, callee, data);
        if (i == 1) callers_.plain(callee, data);
        if (i == 2) callers_.realigned(callee, data);
      };
      for (const bool is_bare : {true, false}) {
        by_both(is_bare ? bare_call_of_mpi : call_of_mpi,
                is_bare ? static_cast<void*>(&site) : static_cast<void*>(&calls[i]));
      }
      EXPECT_EQ(site, calls[i].site);
    }
    return calls;
  });
}

TEST_P(CallPaths, of_threads_have_the_same_numbers) {
  expect_true_paths([&] {
    constexpr int threads = 4;
    std::vector<std::vector<Call>> calls(threads, std::vector<Call>(200));
    std::vector<std::thread> running;
    for (std::vector<Call>& of_thread : calls) {
      running.emplace_back([this, &of_thread] {
        for (std::size_t i = 0; i < of_thread.size(); i += 2) {
          callers_.first_of_wrapper(call_of_mpi, &of_thread[i]);
          callers_.recursive(4, call_of_mpi, &of_thread[i + 1]);
        }
      });
    }
    for (std::thread& each : running) each.join();
    std::vector<Call> all;
    for (const std::vector<Call>& of_thread : calls) {
      EXPECT_EQ(of_thread[0].site, calls[0][0].site);
      all.insert(all.end(), of_thread.begin(), of_thread.end());
    }
    return all;
  });
}

struct OnOddStack {
  const Callers* callers;
  Call call;
  ucontext_t odd{};
  ucontext_t back{};
};
OnOddStack* on_odd_stack = nullptr;

void run_on_odd_stack() {
  on_odd_stack->callers->first_of_wrapper(
      [](void* data) { static_cast<Call*>(data)->site = record::call_site_of(__builtin_return_address(0)); },
      &on_odd_stack->call);
}

TEST_P(CallPaths, of_a_coroutine_are_its_call_site_alone) {
  const auto result = in_child([&] {
    ASSERT_TRUE(record::begin(folder_.identity()));
    OnOddStack here{&callers_, {}};
    on_odd_stack = &here;
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    // the stack ends where the memory does
    void* const memory = mmap(nullptr, 64 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    ASSERT_EQ(munmap(static_cast<char*>(memory) + 63 * page, page), 0);
    getcontext(&here.odd);
    here.odd.uc_stack.ss_sp = memory;
    here.odd.uc_stack.ss_size = 63 * page;
    here.odd.uc_link = &here.back;
    makecontext(&here.odd, run_on_odd_stack, 0);
    ASSERT_EQ(swapcontext(&here.back, &here.odd), 0);
    EXPECT_FALSE(is_path(here.call.site));
    EXPECT_NE(here.call.site, 0u);
    Call usual;
    callers_.first_of_wrapper(call_of_mpi, &usual);
    EXPECT_TRUE(is_path(usual.site));
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.signal, 0);
}

Call from_handler;
const Callers* callers_of_handler = nullptr;

TEST_P(CallPaths, of_a_signals_handler_end_at_the_handler_or_go_on_truly) {
  for (const bool on_its_own_stack : {false, true}) {
    const TemporaryFolder folder;
    const auto result = in_child([&] {
      ASSERT_TRUE(record::begin(folder.identity()));
      callers_of_handler = &callers_;
      std::vector<std::byte> memory(1 << 16);
      stack_t alternative{memory.data(), 0, memory.size()};
      ASSERT_EQ(sigaltstack(&alternative, nullptr), 0);
      struct sigaction action {};
      action.sa_handler = [](int) { callers_of_handler->plain(call_of_mpi, &from_handler); };
      action.sa_flags = on_its_own_stack ? SA_ONSTACK : 0;
      ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
      ASSERT_EQ(raise(SIGUSR1), 0);
      record::end();
      const Frames frames = recorded_frames(ReadRecording(folder.recording()), from_handler.site);
      EXPECT_EQ(frames, nearest(from_handler.true_frames, frames.size()));
    });
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(result.signal, 0);
  }
}

TEST_P(CallPaths, are_off_by_a_setting_and_as_short_as_it_says) {
  for (const std::uint32_t frames : {0u, 1u, 3u}) {
    const TemporaryFolder folder;
    const auto result = in_child([&] {
      record::Identity identity = folder.identity();
      identity.call_path_frames = frames;
      ASSERT_TRUE(record::begin(identity));
      Call call;
      callers_.recursive(6, call_of_mpi, &call);
      record::end();
      EXPECT_EQ(is_path(call.site), frames == 3);
      EXPECT_EQ(recorded_frames(ReadRecording(folder.recording()), call.site),
                nearest(call.true_frames, std::max(1u, frames)));
    });
    EXPECT_EQ(result.exit_code, 0) << frames << result.errors;
  }
}

TEST_P(CallPaths, of_a_recording_that_is_full_are_call_sites) {
  const auto result = in_child([&] {
    record::Identity identity = folder_.identity();
    identity.limit_bytes = trace::file_header_bytes + trace::block_bytes;
    ASSERT_TRUE(record::begin(identity));
    Call call;
    for (int i = 0; i < 10'000; ++i) static_cast<void>(record::intern(std::to_string(i)));
    callers_.recursive(6, call_of_mpi, &call);
    EXPECT_EQ(call.site, call.true_frames[0]);
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
}

INSTANTIATE_TEST_SUITE_P(Compiled, CallPaths,
                         testing::Values([] { return &test::callers_without_frame_pointers(); },
                                         [] { return &test::callers_with_frame_pointers(); },
                                         [] { return &test::callers_not_optimised(); }),
                         [](const auto& each) { return std::string(each.param()->how_compiled); });

TEST(CallPathsWithoutStack, of_an_address_that_no_caller_returns_to_are_that_address) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    ASSERT_TRUE(record::begin(folder.identity()));
    const int somewhere = 0;
    EXPECT_EQ(record::call_site_of(&somewhere), reinterpret_cast<std::uint64_t>(&somewhere));
    EXPECT_EQ(record::call_site_of(nullptr), 0u);
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
}

/// Rules that lead anywhere.
class AnyRules final : public record::FrameRules {
 public:
  explicit AnyRules(std::uint32_t seed) : random_(seed) {}
  record::CodeAt at(std::uint64_t) noexcept override {
    record::FrameRule rule;
    rule.end_by = static_cast<record::FrameRule::EndBy>(random_() % 4);
    rule.callers = static_cast<record::FrameRule::CallersFramePointer>(random_() % 4);
    rule.offset = any();
    rule.slot = any();
    rule.saved_at = any();
    return {random_() % 8 != 0, rule};
  }

 private:
  std::int32_t any() {
    return random_() % 8 == 0 ? static_cast<std::int32_t>(random_())
                              : static_cast<std::int32_t>(random_() % 64) * 8 - 128;
  }
  std::mt19937 random_;
};

TEST(StackWalk, reads_nothing_outside_of_the_stack_whatever_the_rules_and_the_words_are) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto* const memory =
      static_cast<std::byte*>(mmap(nullptr, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  std::byte* const stack = memory + page;
  ASSERT_EQ(mprotect(stack, page, PROT_READ | PROT_WRITE), 0);
  const auto low = reinterpret_cast<std::uint64_t>(stack);
  const record::StackBounds bounds{low, low + page};
  std::mt19937 random(7);
  std::size_t longest = 0;
  for (std::uint32_t seed = 0; seed < 20'000; ++seed) {
    for (std::size_t at = 0; at < page; at += 8) {
      const std::uint64_t word = random() % 3 == 0 ? low + random() % page : random() % 16;
      if (seed % 100 == 0) std::memcpy(stack + at, &word, sizeof word);
    }
    AnyRules rules(seed);
    const std::uint64_t frame = low + random() % (page / 8) * 8;
    std::uint64_t first = 0;
    if (frame + 16 <= low + page) std::memcpy(&first, stack + (frame - low) + 8, sizeof first);
    const record::StackPath path = record::walk_stack(frame, bounds, first, record::most_frames, rules);
    longest = std::max(longest, path.frames);
    for (std::size_t i = 0; i < path.words; ++i) EXPECT_LE(frame + path.read[i].at + 8, low + page);
  }
  EXPECT_GT(longest, 4u) << "the walks got somewhere";
  munmap(memory, 3 * page);
}

#if defined(__x86_64__)
TEST(UnwindTable, whose_bytes_are_damaged_is_never_read_outside_of_its_memory) {
  // a function from `function` on, 64 bytes long, that pushes the frame pointer
  constexpr std::uint64_t function = 0x400;
  constexpr std::array<unsigned char, 20> common{16,  0, 0, 0,    0,  0, 0,    0,    1, 'z',
                                                 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8};
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto* const memory =
      static_cast<unsigned char*>(mmap(nullptr, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  unsigned char* const table = memory + page;
  ASSERT_EQ(mprotect(table, page, PROT_READ | PROT_WRITE), 0);
  const auto base = reinterpret_cast<std::uint64_t>(table);
  std::vector<unsigned char> bytes;
  const auto put = [&bytes](std::int32_t number) {
    const std::size_t at = bytes.size();
    bytes.resize(at + 4);
    std::memcpy(bytes.data() + at, &number, 4);
  };
  bytes.insert(bytes.end(), {1, 0x1b, 0x03, 0x3b});
  put(0);         // where the table begins; not used
  put(1);         // functions
  put(function);  // the function, and its entry, from the index on
  put(48);
  bytes.insert(bytes.end(), common.begin(), common.end());  // at 20, 20 bytes
  bytes.insert(bytes.end(), {0x90, 1, 0, 0, 0, 0, 0, 0});   // return address at -8; padding
  bytes[20] = 20;                                           // the length behind the length
  const auto entry = static_cast<std::int32_t>(bytes.size());
  ASSERT_EQ(entry, 48);
  put(24);              // length
  put(entry + 4 - 20);  // back to the common part
  put(static_cast<std::int32_t>(function) - (entry + 8));
  put(64);
  bytes.insert(bytes.end(), {0, 0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0, 0, 0});
  const record::ByteRange mapped{base, base + page};
  const auto rule_at = [&](std::uint64_t place) {
    return record::rule_in_table(base, mapped, base + function + place);
  };
  unsigned char* const at = table;
  std::memcpy(at, bytes.data(), bytes.size());
  using EndBy = record::FrameRule::EndBy;
  using CallersFramePointer = record::FrameRule::CallersFramePointer;
  EXPECT_EQ(rule_at(0).end_by, EndBy::stack_pointer);
  EXPECT_EQ(rule_at(0).offset, 8);
  EXPECT_EQ(rule_at(0).callers, CallersFramePointer::unchanged);
  EXPECT_EQ(rule_at(1).offset, 16);
  EXPECT_EQ(rule_at(1).callers, CallersFramePointer::at_end);
  EXPECT_EQ(rule_at(1).saved_at, -16);
  EXPECT_EQ(rule_at(63).end_by, EndBy::frame_pointer);
  EXPECT_EQ(rule_at(64).end_by, EndBy::none) << "behind the function";
  EXPECT_EQ(record::rule_in_table(base, mapped, base + function - 1).end_by, EndBy::none);

  std::mt19937 random(11);
  for (int i = 0; i < 200'000; ++i) {
    std::memcpy(at, bytes.data(), bytes.size());
    for (unsigned changes = random() % 4 + 1; changes > 0; --changes)
      at[random() % bytes.size()] = static_cast<unsigned char>(random());
    static_cast<void>(rule_at(random() % 64));
  }
  // at the very end of what is mapped
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    unsigned char* const end = table + page - size;
    std::memcpy(end, bytes.data(), size);
    const auto index = reinterpret_cast<std::uint64_t>(end);
    static_cast<void>(record::rule_in_table(index, mapped, index + function));
  }
  munmap(memory, 3 * page);
}
#endif

}  // namespace
}  // namespace penstock
