// Packing, local reduction and files with device buffers, against the same on host buffers.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "interpose/binding/mpi_level.hpp"
#include "tests/interpose/collectives/comparison.hpp"
#include "tests/interpose/collectives/element_types.hpp"
#include "tests/support/memory.hpp"

namespace penstock::test_support {
namespace {

constexpr int count = 500;

TEST(StagedCalls, Pack_writes_the_packed_bytes_only) {
  const ElementTypes types;
  for (const ElementType& type : types.all()) {
    SCOPED_TRACE(type.name);
    expect_same_as_on_host(
        type.extent(count), {.before = 0, .after = 20000}, [&](const void* from, void* to) {
          int position = 100;
          const int code = MPI_Pack(from, count, type.handle, to, 20000, &position, MPI_COMM_WORLD);
          int size = 0;
          MPI_Type_size(type.handle, &size);
          EXPECT_EQ(position, 100 + count * size);
          return code;
        });
  }
}

TEST(StagedCalls, Unpack_leaves_the_gaps_of_the_datatype_alone) {
  const ElementTypes types;
  for (const ElementType& type : types.all()) {
    SCOPED_TRACE(type.name);
    expect_same_as_on_host(
        {.before = 0, .after = 20000}, type.extent(count), [&](const void* from, void* to) {
          int position = 100;
          return MPI_Unpack(from, 20000, &position, to, count, type.handle, MPI_COMM_WORLD);
        });
  }
}

TEST(StagedCalls, Pack_external_and_Unpack_external_work_on_device_buffers) {
  expect_same_as_on_host({.before = 0, .after = count * sizeof(int)}, {.before = 0, .after = 20000},
                         [&](const void* from, void* to) {
                           MPI_Aint position = 8;
                           return MPI_Pack_external("external32", from, count, MPI_INT, to, 20000, &position);
                         });
  expect_same_as_on_host({.before = 0, .after = 20000}, {.before = 0, .after = count * sizeof(int)},
                         [&](const void* from, void* to) {
                           MPI_Aint position = 8;
                           return MPI_Unpack_external("external32", from, 20000, &position, to, count,
                                                      MPI_INT);
                         });
}

TEST(StagedCalls, Reduce_local_combines_device_buffers) {
  const ElementTypes types;
  for (const ElementType& type : types.plain()) {
    SCOPED_TRACE(type.name);
    expect_same_as_on_host(type.extent(count), type.extent(count), [&](const void* from, void* to) {
      return MPI_Reduce_local(from, to, count, type.handle, type.operation);
    });
  }
}

#if PENSTOCK_HAS_LARGE_COUNTS
TEST(StagedCalls, with_large_counts_do_the_same) {
  expect_same_as_on_host({.before = 0, .after = count * sizeof(int)}, {.before = 0, .after = 20000},
                         [&](const void* from, void* to) {
                           MPI_Count position = 4;
                           return MPI_Pack_c(from, count, MPI_INT, to, 20000, &position, MPI_COMM_WORLD);
                         });
  expect_same_as_on_host({.before = 0, .after = 20000}, {.before = 0, .after = count * sizeof(int)},
                         [&](const void* from, void* to) {
                           MPI_Count position = 4;
                           return MPI_Unpack_c(from, 20000, &position, to, count, MPI_INT, MPI_COMM_WORLD);
                         });
  expect_same_as_on_host(
      {.before = 0, .after = count * sizeof(int)}, {.before = 0, .after = count * sizeof(int)},
      [&](const void* from, void* to) { return MPI_Reduce_local_c(from, to, count, MPI_INT, MPI_SUM); });
}
#endif

#if PENSTOCK_HAS_LARGE_COUNTS
/// Around the ring of all ranks, with sizes around that of an envelope and above.
class NonblockingExchange : public testing::TestWithParam<int> {
 protected:
  NonblockingExchange() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }
  [[nodiscard]] Extent buffer() const { return {.before = 0, .after = static_cast<std::size_t>(bytes)}; }
  void expect_receive(MPI_Request* request) {
    MPI_Status status;
    EXPECT_EQ(MPI_Wait(request, &status), MPI_SUCCESS);
    int received = 0;
    MPI_Get_count(&status, MPI_BYTE, &received);
    EXPECT_EQ(received, bytes);
    EXPECT_EQ(status.MPI_SOURCE, left());
    EXPECT_EQ(status.MPI_TAG, 5);
  }
  [[nodiscard]] int left() const { return (rank + size - 1) % size; }
  [[nodiscard]] int right() const { return (rank + 1) % size; }

