#include "interpose/node/node_directory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "interpose/node/launcher.hpp"

namespace penstock::interpose {
namespace {

constexpr int world_size = 100'000;

/// In a child that looks like a rank: files of its job in the shared folder. Other jobs come and go there.
int files_of_this_job() {
  std::array<char, 17> key{};
  std::snprintf(key.data(), key.size(), "%016llx", static_cast<unsigned long long>(identify_job().key[1]));
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    if (entry.path().filename().string().ends_with(key.data())) ++count;
  }
  return count;
}

/// Runs `body` in a child process that looks like a rank; returns its exit code.
pid_t start_rank(int rank, const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::setenv("PMI_RANK", std::to_string(rank).c_str(), 1);
  ::_exit(body());
}

int exit_code_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Two pipes by which a parent leads children through phases.
class Gate {
 public:
  Gate() { static_cast<void>(!::pipe(ends_.data())); }
  void open(int passes) const {
    for (int i = 0; i < passes; ++i) static_cast<void>(!::write(ends_[1], "x", 1));
  }
  void pass() const {
    char byte = 0;
    static_cast<void>(!::read(ends_[0], &byte, 1));
  }

 private:
  std::array<int, 2> ends_{};
};

TEST(NodeDirectory, ranks_of_one_launcher_find_each_other_and_agree_on_the_nonce) {
  const Gate joined;
  const Gate all_joined;
  const Gate nonces;
  std::array<int, 2> results{};
  ASSERT_EQ(::pipe(results.data()), 0);
  std::array<pid_t, 2> ranks{};
  for (int rank = 0; rank < 2; ++rank) {
    ranks[static_cast<std::size_t>(rank)] = start_rank(rank, [&] {
      NodeDirectory directory;
      directory.join();
      joined.open(1);
      all_joined.pass();
      directory.publish(rank, world_size);
      if (!directory.is_open()) return 1;
      const JobNonce nonce = directory.nonce();
      static_cast<void>(!::write(results[1], &nonce, sizeof nonce));
      return directory.row_of(1 - rank) != nullptr && directory.row_of(2) == nullptr ? 0 : 2;
    });
  }
  joined.pass();
  joined.pass();
  all_joined.open(2);
  EXPECT_EQ(exit_code_of(ranks[0]), 0);
  EXPECT_EQ(exit_code_of(ranks[1]), 0);
  JobNonce first;
  JobNonce second;
  ASSERT_EQ(::read(results[0], &first, sizeof first), static_cast<ssize_t>(sizeof first));
  ASSERT_EQ(::read(results[0], &second, sizeof second), static_cast<ssize_t>(sizeof second));
  EXPECT_EQ(first, second);
  EXPECT_FALSE(first == JobNonce{});
}

/// As MPI_Comm_spawn from two ranks at a time, or the launcher of another MPI, whose each rank is a job.
TEST(NodeDirectory, is_left_by_ranks_of_several_worlds_that_one_launcher_starts_at_a_time) {
  struct Rank {
    int number;
    int world_size;
  };
  const std::vector<std::vector<Rank>> cases = {
      {{0, 2}, {1, 2}, {0, 2}, {1, 2}},  // two worlds of two
      {{0, 1}, {1, 1}, {2, 1}},          // three of one
      {{0, 8}, {1, 8}, {0, 8}},          // two that other nodes belong to
  };
  for (const std::vector<Rank>& ranks : cases) {
    const Gate joined;
    const Gate all_joined;
    std::vector<pid_t> started;
    for (const Rank& rank : ranks) {
      started.push_back(start_rank(rank.number, [&] {
        NodeDirectory directory;
        directory.join();
        joined.open(1);
        all_joined.pass();
        directory.publish(rank.number, rank.world_size);
        return directory.is_open() ? 1 : 0;
      }));
    }
    for (std::size_t i = 0; i < ranks.size(); ++i) joined.pass();
    all_joined.open(static_cast<int>(ranks.size()));
    for (const pid_t rank : started) EXPECT_EQ(exit_code_of(rank), 0);
  }
}

TEST(NodeDirectory, finds_a_rank_as_soon_as_it_is_known_and_until_it_leaves) {
  const Gate joined;
  const Gate may_publish;
  const Gate published;
  const Gate may_leave;
  const Gate left;
  // by its environment it would be rank 2
  const pid_t other = start_rank(2, [&] {
    NodeDirectory directory;
    directory.join();
    joined.open(1);
    may_publish.pass();
    directory.publish(70'000, world_size);
    published.open(1);
    may_leave.pass();
    directory.leave();
    left.open(1);
    return 0;
  });
  const pid_t looking = start_rank(5, [&] {
    joined.pass();
    NodeDirectory directory;
    directory.join();
    directory.publish(5, world_size);
    if (directory.row_of(5) != directory.own_row()) return 1;
    if (directory.row_of(2) == nullptr) return 2;
    if (directory.row_of(70'000) != nullptr) return 3;
    may_publish.open(1);
    published.pass();
    const DirectoryRow* const row = directory.row_of(70'000);
    if (row == nullptr || row == directory.own_row()) return 4;
    if (directory.row_of(70'000) != row || directory.row_of(5) != directory.own_row()) return 5;
    if (directory.row_of(2) != nullptr || directory.row_of(1) != nullptr) return 6;
    may_leave.open(1);
    left.pass();
    if (directory.row_of(70'000) != nullptr) return 7;
    if (directory.row_of(-1) != nullptr) return 8;
    return directory.row_of(5) == directory.own_row() ? 0 : 9;
  });
  EXPECT_EQ(exit_code_of(looking), 0);
  EXPECT_EQ(exit_code_of(other), 0);
}

TEST(NodeDirectory, finds_each_of_many_ranks_whatever_their_numbers) {
  constexpr int ranks = 40;
  const auto number_of = [](int i) { return i * static_cast<int>(directory_rows) * 2; };
  const Gate joined;
  const Gate may_publish;
  const Gate published;
  const Gate over;
  std::array<pid_t, ranks> others{};
  for (int i = 1; i < ranks; ++i) {
    others[static_cast<std::size_t>(i)] = start_rank(number_of(i), [&] {
      NodeDirectory directory;
      directory.join();
      joined.open(1);
      may_publish.pass();
      directory.publish(number_of(i), world_size);
      published.open(1);
      over.pass();
      return 0;
    });
  }
  const pid_t looking = start_rank(0, [&] {
    NodeDirectory directory;
    directory.join();
    const auto all_are_found = [&] {
      for (int i = 0; i < ranks; ++i) {
        const DirectoryRow* const row = directory.row_of(number_of(i));
        if (row == nullptr || row->world_rank.load() != number_of(i)) return false;
        if (directory.row_of(number_of(i) + 1) != nullptr) return false;
      }
      return true;
    };
    for (int i = 1; i < ranks; ++i) joined.pass();
    directory.publish(0, world_size);
    const bool before = all_are_found();
    may_publish.open(ranks - 1);
    for (int i = 1; i < ranks; ++i) published.pass();
    const bool after = all_are_found() && all_are_found();
    over.open(ranks - 1);
    return before && after ? 0 : 1;
  });
  EXPECT_EQ(exit_code_of(looking), 0);
  for (int i = 1; i < ranks; ++i) EXPECT_EQ(exit_code_of(others[static_cast<std::size_t>(i)]), 0);
}

TEST(NodeDirectory, leaves_no_file_once_published) {
  EXPECT_EQ(exit_code_of(start_rank(0,
                                    [] {
                                      NodeDirectory directory;
                                      directory.join();
                                      if (files_of_this_job() != 1) return 1;
                                      directory.publish(0, world_size);
                                      return files_of_this_job() == 0 ? 0 : 2;
                                    })),
            0);
}

TEST(NodeDirectory, leaves_no_file_when_it_is_left_before) {
  EXPECT_EQ(exit_code_of(start_rank(0,
                                    [] {
                                      NodeDirectory directory;
                                      directory.join();
                                      if (files_of_this_job() != 1) return 1;
                                      directory.leave();
                                      return files_of_this_job() == 0 ? 0 : 2;
                                    })),
            0);
}

TEST(NodeDirectory, what_a_killed_job_left_is_swept_by_the_next) {
  EXPECT_EQ(exit_code_of(start_rank(0,
                                    [] {
                                      NodeDirectory directory;
                                      directory.join();
                                      ::raise(SIGKILL);
                                      return 0;
                                    })),
            128 + SIGKILL);
  EXPECT_EQ(exit_code_of(start_rank(0,
                                    [] {
                                      NodeDirectory directory;
                                      directory.join();
                                      directory.publish(0, world_size);
                                      return files_of_this_job();
                                    })),
            0);
}

TEST(NodeDirectory, a_slot_is_found_by_its_envelope_until_it_is_freed) {
  EXPECT_EQ(exit_code_of(start_rank(0,
                                    [] {
                                      NodeDirectory directory;
                                      directory.join();
                                      directory.publish(0, world_size);
                                      std::uint32_t index = 0;
                                      Slot* slot = directory.take_slot(&index);
                                      if (slot == nullptr) return 1;
                                      slot->offer.payload_bytes = 4096;
                                      Envelope envelope{};
                                      envelope.payload_bytes = 4096;
                                      envelope.row = directory.own_index();
                                      envelope.slot = index;
                                      envelope.generation = slot->generation();
                                      if (directory.find(envelope) != slot) return 2;
                                      Envelope stale = envelope;
                                      --stale.generation;
                                      if (directory.find(stale) != nullptr) return 3;
                                      Envelope wild = envelope;
                                      wild.slot = slots_per_rank;
                                      if (directory.find(wild) != nullptr) return 4;
                                      wild = envelope;
                                      wild.row = directory_rows;
                                      if (directory.find(wild) != nullptr) return 5;
                                      slot->fail();
                                      directory.free_slot(slot);
                                      return directory.find(envelope) == nullptr ? 0 : 6;
                                    })),
            0);
}

TEST(NodeDirectory, slots_run_out_without_harm) {
  EXPECT_EQ(exit_code_of(start_rank(0,
                                    [] {
                                      NodeDirectory directory;
                                      directory.join();
                                      std::uint32_t index = 0;
                                      for (std::uint32_t i = 0; i < slots_per_rank; ++i) {
                                        Slot* slot = directory.take_slot(&index);
                                        if (slot == nullptr) return 1;
                                      }
                                      return directory.take_slot(&index) == nullptr ? 0 : 2;
                                    })),
            0);
}

bool write_file(const char* path, const std::string& text) {
  const int file = ::open(path, O_WRONLY);
  const bool is_written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(file);
  return is_written;
}

/// Gives the process a /dev/shm of its own with so much room. False: it may not have one.
bool have_own_shared_memory(const char* size) {
  const std::string user = std::to_string(::geteuid());
  const std::string group = std::to_string(::getegid());
  return ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && write_file("/proc/self/setgroups", "deny") &&
         write_file("/proc/self/uid_map", user + " " + user + " 1") &&
         write_file("/proc/self/gid_map", group + " " + group + " 1") &&
         ::mount("none", "/dev/shm", "tmpfs", 0, size) == 0;
}

/// Fills it up.
void fill_shared_memory() {
  const std::array<char, 4096> page{};
  const int file = ::open("/dev/shm/filler", O_WRONLY | O_CREAT, 0600);
  while (::write(file, page.data(), page.size()) > 0) {
  }
  ::close(file);
}

TEST(NodeDirectory, without_room_in_shared_memory_it_stays_closed) {
  constexpr int may_not = 77;
  // the header and the row would fit, but not the slots; then not even those
  for (const bool is_full : {false, true}) {
    const int code = exit_code_of(start_rank(0, [&] {
      if (!have_own_shared_memory("size=64k")) return may_not;
      if (is_full) fill_shared_memory();
      NodeDirectory directory;
      directory.join();
      directory.publish(0, world_size);
      return directory.is_open() || files_of_this_job() != 0 ? 1 : 0;
    }));
    if (code == may_not) GTEST_SKIP() << "no mounts of its own";
    EXPECT_EQ(code, 0) << is_full;
  }
}

TEST(NodeDirectory, a_payload_is_awaited_until_it_is_fetched_or_its_receiver_parts_or_dies) {
  enum class End { fetched, parts, leaves, dies };
  for (const End end : {End::fetched, End::parts, End::leaves, End::dies}) {
    const Gate joined;
    const Gate published;
    const Gate offered;
    const Gate over;
    const pid_t receiver = start_rank(1, [&] {
      NodeDirectory directory;
      directory.join();
      joined.open(1);
      offered.pass();
      directory.publish(1, world_size);
      published.open(1);
      offered.pass();
      if (end == End::parts) directory.announce_parting();
      if (end == End::leaves) directory.leave();
      if (end != End::dies) over.open(1);
      if (end != End::dies) offered.pass();  // stays alive until the sender is through
      return 0;
    });
    const pid_t sender = start_rank(0, [&] {
      NodeDirectory directory;
      directory.join();
      joined.pass();
      offered.open(1);
      published.pass();
      directory.publish(0, world_size);
      std::uint32_t index = 0;
      Slot* const slot = directory.take_slot(&index);
      if (slot == nullptr || directory.row_of(1) == nullptr) return 1;
      slot->receiver = 1;
      if (!directory.is_awaited()) return 2;
      offered.open(1);
      if (end != End::dies) over.pass();
      if (end == End::fetched) {
        if (!directory.is_awaited()) return 3;
        slot->fail();
      }
      while (end == End::dies && directory.is_awaited()) ::usleep(1000);
      const bool is_awaited = directory.is_awaited();
      offered.open(1);
      return is_awaited ? 4 : 0;
    });
    EXPECT_EQ(exit_code_of(sender), 0) << static_cast<int>(end);
    offered.open(1);  // if the sender failed
    EXPECT_EQ(exit_code_of(receiver), 0) << static_cast<int>(end);
  }
}

TEST(Launcher, ranks_of_one_launcher_have_one_key_and_those_of_another_a_different_one) {
  ::unsetenv("PMI_RANK");
  const JobIdentity mine = identify_job();  // no rank: a job of its own, whose children are its ranks
  const auto has_my_key = [&] {
    const JobIdentity other = identify_job();
    return other.key[0] == mine.key[0] && other.key[1] == mine.key[1] ? 0 : 1;
  };
  EXPECT_EQ(exit_code_of(start_rank(0, has_my_key)), 0);

  const pid_t other_launcher = ::fork();
  if (other_launcher == 0) ::_exit(exit_code_of(start_rank(0, has_my_key)));
  EXPECT_EQ(exit_code_of(other_launcher), 1);
}

TEST(Launcher, ranks_that_name_different_nodes_have_different_keys) {
  const JobIdentity here = identify_job();
  const JobIdentity one = identify_job("1");
  EXPECT_EQ(one.key[0], identify_job("1").key[0]);
  for (const JobIdentity& other : {here, identify_job("2")}) {
    EXPECT_NE(one.key[0], other.key[0]);
    EXPECT_NE(one.key[1], other.key[1]);
  }
}

TEST(Launcher, the_environment_tells_the_rank) {
  EXPECT_EQ(exit_code_of(start_rank(7, [] { return identify_job().environment_rank; })), 7);
}

}  // namespace
}  // namespace penstock::interpose
