// Calls that only some ranks make, or that each makes by itself, while a non-blocking collective of all has
// been agreed on: they must not wait for a rank that computes, and ranks that wait for the collective must
// not wait for them.
#include <sched.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

#include "tests/interpose/collectives/comparison.hpp"
#include "tests/interpose/collectives/numbers.hpp"
#include "tests/support/memory.hpp"

namespace penstock::test_support {
namespace {

/// A word that all ranks see without a call of MPI.
class SharedWord {
 public:
  SharedWord() {
    void* own = nullptr;
    MPI_Win_allocate_shared(sizeof(Word), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &window_);
    MPI_Aint bytes = 0;
    int unit = 0;
    MPI_Win_shared_query(window_, 0, &bytes, &unit, &own);
    word_ = static_cast<Word*>(own);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) word_->store(0);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~SharedWord() { MPI_Win_free(&window_); }
  SharedWord(const SharedWord&) = delete;
  SharedWord& operator=(const SharedWord&) = delete;

  void add_one() { word_->fetch_add(1); }
  /// As a rank does that computes: MPI makes no progress meanwhile.
  void compute_until(int value) const {
    while (word_->load() < value) ::sched_yield();
  }

 private:
  using Word = std::atomic<int>;
  MPI_Win window_ = MPI_WIN_NULL;
  Word* word_ = nullptr;
};

/// A file that the ranks of a communicator share.
std::string path_of(MPI_Comm communicator) {
  std::array<char, 64> name{};
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  if (rank == 0)
    std::snprintf(name.data(), name.size(), "penstock-calls-of-few-%d", static_cast<int>(::getpid()));
  MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, communicator);
  return (std::filesystem::temp_directory_path() / name.data()).string();
}

/// Communicators and what else a call takes, made by all ranks before.
struct Given {
  MPI_Comm few = MPI_COMM_NULL;
  MPI_Group group_of_few = MPI_GROUP_NULL;
  std::string path;
  MPI_Win window = MPI_WIN_NULL;
  MPI_File file = MPI_FILE_NULL;
  int* memory = nullptr;  ///< of the window
};

/// A call, or several, of the ranks of Given::few alone.
struct FewCall {
  const char* name;
  void (*make)(Given& given);
};

void duplicate_and_free(Given& given) {
  MPI_Comm made = MPI_COMM_NULL;
  EXPECT_EQ(MPI_Comm_dup(given.few, &made), MPI_SUCCESS);
  EXPECT_EQ(MPI_Comm_free(&made), MPI_SUCCESS);
}

void duplicate_and_disconnect(Given& given) {
  MPI_Comm made = MPI_COMM_NULL;
  EXPECT_EQ(MPI_Comm_dup(given.few, &made), MPI_SUCCESS);
  EXPECT_EQ(MPI_Comm_disconnect(&made), MPI_SUCCESS);
}

void open_and_close_a_file(Given& given) {
  MPI_File file = MPI_FILE_NULL;
  EXPECT_EQ(MPI_File_open(given.few, given.path.c_str(),
                          MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file),
            MPI_SUCCESS);
  EXPECT_EQ(MPI_File_close(&file), MPI_SUCCESS);
}

void use_a_file(Given& given) {
  int rank = 0;
  MPI_Comm_rank(given.few, &rank);
  const int number = 7 + rank;
  int read = 0;
  const MPI_Offset own = rank * static_cast<MPI_Offset>(sizeof number);
  EXPECT_EQ(MPI_File_set_size(given.file, 4096), MPI_SUCCESS);
  EXPECT_EQ(MPI_File_set_view(given.file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), MPI_SUCCESS);
  EXPECT_EQ(MPI_File_write_at_all(given.file, own, &number, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(MPI_File_sync(given.file), MPI_SUCCESS);
  EXPECT_EQ(MPI_File_read_at_all(given.file, own, &read, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(read, number);
}

void allocate_and_free_a_window(Given& given) {
  void* memory = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  EXPECT_EQ(MPI_Win_allocate(64, 1, MPI_INFO_NULL, given.few, static_cast<void*>(&memory), &window),
            MPI_SUCCESS);
  EXPECT_EQ(MPI_Win_free(&window), MPI_SUCCESS);
}

[[maybe_unused]] void create_and_free_a_window(Given& given) {
  std::array<int, 4> memory{};
  MPI_Win window = MPI_WIN_NULL;
  EXPECT_EQ(MPI_Win_create(memory.data(), sizeof memory, sizeof(int), MPI_INFO_NULL, given.few, &window),
            MPI_SUCCESS);
  EXPECT_EQ(MPI_Win_free(&window), MPI_SUCCESS);
}

void use_a_window(Given& given) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(given.few, &rank);
  MPI_Comm_size(given.few, &size);
  EXPECT_EQ(MPI_Win_fence(0, given.window), MPI_SUCCESS);
  EXPECT_EQ(MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, given.window), MPI_SUCCESS);
  EXPECT_EQ(MPI_Win_fence(0, given.window), MPI_SUCCESS);
  EXPECT_EQ(given.memory[0], (rank + size - 1) % size);
}

/// Each rank is written to by the one before.
void start_and_wait(Given& given) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(given.few, &rank);
  MPI_Comm_size(given.few, &size);
  const std::array neighbours = {(rank + 1) % size, (rank + size - 1) % size};
  MPI_Group next = MPI_GROUP_NULL;
  MPI_Group before = MPI_GROUP_NULL;
  MPI_Group_incl(given.group_of_few, 1, neighbours.data(), &next);
  MPI_Group_incl(given.group_of_few, 1, neighbours.data() + 1, &before);
  EXPECT_EQ(MPI_Win_post(before, 0, given.window), MPI_SUCCESS);
  EXPECT_EQ(MPI_Win_start(next, 0, given.window), MPI_SUCCESS);
  EXPECT_EQ(MPI_Put(&rank, 1, MPI_INT, neighbours[0], 1, 1, MPI_INT, given.window), MPI_SUCCESS);
  EXPECT_EQ(MPI_Win_complete(given.window), MPI_SUCCESS);
  EXPECT_EQ(MPI_Win_wait(given.window), MPI_SUCCESS);
  EXPECT_EQ(given.memory[1], neighbours[1]);
  MPI_Group_free(&next);
  MPI_Group_free(&before);
}

void lock_a_window(Given& given) {
  int rank = 0;
  MPI_Comm_rank(given.few, &rank);
  EXPECT_EQ(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, given.window), MPI_SUCCESS);
  EXPECT_EQ(MPI_Win_flush(rank, given.window), MPI_SUCCESS);
  EXPECT_EQ(MPI_Win_unlock(rank, given.window), MPI_SUCCESS);
}

void make_a_communicator_of_the_group(Given& given) {
  MPI_Comm made = MPI_COMM_NULL;
  EXPECT_EQ(MPI_Comm_create_group(MPI_COMM_WORLD, given.group_of_few, 5, &made), MPI_SUCCESS);
  EXPECT_EQ(MPI_Comm_free(&made), MPI_SUCCESS);
}

constexpr FewCall calls_on_communicators[] = {{"MPI_Comm_free", duplicate_and_free},
                                              {"MPI_Comm_disconnect", duplicate_and_disconnect},
                                              {"MPI_Comm_create_group", make_a_communicator_of_the_group},
                                              {"MPI_File_open", open_and_close_a_file},
                                              {"MPI_File_functions", use_a_file},
                                              {"MPI_Win_allocate", allocate_and_free_a_window},
#ifndef OPEN_MPI  // which makes none (4.1) where nothing is copied from process to process, as in these tests
                                              {"MPI_Win_create", create_and_free_a_window},
#endif
                                              {"MPI_Win_fence", use_a_window}};
/// Among several, before these a rank ends the collective first: it is not known whom they will wait for.
constexpr FewCall calls_of_one_rank[] = {{"MPI_Win_lock", lock_a_window}, {"MPI_Win_start", start_and_wait}};

class CallsOfFew : public testing::Test {
 protected:
  void SetUp() override {
    if (gpu_count() == 0) GTEST_SKIP() << "SKIPPED: no GPU";
    own.emplace(numbers_on_device(world, long_elements));
    result.emplace(numbers_on_device(world, long_elements));
    write_all(*own, world.rank);
    word.emplace();
    // while all use a GPU: its ranks agree on non-blocking collectives from the first one on
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
  }
  void TearDown() override {
    if (all != MPI_COMM_NULL) MPI_Comm_free(&all);
    if (given.window != MPI_WIN_NULL) MPI_Win_free(&given.window);
    if (given.file != MPI_FILE_NULL) MPI_File_close(&given.file);
    if (given.few != MPI_COMM_NULL) MPI_Comm_free(&given.few);
    if (given.group_of_few != MPI_GROUP_NULL) MPI_Group_free(&given.group_of_few);
  }

