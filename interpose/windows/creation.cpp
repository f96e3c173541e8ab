#include "interpose/windows/creation.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

#include "interpose/calls/communicators.hpp"
#include "interpose/calls/quiet_errors.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/node/settings.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/record/recorder.hpp"
#include "interpose/staging/out_of_reach.hpp"
#include "interpose/windows/epochs.hpp"
#include "interpose/windows/memory/allocated_memory.hpp"
#include "interpose/windows/window_table.hpp"

namespace penstock::interpose {
namespace {

/// Returns whether all members are on this node and run Penstock: all of them find the same.
bool are_neighbours(const CommunicatorInfo& info) {
  return std::ranges::all_of(
      info.world_ranks, [](int member) { return member >= 0 && node_directory().row_of(member) != nullptr; });
}

/// Waits for a collective that `post(&request)` posts. Returns MPI's code.
template <typename Post>
int meet_in(MPI_Comm communicator, Post post) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = post(&request);
  return code == MPI_SUCCESS ? raise_quieted(communicator, wait_polling(&request, MPI_STATUS_IGNORE)) : code;
}

/// Returns the greatest of the members' numbers.
int greatest(MPI_Comm communicator, int own, int& code) {
  int all = own;
  code = meet_in(communicator, [&](MPI_Request* request) {
    return PMPI_Iallreduce(&own, &all, 1, MPI_INT, MPI_MAX, communicator, request);
  });
  return all;
}

/// Returns why this rank cannot reach some member's memory; null if it reaches all.
const char* open_all(const std::vector<std::shared_ptr<MemberMemory>>& members) {
  for (const auto& member : members) {
    if (const char* const why_not = member->open(); why_not != nullptr) return why_not;
  }
  return nullptr;
}

int refuse(MPI_Comm communicator, const char* why_not) {
  if (why_not != nullptr) {
    Line line;
    std::snprintf(line.data(), line.size(), "a window of device memory cannot be made: %s", why_not);
    record::notice(line.data());
  }
  return raise(communicator, MPI_ERR_UNSUPPORTED_OPERATION);
}

/// Makes the library's window and finds the members' rows in it. Returns MPI's code.
int make_shared_words(const WindowArguments& arguments, int members, MPI_Win* handle, SharedWords& words) {
  const std::size_t bytes = SharedWords::row_bytes(static_cast<std::size_t>(members)) + alignof(WordRow);
  void* own = nullptr;
  const int code = PMPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, arguments.info,
                                            arguments.communicator, &own, handle);
  if (code != MPI_SUCCESS) return code;
  std::vector<WordRow*> rows;
  for (int member = 0; member < members; ++member) {
    MPI_Aint size = 0;
    int unit = 0;
    void* base = nullptr;
    PMPI_Win_shared_query(*handle, member, &size, &unit, &base);
    const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(base);
    rows.push_back(
        reinterpret_cast<WordRow*>((address + alignof(WordRow) - 1) / alignof(WordRow) * alignof(WordRow)));
  }
  words = SharedWords(std::move(rows));
  return MPI_SUCCESS;
}

/// Returns who makes the window, once all members have said whether they have device memory.
Maker maker_if(const WindowArguments& arguments, bool has_device_memory) {
  const CommunicatorInfo* const info = peek_info(arguments.communicator);
  if (!settings().move || info == nullptr || info->is_inter || arguments.size < 0 || arguments.unit <= 0 ||
      !are_neighbours(*info)) {
    return Maker::library;
  }
  int code = MPI_SUCCESS;
  const bool is_ours =
      greatest(arguments.communicator, has_device_memory || settings().own_windows ? 1 : 0, code) != 0;
  return code == MPI_SUCCESS && is_ours ? Maker::ours : Maker::library;
}

/// Returns whether MPI-4.1's key asks for it, in a list of kinds.
bool asks_for_device_memory(MPI_Info info) {
  if (info == MPI_INFO_NULL) return false;
  std::array<char, MPI_MAX_INFO_VAL + 1> value{};
  int is_there = 0;
  const int code = PMPI_Info_get(info, "mpi_memory_alloc_kinds", MPI_MAX_INFO_VAL, value.data(), &is_there);
  return code == MPI_SUCCESS && is_there != 0 &&
         std::string_view(value.data()).find("cuda:device") != std::string_view::npos;
}

