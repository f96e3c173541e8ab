// Tests of error messages. They run on one process with two GPUs, or two processes with one each. The
// argument `single` selects the test of MPI's thread level.
#include <mpi.h>

#include <climits>
#include <cstdlib>

#include "tests/examples/gmh/ranks.hpp"

namespace gmh_tests {
namespace {

class BadInput : public testing::Test {
 protected:
  void SetUp() override {
    int level = 0;
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "no MPI_THREAD_MULTIPLE";
    int processes = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    gpus_ = processes == 1 ? 2 : 1;
    int there = 0;
    if (cudaGetDeviceCount(&there) != cudaSuccess || there < 2) GTEST_SKIP() << "fewer than two GPUs";
  }
  [[nodiscard]] int gpus() const { return gpus_; }

 private:
  int gpus_ = 0;
};

int succeed(void*) {
  return 0;
}
int fail_with_7(void*) {
  return 7;
}
int nothing(cudaStream_t, void*) {
  return 0;
}
int rerun(void*) {
  return GMH_RERUN;
}

TEST(ThreadLevel, below_multiple_is_refused_with_the_way_to_get_it) {
  int level = 0;
  MPI_Query_thread(&level);
  if (level == MPI_THREAD_MULTIPLE) GTEST_SKIP() << "MPI has threads";
  const Outcome outcome = run(1, [](gmh_tasklist_t) { ADD_FAILURE() << "a thread was started"; });
  expect_refusal(outcome, GMH_ERR_THREAD_LEVEL, "MPI_THREAD_MULTIPLE: ask MPI_Init_thread for it");
}

TEST_F(BadInput, more_gpus_than_there_are_names_who_has_them) {
  const Outcome outcome = run(1000, [](gmh_tasklist_t) { ADD_FAILURE() << "a thread was started"; });
  expect_refusal(outcome, GMH_ERR_GPUS, "asks for 1000 GPUs and sees");
  expect_refusal(outcome, GMH_ERR_GPUS, "by MPI rank 0");
}

TEST_F(BadInput, no_gpu_or_no_function_is_refused_by_all_processes) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  expect_refusal(run(rank == 0 ? 0 : 1, [](gmh_tasklist_t) {}), GMH_ERR_ARGUMENT, "0 GPUs; at least one");
  const int code = gmh_init(nullptr, nullptr, 1, nullptr, nullptr);
  expect_refusal(code, GMH_ERR_ARGUMENT, "no thread function");
}

TEST_F(BadInput, after_which_gmh_can_be_started_again) {
  run_well(gpus(), [](gmh_tasklist_t list) { EXPECT_EQ(size_of(list), 2); });
}

TEST_F(BadInput, gmh_cannot_be_started_within_itself) {
  run_well(gpus(), [](gmh_tasklist_t) {
    expect_refusal(run(1, [](gmh_tasklist_t) {}), GMH_ERR_ARGUMENT, "while it is under way");
  });
}

TEST_F(BadInput, a_thread_of_the_programs_own_is_refused) {
  int rank = 0;
  expect_refusal(gmh_rank(nullptr, &rank), GMH_ERR_THREAD, "a thread that gmh_init did not start");
}

TEST_F(BadInput, a_tag_above_the_bound_or_below_zero_is_refused) {
  run_well(gpus(), [gpus = gpus()](gmh_tasklist_t list) {
    void* bound = nullptr;
    int found = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &found);
    char byte = 0;
    gmh_event_t event = nullptr;
    const int peer = 1 - rank_of(list);
    // two threads of a process have half of MPI's tags each
    const int largest = *static_cast<int*>(bound);
    if (gpus == 2 || largest < INT_MAX) {
      const int tag = gpus == 2 ? largest / 2 + 1 : largest + 1;
      expect_refusal(gmh_Isend(list, nullptr, &byte, 1, GMH_BYTE, peer, tag, &event), GMH_ERR_TAG,
                     "there is no tag " + std::to_string(tag));
    }
    expect_refusal(gmh_Irecv(list, nullptr, &byte, 1, GMH_BYTE, peer, -1, &event), GMH_ERR_TAG,
                   "there is no tag -1");
    expect_refusal(
        gmh_add_send_buffer(list, new_stream(list), new_memory(list, 8), 0, peer, -5, 0, nullptr, nullptr),
        GMH_ERR_TAG, "there is no tag -5");
  });
}

TEST_F(BadInput, a_peer_that_does_not_exist_is_refused) {
  run_well(gpus(), [](gmh_tasklist_t list) {
    char byte = 0;
    int rank = 0;
    expect_refusal(gmh_Send(list, nullptr, &byte, 1, GMH_BYTE, 2, 0), GMH_ERR_PEER,
                   "there is no GMH rank 2: they are 0 to 1");
    expect_refusal(gmh_Recv(list, nullptr, &byte, 1, GMH_BYTE, -1, 0), GMH_ERR_PEER,
                   "there is no GMH rank -1");
    expect_refusal(gmh_rank_of(list, 9, 0, &rank), GMH_ERR_PEER, "there is no MPI rank 9");
    expect_refusal(gmh_rank_of(list, 0, 5, &rank), GMH_ERR_PEER, "MPI rank 0 has no virtual GPU 5");
    expect_refusal(gmh_mpi_rank(list, 2, &rank), GMH_ERR_PEER, "there is no GMH rank 2");
  });
}