  /// So many first ranks are the few.
  void prepare(int few) {
    MPI_Comm_split(MPI_COMM_WORLD, world.rank < few ? 0 : MPI_UNDEFINED, world.rank, &given.few);
    if (given.few == MPI_COMM_NULL) return;
    MPI_Comm_group(given.few, &given.group_of_few);
    given.path = path_of(given.few);
    MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, given.few, static_cast<void*>(&given.memory),
                     &given.window);
    const std::string path = given.path + "-used";
    MPI_File_open(given.few, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &given.file);
  }

  /// In several steps, of which later calls begin the later ones.
  void start_sum() {
    EXPECT_EQ(MPI_Iallreduce(own->data(), result->data(), long_count, MPI_INT, MPI_SUM, all, &request),
              MPI_SUCCESS);
  }
  /// All have come to it.
  void begin_sum_that_all_have_called() {
    word->compute_until(world.size - 1);
    int flag = 0;
    EXPECT_EQ(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
  }
  void end_sum() {
    EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_TRUE(counts_up(*result, 0, long_elements, sum_of_firsts(world, 0), world.size));
  }
  /// The first ranks make the calls, while the others compute until that is over.
  void expect_not_to_wait_for_ranks_that_compute(int few, const std::function<void()>& calls) {
    start_sum();
    if (world.rank < few) {
      word->compute_until(world.size - few);
      int flag = 0;
      EXPECT_EQ(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
      calls();
      word->add_one();
    } else {
      word->add_one();
      word->compute_until(world.size);
    }
    end_sum();
  }

  static constexpr int long_count = 1'000'000;
  static constexpr std::size_t long_elements = long_count;
  const World world;
  MPI_Comm all = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  Given given;
  std::optional<Memory> own;
  std::optional<Memory> result;
  std::optional<SharedWord> word;
};

std::string name_of_call(const testing::TestParamInfo<FewCall>& instance) {
  return instance.param.name;
}

class CallsOfOne : public CallsOfFew, public testing::WithParamInterface<FewCall> {};

TEST_P(CallsOfOne, do_not_wait_for_ranks_that_compute) {
  prepare(1);
  expect_not_to_wait_for_ranks_that_compute(1, [&] { GetParam().make(given); });
}
INSTANTIATE_TEST_SUITE_P(Collective, CallsOfOne, testing::ValuesIn(calls_on_communicators), name_of_call);
INSTANTIATE_TEST_SUITE_P(Others, CallsOfOne, testing::ValuesIn(calls_of_one_rank), name_of_call);

class CallsOfTwo : public CallsOfFew, public testing::WithParamInterface<FewCall> {};

TEST_P(CallsOfTwo, do_not_wait_for_third_ranks_that_compute) {
  if (world.size < 3) GTEST_SKIP() << "for three ranks";
  prepare(2);
  expect_not_to_wait_for_ranks_that_compute(2, [&] { GetParam().make(given); });
}
INSTANTIATE_TEST_SUITE_P(Collective, CallsOfTwo, testing::ValuesIn(calls_on_communicators), name_of_call);

class CallsOfAll : public CallsOfFew, public testing::WithParamInterface<FewCall> {};

/// One rank makes the call first and the others wait for the collective before they make theirs: each needs
/// the other.
TEST_P(CallsOfAll, do_not_hold_up_ranks_that_wait_for_the_collective_first) {
  prepare(world.size);
  start_sum();
  if (world.rank == 0) {
    begin_sum_that_all_have_called();
    GetParam().make(given);
    end_sum();
  } else {
    word->add_one();
    end_sum();
    GetParam().make(given);
  }
}
INSTANTIATE_TEST_SUITE_P(Collective, CallsOfAll, testing::ValuesIn(calls_on_communicators), name_of_call);
INSTANTIATE_TEST_SUITE_P(Others, CallsOfAll, testing::ValuesIn(calls_of_one_rank), name_of_call);

using FreedCommunicator = CallsOfFew;

TEST_F(FreedCommunicator, is_not_waited_for_when_others_compute_and_its_collectives_go_on) {
  expect_not_to_wait_for_ranks_that_compute(1, [&] { EXPECT_EQ(MPI_Comm_free(&all), MPI_SUCCESS); });
}

/// The others have not called them yet, and find them as they would be without.
TEST_F(FreedCommunicator, is_not_waited_for_before_others_have_come_to_its_collectives) {
  Memory more = numbers_on_device(world, elements);
  write_all(more, world.rank);
  MPI_Request broadcast = MPI_REQUEST_NULL;
  const auto start = [&] {
    start_sum();
    EXPECT_EQ(MPI_Ibcast(more.data(), count, MPI_INT, world.size - 1, all, &broadcast), MPI_SUCCESS);
    EXPECT_EQ(MPI_Comm_free(&all), MPI_SUCCESS);
  };
  if (world.rank == 0) {
    start();
    word->add_one();
  } else {
    word->compute_until(1);
    start();
  }
  EXPECT_EQ(MPI_Wait(&broadcast, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_TRUE(counts_up(more, 0, elements, world.size - 1));
  end_sum();
}

}  // namespace
}  // namespace penstock::test_support
