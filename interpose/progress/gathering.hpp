// Ranks that come together to a blocking call of the MPI library which nothing can step: on a window, on a
// file, or of a group. Each says in node-shared memory that it has come to it; whoever has work that others
// may need goes on with it until all have, or until nothing is left of it. Then the call is over soon, and
// the rank that is in it holds up nobody, nor has it waited for anybody whom the call would not have waited
// for. Knows no single call.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "interpose/binding/function_names.hpp"
#include "interpose/node/arrival_places.hpp"
#include "interpose/progress/progress.hpp"

namespace penstock::interpose {

/// Thread: one at a time, as such calls of the same ranks do not overlap.
class Gathering {
 public:
  /// `members`: in MPI_COMM_WORLD, negative for those that are not of this job. `is_agreed`: all of them have
  /// the same id.
  Gathering(std::uint64_t id, bool is_agreed, std::vector<int> members);
  /// Comes to the next call. Waits for nobody if this rank is the only one, or has nothing that others may
  /// need.
  void come();
  /// The call failed on this rank alone, and will be made again.
  void take_back() noexcept { --calls_; }
  [[nodiscard]] bool is_alone() const noexcept { return members_.size() == 1; }
  /// What the last call has made is used by the same ranks.
  [[nodiscard]] std::shared_ptr<Gathering> of_what_was_made() const;

 private:
  /// Of the last call, as notes have it.
  [[nodiscard]] std::uint32_t ordinal() const noexcept { return static_cast<std::uint32_t>(calls_); }
  void say() noexcept;
  [[nodiscard]] bool have_others_come();

  const std::uint64_t id_;
  const bool is_agreed_;
  const std::vector<int> members_;
  std::uint64_t calls_ = 0;
  std::unique_ptr<ArrivalPlace> place_;  ///< made once some rank uses a GPU
  std::size_t come_ = 0;                 ///< so many of the members are known to have come to the last call
};

/// The calls that are collective over the communicator, window or file; those on what Penstock has not seen
/// made are settle()d. Null: there is nothing to come to.
[[nodiscard]] std::shared_ptr<Gathering> gathering_on(MPI_Comm communicator) noexcept;
[[nodiscard]] std::shared_ptr<Gathering> gathering_on_window(MPI_Win window) noexcept;
[[nodiscard]] std::shared_ptr<Gathering> gathering_on_file(MPI_File file) noexcept;
void note_window(MPI_Win window, const Gathering& maker) noexcept;
void note_file(MPI_File file, const Gathering& maker) noexcept;
void forget_window(MPI_Win window) noexcept;
void forget_file(MPI_File file) noexcept;

/// One call that is collective over a group only.
void gather_group(MPI_Group group, std::uint64_t id, bool is_agreed) noexcept;

/// Comes to a call; returns whether there is anything to come to.
bool come_to(Gathering* gathering) noexcept;
/// After a call to which this rank has come. Returns the code.
int after(Gathering& gathering, int code) noexcept;

/// MPI_Win_wait, which has a form that does not wait.
int await_exposure_epoch(MPI_Win window);

namespace detail {

/// What a function that may wait for other ranks is called on, by its name; all take it first or last, but
/// for those that make windows.
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

/// `call()`; if it may last until other ranks do something, this rank does before what they may need.
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
    // before the window, and before memory that is allocated
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