TEST_F(BadInput, freed_memory_is_told_from_memory_that_never_was) {
  run_well(gpus(), [](gmh_tasklist_t list) {
    gmh_mem_t memory = new_memory(list, 64);
    expect_ok(gmh_mem_free(memory));
    expect_refusal(gmh_mem_free(memory), GMH_ERR_HANDLE, "this memory was freed before");
    expect_refusal(gmh_add_recv_buffer(list, new_stream(list), memory, 0, 0, 0, 0, nullptr, nullptr),
                   GMH_ERR_HANDLE, "this memory was freed before");
    expect_refusal(gmh_mem_free(nullptr), GMH_ERR_HANDLE, "this is no memory");
  });
}

TEST_F(BadInput, memory_in_use_is_not_freed) {
  run_well(gpus(), [](gmh_tasklist_t list) {
    gmh_mem_t memory = new_memory(list, 64);
    gmh_mem_t part = nullptr;
    expect_ok(gmh_mem_part(memory, 32, 32, &part));
    expect_refusal(gmh_mem_free(memory), GMH_ERR_ARGUMENT, "parts of this memory are in use");
    gmh_tasklist_t other = nullptr;
    expect_ok(gmh_create_tasklist(list, &other));
    expect_ok(gmh_add_copy(other, new_stream(other), part, GMH_TO_HOST, 0, nullptr, nullptr));
    expect_refusal(gmh_mem_free(part), GMH_ERR_ARGUMENT, "commands of a list use this memory");
    expect_ok(gmh_free_tasklist(other));
    expect_ok(gmh_mem_free(part));
    expect_ok(gmh_mem_free(memory));
  });
}

TEST_F(BadInput, permissions_and_bounds_of_memory_hold) {
  run_well(gpus(), [](gmh_tasklist_t list) {
    gmh_stream_t stream = new_stream(list);
    gmh_mem_t readable = new_memory(list, 64, GMH_READ);
    gmh_mem_t writable = new_memory(list, 64, GMH_WRITE);
    gmh_mem_t part = nullptr;
    const int peer = 1 - rank_of(list);
    expect_refusal(gmh_add_recv_buffer(list, stream, readable, 0, peer, 0, 0, nullptr, nullptr),
                   GMH_ERR_PERMISSION, "may not be written");
    expect_refusal(gmh_add_send_buffer(list, stream, writable, 0, peer, 0, 0, nullptr, nullptr),
                   GMH_ERR_PERMISSION, "may not be read");
    expect_refusal(gmh_mem_to_gpu(readable, stream), GMH_ERR_PERMISSION, "may not be written");
    expect_refusal(gmh_mem_part(readable, 60, 5, &part), GMH_ERR_ARGUMENT, "a part of 5 bytes at 60");
  });
}

TEST_F(BadInput, an_event_that_nothing_completes_is_found_and_its_commands_are_named) {
  const Outcome outcome = run(gpus(), [](gmh_tasklist_t list) {
    gmh_tasklist_t other = nullptr;
    expect_ok(gmh_create_tasklist(list, &other));
    gmh_event_t never = nullptr;
    gmh_event_t waits = nullptr;
    expect_ok(gmh_add_cpu_task(other, new_stream(other), succeed, nullptr, 0, nullptr, &never));
    expect_ok(gmh_name(never, "prologue"));
    gmh_stream_t stream = new_stream(list);
    expect_ok(gmh_add_gpu_kernel(list, stream, nothing, nullptr, 0, nullptr, nullptr));
    expect_ok(gmh_add_gpu_kernel(list, stream, nothing, nullptr, 1, &never, &waits));
    expect_ok(gmh_name(waits, "solve"));
    expect_ok(gmh_add_cpu_task(list, new_stream(list), succeed, nullptr, 1, &waits, nullptr));
    expect_refusal(gmh_wait(&never), GMH_ERR_STUCK, "\"prologue\", which has not started");
    expect_refusal(gmh_start(list), GMH_ERR_STUCK, "");
  });
  EXPECT_EQ(outcome.code, GMH_ERR_STUCK);
}

TEST_F(BadInput, a_stuck_list_names_what_waits_for_what) {
  const Outcome outcome = run(gpus(), [](gmh_tasklist_t list) {
    gmh_tasklist_t other = nullptr;
    expect_ok(gmh_create_tasklist(list, &other));
    gmh_event_t never = nullptr;
    gmh_event_t waits = nullptr;
    expect_ok(gmh_add_cpu_task(other, new_stream(other), succeed, nullptr, 0, nullptr, &never));
    expect_ok(gmh_name(never, "prologue"));
    expect_ok(gmh_add_gpu_kernel(list, new_stream(list), nothing, nullptr, 1, &never, &waits));
    expect_ok(gmh_name(waits, "solve"));
    gmh_start(list);
  });
  expect_refusal(outcome, GMH_ERR_STUCK, "\"solve\" waits for \"prologue\"");
}

