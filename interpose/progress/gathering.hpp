// Ranks that meet in a blocking call of the MPI library which nothing can step: on a window, on a file, or of
// a group. Each rank records its arrival in node-shared memory. A rank with work that others may need
// continues it until all have arrived or the work is done. Then the call ends soon: the rank in it holds up
// no other rank, and has waited only for ranks that the call waits for anyway. Knows no single call.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "interpose/binding/function_names.hpp"
#include "interpose/node/vote_slots.hpp"
#include "interpose/progress/progress.hpp"

namespace penstock::interpose {

/// Thread: one at a time, as such calls of the same ranks do not overlap.
class Gathering {
 public:
  /// `members`: ranks in MPI_COMM_WORLD, negative for those that are not of this job. `is_agreed`: all of
  /// them have the same id.
  Gathering(std::uint64_t id, bool is_agreed, std::vector<int> members);
  /// Arrives at the next call. Returns at once if this rank is the only one or has nothing that others may
  /// need.
  void come();
  /// Takes back the arrival at a call that failed on this rank alone and will be repeated.
  void take_back() noexcept { --calls_; }
  [[nodiscard]] bool is_alone() const noexcept { return members_.size() == 1; }
  /// Returns a gathering of the same ranks for the object that the last call made.
  [[nodiscard]] std::shared_ptr<Gathering> of_what_was_made() const;

 private:
  /// The last call's ordinal, as arrival notes store it.
  [[nodiscard]] std::uint32_t ordinal() const noexcept { return static_cast<std::uint32_t>(calls_); }
  void say() noexcept;
  [[nodiscard]] bool have_others_come();

  const std::uint64_t id_;
  const bool is_agreed_;
  const std::vector<int> members_;
  std::uint64_t calls_ = 0;
  std::unique_ptr<VoteSlot> vote_slot_;  ///< created once some rank uses a GPU
  std::size_t come_ = 0;                 ///< how many members are known to have arrived at the last call
};

/// Collective calls over the communicator, window or file. Null: Penstock has not seen it made, and its calls
/// only settle().
[[nodiscard]] std::shared_ptr<Gathering> gathering_on(MPI_Comm communicator) noexcept;
[[nodiscard]] std::shared_ptr<Gathering> gathering_on_window(MPI_Win window) noexcept;
[[nodiscard]] std::shared_ptr<Gathering> gathering_on_file(MPI_File file) noexcept;
void note_window(MPI_Win window, const Gathering& maker) noexcept;
void note_file(MPI_File file, const Gathering& maker) noexcept;
void forget_window(MPI_Win window) noexcept;
void forget_file(MPI_File file) noexcept;

/// Arrives at one call that is collective over a group only.
void gather_group(MPI_Group group, std::uint64_t id, bool is_agreed) noexcept;

/// Arrives at a call; returns false if there is no gathering.
bool come_to(Gathering* gathering) noexcept;
/// Called after a call at which this rank arrived. Returns the code.
int after(Gathering& gathering, int code) noexcept;

/// Performs MPI_Win_wait by polling its non-blocking form.
int await_exposure_epoch(MPI_Win window);

namespace detail {

/// The object of a function that may wait for other ranks, by the function's name. It is the first or last
/// argument of all but those that make windows.
enum class Subject : std::uint8_t { none, opens_file, makes_window, file, window, window_of_some };

constexpr Subject subject_of(Function function) noexcept {
  using enum Subject;
  const std::string_view name = name_of(function);
  if (name == "MPI_File_open") return opens_file;
  if (name.starts_with("MPI_File_")) return file;
  if (name.starts_with("MPI_Win_allocate") || name.starts_with("MPI_Win_create")) return makes_window;
  if (name == "MPI_Win_fence" || name == "MPI_Win_free") return window;
  return name.starts_with("MPI_Win_") ? window_of_some : none;
}

}  // namespace detail

/// Runs `call()`. If it may last until other ranks act, this rank first does what they may need.
template <Function function, typename Call, typename... Arguments>
auto among_others(const Call& call, const Arguments&... arguments) {
  using detail::Subject;
  constexpr Subject subject = waits(function) ? detail::subject_of(function) : Subject::none;
  [[maybe_unused]] const auto all = std::tie(arguments...);
  constexpr std::size_t last = sizeof...(Arguments) - 1;
  if constexpr (subject == Subject::opens_file) {
    const auto opening = gathering_on(std::get<0>(all));
    if (!come_to(opening.get())) return call();
    const int code = after(*opening, call());
    if (code == MPI_SUCCESS) note_file(*std::get<last>(all), *opening);
    return code;
  } else if constexpr (subject == Subject::makes_window) {
    // the communicator precedes the window, and allocated memory too
    constexpr std::size_t back = std::string_view(name_of(function)).starts_with("MPI_Win_allocate") ? 2 : 1;
    const auto making = gathering_on(std::get<last - back>(all));
    if (!come_to(making.get())) return call();
    const int code = after(*making, call());
    if (code == MPI_SUCCESS) note_window(*std::get<last>(all), *making);
    return code;
  } else if constexpr (subject == Subject::file) {
    constexpr bool closes = function == Function::File_close;
    MPI_File file = MPI_FILE_NULL;
    if constexpr (closes) {
      file = *std::get<0>(all);
    } else {
      file = std::get<0>(all);
    }
    const auto users = gathering_on_file(file);
    if (!come_to(users.get())) return call();
    const int code = after(*users, call());
    if (closes && code == MPI_SUCCESS) forget_file(file);
    return code;
  } else if constexpr (subject == Subject::window) {
    constexpr bool frees = function == Function::Win_free;
    MPI_Win window = MPI_WIN_NULL;
    if constexpr (frees) {
      window = *std::get<last>(all);
    } else {
      window = std::get<last>(all);
    }
    const auto users = gathering_on_window(window);
    if (!come_to(users.get())) return call();
    const int code = after(*users, call());
    if (frees && code == MPI_SUCCESS) forget_window(window);
    return code;
  } else if constexpr (function == Function::Win_wait) {
    return await_exposure_epoch(std::get<last>(all));
  } else {
    if constexpr (subject == Subject::window_of_some) {
      const auto users = gathering_on_window(std::get<last>(all));
      if (users != nullptr && users->is_alone()) return call();
    }
    if constexpr (waits(function)) settle();
    return call();
  }
}

}  // namespace penstock::interpose
