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
#include "interpose/calls/temporary_error_handler.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/node/settings.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/record/recorder.hpp"
#include "interpose/staging/out_of_reach.hpp"
#include "interpose/windows/epochs.hpp"
#include "interpose/windows/memory/allocated_memory.hpp"
#include "interpose/windows/own_windows.hpp"
#include "transports/machine.hpp"

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

/// Where a member's part of the shared memory has its words, and where behind them its regions.
std::size_t bytes_of_words(std::size_t members) noexcept {
  constexpr std::size_t alignment = alignof(WordRow);
  return (SharedWords::row_bytes(members) + alignment - 1) / alignment * alignment;
}

/// Makes a window of the library's, for its handle, and memory of `bytes` a member that all share. Returns
/// whether all members have both; `code`: of the meetings.
bool make_shared_window(const WindowArguments& arguments, std::size_t members, std::size_t bytes,
                        MPI_Win* handle, SharedParts& parts, int& code) {
  enum : int { has_all, lacks_parts, lacks_the_window };
  const MPI_Comm communicator = arguments.communicator;
  int outcome = has_all;
  {
    void* no_memory = nullptr;
    const TemporaryErrorHandler errors_returned(communicator, MPI_ERRORS_RETURN);
    const int made =
        PMPI_Win_allocate(0, 1, arguments.info, communicator, static_cast<void*>(&no_memory), handle);
    if (made != MPI_SUCCESS) outcome = lacks_the_window;
  }
  if (!parts.make(bytes).ok()) outcome = std::max<int>(outcome, lacks_parts);
  const transports::Offer own = parts.offer();
  std::vector<transports::Offer> offers(members);
  code = meet_in(communicator, [&](MPI_Request* request) {
    return PMPI_Iallgather(&own, sizeof own, MPI_BYTE, offers.data(), sizeof own, MPI_BYTE, communicator,
                           request);
  });
  if (code != MPI_SUCCESS) return false;
  if (!parts.open(offers).ok()) outcome = std::max<int>(outcome, lacks_parts);
  outcome = greatest(communicator, outcome, code);
  if (code == MPI_SUCCESS && outcome == lacks_parts) PMPI_Win_free(handle);  // all have one
  return code == MPI_SUCCESS && outcome == has_all;
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
bool names_device_memory(MPI_Info info) {
  if (info == MPI_INFO_NULL) return false;
  std::array<char, MPI_MAX_INFO_VAL + 1> value{};
  int is_there = 0;
  const int code = PMPI_Info_get(info, "mpi_memory_alloc_kinds", MPI_MAX_INFO_VAL, value.data(), &is_there);
  return code == MPI_SUCCESS && is_there != 0 &&
         std::string_view(value.data()).find("cuda:device") != std::string_view::npos;
}

/// The members tell each other what their memory is, and agree whether all reach all. `why_not`: before, null
/// or why this rank has no memory; after, also why it does not reach another's. Returns the code of the call,
/// raised.
int meet_members(MPI_Comm communicator, const MemberRecord& own, const char*& why_not,
                 std::vector<std::shared_ptr<MemberMemory>>& members, bool& reach_each_other) {
  int size = 0;
  PMPI_Comm_size(communicator, &size);
  std::vector<MemberRecord> records(static_cast<std::size_t>(size));
  int code = meet_in(communicator, [&](MPI_Request* request) {
    return PMPI_Iallgather(&own, sizeof own, MPI_BYTE, records.data(), sizeof own, MPI_BYTE, communicator,
                           request);
  });
  if (code != MPI_SUCCESS) return code;
  for (const MemberRecord& record : records) members.push_back(std::make_shared<MemberMemory>(record));
  if (why_not == nullptr) why_not = open_all(members);
  reach_each_other = greatest(communicator, why_not != nullptr ? 1 : 0, code) == 0;
  return code;
}

/// The same for the members' memory of a window.
int reach_members(const WindowArguments& arguments, const char*& why_not,
                  std::vector<std::shared_ptr<MemberMemory>>& members, bool& reach_each_other) {
  const std::uint64_t bytes = why_not == nullptr ? static_cast<std::uint64_t>(arguments.size) : 0;
  const MemberRecord own = describe_member(arguments.base, bytes, arguments.unit);
  return meet_members(arguments.communicator, own, why_not, members, reach_each_other);
}

/// Returns whether all members reach memory of the others' hosts, which they may attach later.
bool reach_host_memory(MPI_Comm communicator) {
  static std::uint64_t word = 0;
  std::vector<std::shared_ptr<MemberMemory>> members;
  const char* why_not = nullptr;
  bool reach_each_other = false;
  const MemberRecord own = describe_member(&word, sizeof word, 1);
  return meet_members(communicator, own, why_not, members, reach_each_other) == MPI_SUCCESS &&
         reach_each_other;
}

/// Makes a window of what the members have agreed on; a dynamic one gets its tables of regions. Returns the
/// code of the call, or nothing on all members if some share no memory or the library makes no window. Then
/// nothing that a part of them has made is freed, as that takes all.
std::optional<int> make_window_of(const WindowArguments& arguments, int flavor, WindowMemory memory,
                                  MPI_Win* handle) {
  const MPI_Comm communicator = arguments.communicator;
  int number = 0;
  int size = 0;
  PMPI_Comm_rank(communicator, &number);
  PMPI_Comm_size(communicator, &size);
  const auto rank = static_cast<std::size_t>(number);
  const auto members = static_cast<std::size_t>(size);
  const std::size_t words_bytes = bytes_of_words(members);
  const bool is_dynamic = flavor == MPI_WIN_FLAVOR_DYNAMIC;

  int code = MPI_SUCCESS;
  const bool has_all = make_shared_window(
      arguments, members, words_bytes + (is_dynamic ? RegionTable::bytes() : 0), handle, memory.shared, code);
  if (code != MPI_SUCCESS) return code;
  if (!has_all) return std::nullopt;
  const std::vector<std::byte*> parts = memory.shared.addresses();
  std::vector<WordRow*> rows;
  for (std::byte* const part : parts) rows.push_back(reinterpret_cast<WordRow*>(part));
  if (is_dynamic) {
    std::vector<RegionTable> tables;
    for (std::byte* const part : parts) tables.emplace_back(part + words_bytes);
    memory.dynamic = std::make_unique<DynamicMemory>(rank, tables);
  }
  memory.shared.close_file();  // all have opened it
  WindowAttributes attributes{arguments.base, arguments.size, static_cast<int>(arguments.unit)};
  attributes.flavor = flavor;
  own_windows().note(*handle, std::make_shared<Window>(*handle, rank, std::move(memory),
                                                       SharedWords(std::move(rows)), attributes));
  return MPI_SUCCESS;
}

/// Makes a window of the members' memory, if all reach all of it. `own_reason`: null, or why this rank has
/// none. The rest as make_window() has it.
std::optional<int> make_over(const WindowArguments& arguments, int flavor, WindowMemory memory,
                             const char* own_reason, MPI_Win* handle, const char*& why_not) {
  bool reach_each_other = false;
  const int code = reach_members(arguments, own_reason, memory.members, reach_each_other);
  if (code != MPI_SUCCESS) return code;
  if (reach_each_other) {
    why_not = "the members share no memory";
    return make_window_of(arguments, flavor, std::move(memory), handle);
  }
  why_not = own_reason != nullptr ? own_reason : "another member does not reach the memory of all";
  return std::nullopt;
}

}  // namespace