TEST_F(BadInput, a_thread_function_that_returns_with_messages_under_way_is_reported) {
  const Outcome outcome = run(gpus(), [](gmh_tasklist_t list) {
    static char byte[2];
    gmh_event_t event = nullptr;
    if (rank_of(list) == 1) expect_ok(gmh_Irecv(list, nullptr, &byte[1], 1, GMH_BYTE, 0, 3, &event));
  });
  expect_refusal(
      outcome, GMH_ERR_UNFINISHED,
      "GMH rank 1 returned with 1 of its messages under way (first: receive from rank 0 with tag 3)");
}

TEST_F(BadInput, an_event_of_another_thread_is_refused) {
  if (gpus() < 2) GTEST_SKIP() << "one thread";
  static gmh_event_t of_0 = nullptr;
  run_well(gpus(), [](gmh_tasklist_t list) {
    if (rank_of(list) == 0)
      expect_ok(gmh_add_cpu_task(list, new_stream(list), succeed, nullptr, 0, nullptr, &of_0));
    expect_ok(gmh_Barrier(list));
    if (rank_of(list) != 1) return;
    expect_refusal(gmh_wait(&of_0), GMH_ERR_THREAD,
                   "the thread of virtual GPU 1 was given a handle (event) of virtual GPU 0's");
    expect_refusal(gmh_add_cpu_task(list, new_stream(list), succeed, nullptr, 1, &of_0, nullptr),
                   GMH_ERR_THREAD, "of virtual GPU 0's");
  });
}

TEST_F(BadInput, a_failing_task_ends_the_lists_and_waits_of_all_ranks) {
  const Outcome outcome = run(gpus(), [](gmh_tasklist_t list) {
    gmh_stream_t stream = new_stream(list);
    if (rank_of(list) == 0) {
      gmh_mem_t memory = new_memory(list, 64);
      expect_ok(gmh_add_recv_buffer(list, stream, memory, 1, 1, 0, 0, nullptr, nullptr));  // never sent
    } else {
      expect_ok(gmh_add_cpu_task(list, stream, fail_with_7, nullptr, 0, nullptr, nullptr));
    }
    expect_refusal(gmh_start(list), GMH_ERR_TASK, "a CPU task returned 7");
    char byte = 0;
    expect_refusal(gmh_Recv(list, nullptr, &byte, 1, GMH_BYTE, 1 - rank_of(list), 9), GMH_ERR_TASK,
                   "returned 7");
  });
  expect_refusal(outcome, GMH_ERR_TASK, "a CPU task returned 7");
}

TEST_F(BadInput, an_exception_of_a_thread_function_ends_all_ranks) {
  const Outcome outcome = run(gpus(), [](gmh_tasklist_t list) {
    if (rank_of(list) == 0) throw std::runtime_error("the function's own");
    EXPECT_EQ(gmh_Barrier(list), GMH_ERR_INTERNAL);
  });
  expect_refusal(outcome, GMH_ERR_INTERNAL, "the function's own");
}

TEST_F(BadInput, a_list_does_not_grow_behind_its_control_task) {
  run_well(gpus(), [](gmh_tasklist_t list) {
    expect_ok(gmh_add_control_task(list, rerun, nullptr));
    expect_refusal(gmh_add_cpu_task(list, new_stream(list), succeed, nullptr, 0, nullptr, nullptr),
                   GMH_ERR_ARGUMENT, "which is its last command");
  });
}

TEST_F(BadInput, a_list_that_never_waits_ends_once_another_threads_task_has_failed) {
  const Outcome outcome = run(gpus(), [](gmh_tasklist_t list) {
    gmh_stream_t stream = new_stream(list);
    const bool fails = rank_of(list) == 0;
    expect_ok(gmh_add_cpu_task(list, stream, fails ? fail_with_7 : succeed, nullptr, 0, nullptr, nullptr));
    expect_ok(gmh_add_control_task(list, rerun, nullptr));
    EXPECT_EQ(gmh_start(list), GMH_ERR_TASK);
  });
  expect_refusal(outcome, GMH_ERR_TASK, "a CPU task returned 7");
}

// SIMULATED_GPU_FAULTS lets a CUDA call fail once, as after a kernel that faults.
TEST(Fault, of_a_gpu_ends_the_lists_of_all_threads) {
  const char* faults = std::getenv("SIMULATED_GPU_FAULTS");
  if (faults == nullptr || *faults == '\0') GTEST_SKIP() << "nothing fails";
  const Outcome outcome = run(2, [](gmh_tasklist_t list) {
    gmh_stream_t stream = new_stream(list);
    expect_ok(gmh_add_gpu_kernel(list, stream, nothing, nullptr, 0, nullptr, nullptr));
    expect_ok(gmh_add_cpu_task(list, stream, succeed, nullptr, 0, nullptr, nullptr));
    expect_ok(gmh_add_control_task(list, rerun, nullptr));
    EXPECT_EQ(gmh_start(list), GMH_ERR_CUDA);
  });
  expect_refusal(outcome, GMH_ERR_CUDA, "cannot wait for a stream: ");
}

}  // namespace
}  // namespace gmh_tests