/// `why_not`: null, or why this rank has no memory. `memory`: what the window owns, of MPI_Win_allocate.
int make_window_of(const WindowArguments& arguments, const char* why_not, int flavor, AllocatedMemory memory,
                   MPI_Win* handle) {
  const MPI_Comm communicator = arguments.communicator;
  int rank = 0;
  int size = 0;
  PMPI_Comm_rank(communicator, &rank);
  PMPI_Comm_size(communicator, &size);
  note_gpu_use();

  const std::uint64_t bytes = why_not == nullptr ? static_cast<std::uint64_t>(arguments.size) : 0;
  const MemberRecord own = describe_member(arguments.base, bytes, arguments.unit);
  std::vector<MemberRecord> records(static_cast<std::size_t>(size));
  int code = meet_in(communicator, [&](MPI_Request* request) {
    return PMPI_Iallgather(&own, sizeof own, MPI_BYTE, records.data(), sizeof own, MPI_BYTE, communicator,
                           request);
  });
  if (code != MPI_SUCCESS) return code;
  std::vector<std::shared_ptr<MemberMemory>> members;
  for (const MemberRecord& record : records) members.push_back(std::make_shared<MemberMemory>(record));
  if (why_not == nullptr) why_not = open_all(members);
  const bool is_refused = greatest(communicator, why_not != nullptr ? 1 : 0, code) != 0;
  if (code != MPI_SUCCESS) return code;
  if (is_refused) return refuse(communicator, why_not);

  SharedWords words;
  code = make_shared_words(arguments, size, handle, words);
  if (code != MPI_SUCCESS) return code;
  WordRow& row = words.row(static_cast<std::size_t>(rank));
  std::fill_n(reinterpret_cast<std::byte*>(&row), SharedWords::row_bytes(static_cast<std::size_t>(size)),
              std::byte{0});
  WindowAttributes attributes{arguments.base, arguments.size, static_cast<int>(arguments.unit)};
  attributes.flavor = flavor;
  note_own_window(*handle,
                  std::make_shared<Window>(*handle, static_cast<std::size_t>(rank), std::move(members),
                                           std::move(words), attributes, std::move(memory)));
  // nobody uses the words before all are cleared
  return meet_in(communicator, [&](MPI_Request* request) { return PMPI_Ibarrier(communicator, request); });
}

}  // namespace

Maker maker_of(const WindowArguments& arguments) {
  return maker_if(arguments, arguments.size > 0 && is_out_of_reach(arguments.base));
}

Maker maker_of_allocated(const WindowArguments& arguments) {
  return maker_if(arguments, asks_for_device_memory(arguments.info));
}

int make_window(const WindowArguments& arguments, MPI_Win* handle) {
  return make_window_of(arguments, nullptr, MPI_WIN_FLAVOR_CREATE, {}, handle);
}

int allocate_window(const WindowArguments& arguments, void** base, MPI_Win* handle) {
  AllocatedMemory memory;
  const Status allocated = AllocatedMemory::make(static_cast<std::size_t>(arguments.size),
                                                 asks_for_device_memory(arguments.info), memory);
  WindowArguments with_base = arguments;
  with_base.base = memory.address();
  const int code = make_window_of(with_base, allocated.ok() ? nullptr : allocated.where(),
                                  MPI_WIN_FLAVOR_ALLOCATE, std::move(memory), handle);
  if (code == MPI_SUCCESS) *base = with_base.base;
  return code;
}

int free_window(const std::shared_ptr<Window>& window, MPI_Win* handle) {
  if (const int code = epochs::end_all(*window); code != MPI_SUCCESS) return code;
  window->note_freed();
  forget_own_window(*handle);
  return PMPI_Win_free(handle);
}

}  // namespace penstock::interpose