  const int bytes = GetParam();
  int rank = 0;
  int size = 0;
};

TEST_P(NonblockingExchange, Isendrecv_sends_and_receives_behind_one_request) {
  for (int round = 0; round < 5; ++round) {
    expect_same_as_on_host(buffer(), buffer(), [&](const void* from, void* to) {
      MPI_Request request = MPI_REQUEST_NULL;
      const int code = MPI_Isendrecv(from, bytes, MPI_BYTE, right(), 5, to, bytes, MPI_BYTE, left(), 5,
                                     MPI_COMM_WORLD, &request);
      expect_receive(&request);
      return code;
    });
  }
}

TEST_P(NonblockingExchange, Isendrecv_replace_sends_what_was_there) {
  for (int round = 0; round < 5; ++round) {
    expect_same_as_on_host({}, buffer(), [&](const void*, void* to) {
      MPI_Request request = MPI_REQUEST_NULL;
      const int code =
          MPI_Isendrecv_replace(to, bytes, MPI_BYTE, right(), 5, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &request);
      expect_receive(&request);
      return code;
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Bytes, NonblockingExchange, testing::Values(0, 64, 65, 1 << 20));
#endif

/// A file of its own for every run, on all ranks; gone when it is closed.
class Files : public testing::Test {
 protected:
  Files() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char* const folder = std::getenv("TMPDIR");
    std::snprintf(name.data(), name.size(), "%s/penstock-files-XXXXXX", folder != nullptr ? folder : "/tmp");
    if (rank == 0) {
      const int made = ::mkstemp(name.data());
      EXPECT_GE(made, 0);
      ::close(made);
    }
    MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    EXPECT_EQ(MPI_File_open(MPI_COMM_WORLD, name.data(), MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                            MPI_INFO_NULL, &file),
              MPI_SUCCESS);
  }
  ~Files() override { MPI_File_close(&file); }

  [[nodiscard]] MPI_Offset own_place() const { return static_cast<MPI_Offset>(rank) * 100000; }

  /// Writes by `write`, reads back plainly what is now in the file.
  template <typename Write>
  void expect_written(Write write) {
    expect_same_as_on_host(
        type.extent(count), {.before = 0, .after = count * 3}, [&](const void* from, void* to) {
          const int code = write(from);
          MPI_File_sync(file);
          std::vector<std::byte> seen(count * 3);
          MPI_File_read_at(file, own_place(), seen.data(), count * 3, MPI_BYTE, MPI_STATUS_IGNORE);
          copy_to(to, seen);
          return code;
        });
  }

  /// What the file holds at `own_place()` after fill().
  [[nodiscard]] std::vector<std::byte> filled(std::size_t bytes) const {
    std::vector<std::byte> contents(bytes);
    for (std::size_t index = 0; index < bytes; ++index)
      contents[index] = static_cast<std::byte>((static_cast<std::size_t>(own_place()) + index) * 31);
    return contents;
  }
  void fill(std::size_t bytes) {
    const std::vector<std::byte> contents = filled(bytes);
    MPI_File_write_at_all(file, own_place(), contents.data(), static_cast<int>(bytes), MPI_BYTE,
                          MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
  }

  /// Test code has to reach device memory as well: through MPI itself.
  static void copy_to(void* to, const std::vector<std::byte>& bytes) {
    int position = 0;
    MPI_Unpack(bytes.data(), static_cast<int>(bytes.size()), &position, to, static_cast<int>(bytes.size()),
               MPI_BYTE, MPI_COMM_SELF);
  }

  int rank = 0;
  std::array<char, 256> name{};
  MPI_File file = MPI_FILE_NULL;
  ElementTypes types;
  ElementType type = types.plain().back();  // 8 bytes in 24
};

TEST_F(Files, File_write_at_writes_from_device_buffers) {
  expect_written([&](const void* from) {
    return MPI_File_write_at(file, own_place(), from, count, type.handle, MPI_STATUS_IGNORE);
  });
  expect_written([&](const void* from) {
    return MPI_File_write_at_all(file, own_place(), from, count, type.handle, MPI_STATUS_IGNORE);
  });
}

TEST_F(Files, File_write_writes_from_device_buffers_at_the_files_own_position) {
  expect_written([&](const void* from) {
    MPI_File_seek(file, own_place(), MPI_SEEK_SET);
    return MPI_File_write(file, from, count, type.handle, MPI_STATUS_IGNORE);
  });
  expect_written([&](const void* from) {
    MPI_File_seek(file, own_place(), MPI_SEEK_SET);
    return MPI_File_write_all(file, from, count, type.handle, MPI_STATUS_IGNORE);
  });
}

TEST_F(Files, File_iwrite_at_writes_what_the_buffer_held_when_it_was_called) {
  expect_written([&](const void* from) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_File_iwrite_at(file, own_place(), from, count, type.handle, &request);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
  });
}

TEST_F(Files, File_reads_fill_device_buffers_as_far_as_the_file_goes) {
  constexpr int read_bytes = 8 * count;  // of that many elements
  fill(read_bytes + 3 * count);
  const auto expect_read = [&](const char* name, auto read) {
    SCOPED_TRACE(name);
    expect_same_as_on_host({}, type.extent(count), [&](const void*, void* to) { return read(to); });
  };
  // Beyond the file's end in one piece only: of several, MPICH 4.0 fills those with what its own buffer held.
  // The last rank's contents end the file.
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const MPI_Offset beyond = static_cast<MPI_Offset>(ranks - 1) * 100000 + 3 * count;
  expect_read("MPI_File_read_at beyond the end", [&](void* to) {
    MPI_Status status;
    const int code = MPI_File_read_at(file, beyond + count, to, read_bytes, MPI_BYTE, &status);
    int bytes = 0;
    MPI_Get_elements(&status, MPI_BYTE, &bytes);
    EXPECT_EQ(bytes, read_bytes - count);
    return code;
  });
  expect_read("MPI_File_read_at_all", [&](void* to) {
    return MPI_File_read_at_all(file, own_place() + 3 * count, to, count, type.handle, MPI_STATUS_IGNORE);
  });
  expect_read("MPI_File_read", [&](void* to) {
    MPI_File_seek(file, own_place(), MPI_SEEK_SET);
    return MPI_File_read(file, to, count, type.handle, MPI_STATUS_IGNORE);
  });
}

/// Its stand-in is packed. MPICH 4.0 fills the rest of several pieces in host memory with bytes of its own.
TEST_F(Files, a_read_of_elements_with_gaps_ends_where_the_file_does) {
  constexpr int in_file = 40;  // of the elements
  constexpr std::size_t stride = 1024;
  fill(in_file * sizeof(double));
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_DOUBLE, 0, stride, &column);
  MPI_Type_commit(&column);
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::vector<std::byte> before(2 * in_file * stride, std::byte{0xee});
  std::vector<std::byte> expected = before;
  const std::vector<std::byte> contents = filled(in_file * sizeof(double));
  for (std::size_t element = 0; element < in_file; ++element) {
    std::memcpy(&expected[element * stride], &contents[element * sizeof(double)], sizeof(double));
  }
  Memory to(MemoryKind::device, before.size());
  to.write(0, before.data(), before.size());
  if (rank == ranks - 1) {
    MPI_Status status;
    EXPECT_EQ(MPI_File_read_at(file, own_place(), to.data(), 2 * in_file, column, &status), MPI_SUCCESS);
    int elements = 0;
    MPI_Get_count(&status, column, &elements);
    EXPECT_EQ(elements, in_file);
    std::vector<std::byte> seen(before.size());
    to.read(0, seen.data(), seen.size());
    EXPECT_TRUE(seen == expected);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Type_free(&column);
}

TEST_F(Files, File_iread_fills_buffers_of_every_kind) {
  fill(3 * count);
  // in one piece: Open MPI 4.1 reads each piece of a datatype by an asynchronous call of its own, and may
  // never end
  const auto expect_read = [&](const char* name, auto read) {
    SCOPED_TRACE(name);
    for (int round = 0; round < placement_count; ++round) {
      expect_same_as_on_host({}, {.before = 0, .after = 3 * count}, [&](const void*, void* to) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_File_seek(file, own_place(), MPI_SEEK_SET);
        EXPECT_EQ(read(to, &request), MPI_SUCCESS);
        MPI_Status status;
        const int code = MPI_Wait(&request, &status);
        EXPECT_EQ(request, MPI_REQUEST_NULL);
        int bytes = 0;
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        EXPECT_EQ(bytes, 3 * count);
        return code;
      });
    }
  };
  expect_read("MPI_File_iread", [&](void* to, MPI_Request* request) {
    return MPI_File_iread(file, to, 3 * count, MPI_BYTE, request);
  });
  expect_read("MPI_File_iread_at", [&](void* to, MPI_Request* request) {
    return MPI_File_iread_at(file, own_place(), to, 3 * count, MPI_BYTE, request);
  });
  expect_read("MPI_File_iread_at_all", [&](void* to, MPI_Request* request) {
    return MPI_File_iread_at_all(file, own_place(), to, 3 * count, MPI_BYTE, request);
  });
}

/// The ways to complete several requests.
using Completion = void (*)(std::vector<MPI_Request>& requests);
constexpr std::array<std::pair<const char*, Completion>, 5> completions{
    {{"Waitall",
      [](std::vector<MPI_Request>& requests) {
        MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
      }},
     {"Testall",
      [](std::vector<MPI_Request>& requests) {
        for (int all = 0; all == 0;)
          MPI_Testall(static_cast<int>(requests.size()), requests.data(), &all, MPI_STATUSES_IGNORE);
      }},
     {"Waitany",
      [](std::vector<MPI_Request>& requests) {
        for (int index = 0; index != MPI_UNDEFINED;)
          MPI_Waitany(static_cast<int>(requests.size()), requests.data(), &index, MPI_STATUS_IGNORE);
      }},
     {"Waitsome",
      [](std::vector<MPI_Request>& requests) {
        std::vector<int> indices(requests.size());
        for (int some = 0; some != MPI_UNDEFINED;)
          MPI_Waitsome(static_cast<int>(requests.size()), requests.data(), &some, indices.data(),
                       MPI_STATUSES_IGNORE);
      }},
     {"Wait, the last first", [](std::vector<MPI_Request>& requests) {
        for (std::size_t i = requests.size(); i-- > 0;) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
      }}}};

/// MPICH's I/O library mixes them up, if their requests are tested alternately: they hang, or write wrong
/// bytes.
TEST_F(Files, several_collective_operations_may_be_under_way) {
  constexpr int blocks = 64;
  constexpr int operations = 6;
  const auto bytes_of = [&](int operation, MemoryKind kind) {
    return std::vector<std::byte>(blocks,
                                  static_cast<std::byte>(16 * operation + 8 * rank + static_cast<int>(kind)));
  };
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Datatype own_byte = MPI_DATATYPE_NULL;  // the ranks' bytes alternate
  MPI_Type_create_resized(MPI_BYTE, 0, ranks, &own_byte);
  MPI_Type_commit(&own_byte);
  MPI_File_set_view(file, rank, MPI_BYTE, own_byte, "native", MPI_INFO_NULL);
  MPI_Type_free(&own_byte);
  for (const MemoryKind kind : {MemoryKind::pageable, MemoryKind::device}) {
    for (const auto& [name_of_call, complete] : completions) {
      SCOPED_TRACE(name_of_call);
      std::vector<Memory> memories;
      std::vector<MPI_Request> requests(operations);
      for (int i = 0; i < operations; ++i) {
        memories.emplace_back(kind, blocks);
        memories.back().write(0, bytes_of(i, kind).data(), blocks);
        MPI_File_iwrite_at_all(file, i * blocks, memories.back().data(), blocks, MPI_BYTE,
                               &requests[static_cast<std::size_t>(i)]);
      }
      complete(requests);
      for (int i = 0; i < operations; ++i) {
        memories.emplace_back(kind, blocks);
        MPI_File_iread_at_all(file, i * blocks, memories.back().data(), blocks, MPI_BYTE,
                              &requests[static_cast<std::size_t>(i)]);
      }
      complete(requests);
      for (int i = 0; i < operations; ++i) {
        std::vector<std::byte> read(blocks);
        memories[static_cast<std::size_t>(operations + i)].read(0, read.data(), blocks);
        EXPECT_EQ(read, bytes_of(i, kind)) << i;
      }
    }
  }
}

/// Split collectives write the same as those in one call.
TEST_F(Files, split_collectives_write_from_device_buffers) {
  expect_written([&](const void* from) {
    MPI_File_write_at_all_begin(file, own_place(), from, count, type.handle);
    return MPI_File_write_at_all_end(file, from, MPI_STATUS_IGNORE);
  });
  expect_written([&](const void* from) {
    MPI_File_seek(file, own_place(), MPI_SEEK_SET);
    MPI_File_write_all_begin(file, from, count, type.handle);
    return MPI_File_write_all_end(file, from, MPI_STATUS_IGNORE);
  });
#if PENSTOCK_HAS_LARGE_COUNTS
  expect_written([&](const void* from) {
    MPI_File_write_at_all_begin_c(file, own_place(), from, count, type.handle);
    return MPI_File_write_at_all_end(file, from, MPI_STATUS_IGNORE);
  });
#endif
}

TEST_F(Files, split_collectives_read_into_device_buffers_and_leave_the_gaps_alone) {
  fill(8 * count);
  const auto expect_read = [&](const char* name, auto read) {
    SCOPED_TRACE(name);
    for (int round = 0; round < placement_count; ++round) {
      expect_same_as_on_host({}, type.extent(count), [&](const void*, void* to) {
        MPI_Status status;
        const int code = read(to, &status);
        int bytes = 0;
        MPI_Get_elements(&status, MPI_BYTE, &bytes);
        EXPECT_EQ(bytes, 8 * count);
        return code;
      });
    }
  };
  expect_read("MPI_File_read_at_all_begin", [&](void* to, MPI_Status* status) {
    EXPECT_EQ(MPI_File_read_at_all_begin(file, own_place(), to, count, type.handle), MPI_SUCCESS);
    return MPI_File_read_at_all_end(file, to, status);
  });
  expect_read("MPI_File_read_all_begin", [&](void* to, MPI_Status* status) {
    MPI_File_seek(file, own_place(), MPI_SEEK_SET);
    EXPECT_EQ(MPI_File_read_all_begin(file, to, count, type.handle), MPI_SUCCESS);
    return MPI_File_read_all_end(file, to, status);
  });
#if PENSTOCK_HAS_LARGE_COUNTS
  expect_read("MPI_File_read_at_all_begin_c", [&](void* to, MPI_Status* status) {
    EXPECT_EQ(MPI_File_read_at_all_begin_c(file, own_place(), to, count, type.handle), MPI_SUCCESS);
    return MPI_File_read_at_all_end(file, to, status);
  });
#endif
}

TEST_F(Files, split_collectives_in_rank_order_write_and_read_device_buffers) {
  for (int round = 0; round < placement_count; ++round) {
    expect_same_as_on_host(
        {.before = 0, .after = 3 * count}, {.before = 0, .after = 3 * count},
        [&](const void* from, void* to) {
          MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
          EXPECT_EQ(MPI_File_write_ordered_begin(file, from, 3 * count, MPI_BYTE), MPI_SUCCESS);
          EXPECT_EQ(MPI_File_write_ordered_end(file, from, MPI_STATUS_IGNORE), MPI_SUCCESS);
          MPI_File_sync(file);
          MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
          EXPECT_EQ(MPI_File_read_ordered_begin(file, to, 3 * count, MPI_BYTE), MPI_SUCCESS);
          return MPI_File_read_ordered_end(file, to, MPI_STATUS_IGNORE);
        });
  }
}

/// A file each, so that one that ends must not take what the other has begun.
TEST_F(Files, split_collectives_of_several_files_end_in_any_order) {
  fill(8 * count);
  MPI_File other = MPI_FILE_NULL;
  ASSERT_EQ(MPI_File_open(MPI_COMM_WORLD, name.data(), MPI_MODE_RDWR, MPI_INFO_NULL, &other), MPI_SUCCESS);
  std::array<Memory, 2> memory = {Memory(MemoryKind::device, 3 * count), Memory(MemoryKind::managed, count)};
  MPI_File_read_at_all_begin(file, own_place(), memory[0].data(), 3 * count, MPI_BYTE);
  MPI_File_read_at_all_begin(other, own_place(), memory[1].data(), count, MPI_BYTE);
  EXPECT_EQ(MPI_File_read_at_all_end(file, memory[0].data(), MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(MPI_File_read_at_all_end(other, memory[1].data(), MPI_STATUS_IGNORE), MPI_SUCCESS);
  for (const Memory& one : memory) {
    std::vector<std::byte> seen(one.size());
    one.read(0, seen.data(), seen.size());
    EXPECT_EQ(seen, filled(seen.size()));
  }
  EXPECT_EQ(MPI_File_close(&other), MPI_SUCCESS);
}

TEST_F(Files, a_split_read_waits_for_the_work_that_the_buffer_was_in_when_it_began) {
  fill(count);
  Memory to(MemoryKind::device, count);
  Memory earlier(MemoryKind::pinned, count);
  const std::vector<std::byte> old_bytes(count, std::byte{0xee});
  earlier.write(0, old_bytes.data(), old_bytes.size());
  for (int round = 0; round < 20; ++round) {
    to.write_in_stream_order(0, earlier.data(), count);
    EXPECT_EQ(MPI_File_read_at_all_begin(file, own_place(), to.data(), count, MPI_BYTE), MPI_SUCCESS);
    EXPECT_EQ(MPI_File_read_at_all_end(file, to.data(), MPI_STATUS_IGNORE), MPI_SUCCESS);
    std::vector<std::byte> seen(count);
    to.read(0, seen.data(), seen.size());
    EXPECT_EQ(seen, filled(count));
  }
}

/// A read into `to` and a device message from oneself, with the calls that complete several requests.
class FileAndMessage : public Files {
 protected:
  template <typename Complete>
  void expect_both(Complete complete) {
    fill(3 * count);
    for (const MemoryKind kind : {MemoryKind::pageable, MemoryKind::device}) {
      SCOPED_TRACE(name_of(kind));
      Memory to(kind, 3 * count);
      Memory received(MemoryKind::device, count);
      Memory sent(MemoryKind::device, count);
      const std::vector<std::byte> message(count, std::byte{7});
      sent.write(0, message.data(), message.size());
      std::array<MPI_Request, 2> requests{};
      MPI_File_iread_at(file, own_place(), to.data(), 3 * count, MPI_BYTE, requests.data());
      MPI_Irecv(received.data(), count, MPI_BYTE, rank, 3, MPI_COMM_WORLD, &requests[1]);
      MPI_Request send = MPI_REQUEST_NULL;
      MPI_Isend(sent.data(), count, MPI_BYTE, rank, 3, MPI_COMM_WORLD, &send);
      complete(requests);
      MPI_Wait(&send, MPI_STATUS_IGNORE);
      EXPECT_EQ(requests[0], MPI_REQUEST_NULL);
      EXPECT_EQ(requests[1], MPI_REQUEST_NULL);
      std::vector<std::byte> seen(3 * count);
      to.read(0, seen.data(), seen.size());
      EXPECT_EQ(seen, filled(3 * count));
      seen.resize(count);
      received.read(0, seen.data(), seen.size());
      EXPECT_EQ(seen, message);
    }
  }
};

TEST_F(FileAndMessage, Waitall_completes_both) {
  expect_both([](auto& requests) {
    std::array<MPI_Status, 2> statuses{};
    EXPECT_EQ(MPI_Waitall(2, requests.data(), statuses.data()), MPI_SUCCESS);
    std::array<int, 2> bytes{};
    for (std::size_t i = 0; i < 2; ++i) MPI_Get_count(&statuses[i], MPI_BYTE, &bytes[i]);
    EXPECT_EQ(bytes, (std::array{3 * count, count}));
  });
}

TEST_F(FileAndMessage, Testall_completes_both_in_the_end) {
  expect_both([](auto& requests) {
    for (int all = 0; all == 0;) {
      EXPECT_EQ(MPI_Testall(2, requests.data(), &all, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    }
  });
}

TEST_F(FileAndMessage, Waitany_completes_one_after_the_other) {
  expect_both([](auto& requests) {
    std::array<bool, 2> is_done{};
    for (int i = 0; i < 2; ++i) {
      int index = MPI_UNDEFINED;
      EXPECT_EQ(MPI_Waitany(2, requests.data(), &index, MPI_STATUS_IGNORE), MPI_SUCCESS);
      is_done.at(static_cast<std::size_t>(index)) = true;
    }
    EXPECT_TRUE(is_done[0] && is_done[1]);
  });
}

TEST_F(FileAndMessage, Waitsome_completes_both_in_the_end) {
  expect_both([](auto& requests) {
    for (int left = 2; left > 0;) {
      int done = 0;
      std::array<int, 2> indices{};
      EXPECT_EQ(MPI_Waitsome(2, requests.data(), &done, indices.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
      left -= done;
    }
  });
}

TEST_F(FileAndMessage, Request_get_status_says_when_each_is_complete) {
  expect_both([](auto& requests) {
    for (MPI_Request& request : requests) {
      for (int is_complete = 0; is_complete == 0;) {
        EXPECT_EQ(MPI_Request_get_status(request, &is_complete, MPI_STATUS_IGNORE), MPI_SUCCESS);
      }
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  });
}

TEST_F(Files, Request_free_leaves_a_read_to_end_by_itself) {
  fill(3 * count);
  Memory to(MemoryKind::device, 3 * count);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_File_iread_at(file, own_place(), to.data(), 3 * count, MPI_BYTE, &request);
  EXPECT_EQ(MPI_Request_free(&request), MPI_SUCCESS);
  EXPECT_EQ(request, MPI_REQUEST_NULL);
  std::vector<std::byte> seen(3 * count);
  while (seen != filled(3 * count)) {
    int flag = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    to.read(0, seen.data(), seen.size());
  }
}

}  // namespace
}  // namespace penstock::test_support