Maker maker_of(const WindowArguments& arguments) {
  return maker_if(arguments, arguments.size > 0 && is_out_of_reach(arguments.base));
}

bool asks_for_device_memory(const WindowArguments& arguments) {
  return settings().move && arguments.size > 0 && names_device_memory(arguments.info);
}

Maker maker_of_allocated(const WindowArguments& arguments) {
  return maker_if(arguments, asks_for_device_memory(arguments));
}

Maker maker_of_dynamic(const WindowArguments& arguments) {
  const Maker maker = maker_if(arguments, transports::cuda_in_use());
  return maker == Maker::ours && !reach_host_memory(arguments.communicator) ? Maker::library : maker;
}

std::optional<int> make_window(const WindowArguments& arguments, MPI_Win* handle, const char*& why_not) {
  note_gpu_use();
  return make_over(arguments, MPI_WIN_FLAVOR_CREATE, {}, nullptr, handle, why_not);
}

std::optional<int> allocate_window(const WindowArguments& arguments, void** base, MPI_Win* handle,
                                   const char*& why_not) {
  note_gpu_use();
  WindowMemory memory;
  const Status allocated = AllocatedMemory::make(static_cast<std::size_t>(arguments.size),
                                                 asks_for_device_memory(arguments), memory.allocated);
  WindowArguments with_base = arguments;
  with_base.base = memory.allocated.address();
  const std::optional<int> made =
      make_over(with_base, MPI_WIN_FLAVOR_ALLOCATE, std::move(memory),
                allocated.ok() ? nullptr : "its device memory cannot be allocated", handle, why_not);
  if (made == MPI_SUCCESS) *base = with_base.base;
  return made;
}

std::optional<int> make_dynamic_window(const WindowArguments& arguments, MPI_Win* handle) {
  note_gpu_use();
  return make_window_of(arguments, MPI_WIN_FLAVOR_DYNAMIC, {}, handle);
}

int attach_memory(Window& window, void* base, MPI_Aint size) {
  DynamicMemory* const dynamic = window.dynamic();
  if (dynamic == nullptr) return window.raise(MPI_ERR_RMA_FLAVOR);
  if (size < 0) return window.raise(MPI_ERR_SIZE);
  const char* const why_not = dynamic->own.attach(base, static_cast<std::uint64_t>(size));
  if (why_not == nullptr) return MPI_SUCCESS;
  Line line;
  std::snprintf(line.data(), line.size(), "MPI_Win_attach: the memory cannot be attached: %s", why_not);
  record::notice(line.data());
  return window.raise(MPI_ERR_RMA_ATTACH);
}

int detach_memory(Window& window, const void* base) {
  DynamicMemory* const dynamic = window.dynamic();
  if (dynamic == nullptr) return window.raise(MPI_ERR_RMA_FLAVOR);
  return dynamic->own.detach(base) ? MPI_SUCCESS : window.raise(MPI_ERR_BASE);
}

int free_window(const std::shared_ptr<Window>& window, MPI_Win* handle) {
  if (const int code = epochs::end_all(*window); code != MPI_SUCCESS) return code;
  window->note_freed();
  // before the others free it, which they do once all have come to the library's call
  if (window->attributes().flavor == MPI_WIN_FLAVOR_ALLOCATE) window->close_members();
  // the program's functions that delete attributes may still ask about the window
  const MPI_Win freed = *handle;
  const int code = PMPI_Win_free(handle);
  own_windows().forget(freed, window);
  return code;
}

}  // namespace penstock::interpose
