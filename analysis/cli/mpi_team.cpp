#include "analysis/cli/mpi_team.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <optional>

#include "analysis/tables/number.hpp"

namespace penstock::cli {

/// The part of MPI that is needed, independent of handle types.
class MpiTeam::Library {
 public:
  Library() = default;
  virtual ~Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  /// Returns false if a function is missing or MPI_Init fails.
  virtual bool start() = 0;
  [[nodiscard]] virtual std::pair<int, int> rank_and_size() = 0;
  virtual void broadcast(void* bytes, int count, int root) = 0;
  virtual void send(const void* bytes, int count, int to) = 0;
  virtual void receive(void* bytes, int count, int from) = 0;
  virtual void finalize() = 0;
  virtual void abort(int exit_code) = 0;
};

namespace {

/// The tag of all messages of the team; there are no others.
constexpr int tag = 1;

/// `Handle`: the ABI's type of communicators and datatypes.
template <typename Handle>
class LibraryOf final : public MpiTeam::Library {
 public:
  LibraryOf(void* library, Handle world, Handle byte, void* ignored_status)
      : library_(library), world_(world), byte_(byte), ignored_status_(ignored_status) {}

  bool start() override {
    return find(init_, "MPI_Init") && find(comm_rank_, "MPI_Comm_rank") &&
           find(comm_size_, "MPI_Comm_size") && find(bcast_, "MPI_Bcast") && find(send_, "MPI_Send") &&
           find(recv_, "MPI_Recv") && find(finalize_, "MPI_Finalize") && find(abort_, "MPI_Abort") &&
           init_(nullptr, nullptr) == 0;
  }
  std::pair<int, int> rank_and_size() override {
    std::pair<int, int> answer{0, 1};
    comm_rank_(world_, &answer.first);
    comm_size_(world_, &answer.second);
    return answer;
  }
  void broadcast(void* bytes, int count, int root) override { bcast_(bytes, count, byte_, root, world_); }
  void send(const void* bytes, int count, int to) override { send_(bytes, count, byte_, to, tag, world_); }
  void receive(void* bytes, int count, int from) override {
    recv_(bytes, count, byte_, from, tag, world_, ignored_status_);
  }
  void finalize() override { finalize_(); }
  void abort(int exit_code) override { abort_(world_, exit_code); }

 private:
  template <typename Function>
  bool find(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(::dlsym(library_, name));
    return function != nullptr;
  }

  void* library_;
  Handle world_;
  Handle byte_;
  void* ignored_status_;
  int (*init_)(int*, char***) = nullptr;
  int (*comm_rank_)(Handle, int*) = nullptr;
  int (*comm_size_)(Handle, int*) = nullptr;
  int (*bcast_)(void*, int, Handle, int, Handle) = nullptr;
  int (*send_)(const void*, int, Handle, int, int, Handle) = nullptr;
  int (*recv_)(void*, int, Handle, int, int, Handle, void*) = nullptr;
  int (*finalize_)() = nullptr;
  int (*abort_)(Handle, int) = nullptr;
};

void* open_first(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    // global, because Open MPI's components look for its symbols
    if (void* const library = ::dlopen(name, RTLD_NOW | RTLD_GLOBAL); library != nullptr) {
      return library;
    }
  }
  return nullptr;
}

std::unique_ptr<MpiTeam::Library> open_mpich() {
  // Values of the ABI that MPICH, Intel MPI, MVAPICH and Cray MPI share (mpi.h).
  constexpr int world = 0x44000000;
  constexpr int byte = 0x4c00010d;
  void* const library =
      open_first({"libmpich.so.12", "libmpi.so.12", "libmpi_cray.so.12", "libmpi_gnu_112.so.12"});
  return library == nullptr
             ? nullptr
             : std::make_unique<LibraryOf<int>>(library, world, byte, reinterpret_cast<void*>(1));
}

std::unique_ptr<MpiTeam::Library> open_openmpi() {
  void* const library = open_first({"libmpi.so.40"});
  if (library == nullptr) {
    return nullptr;
  }
  void* const world = ::dlsym(library, "ompi_mpi_comm_world");
  void* const byte = ::dlsym(library, "ompi_mpi_byte");
  return world == nullptr || byte == nullptr
             ? nullptr
             : std::make_unique<LibraryOf<void*>>(library, world, byte, nullptr);
}

std::optional<std::size_t> number_set(const char* variable) noexcept {
  const char* const text = std::getenv(variable);
  return text == nullptr ? std::nullopt : analysis::number_in<std::size_t>(text);
}

}  // namespace

Launched launched() noexcept {
  struct Variables {
    const char* own;
    const char* processes;
    bool by_openmpi;
  };
  // Slurm's variables are those of the step, not of the job, so that a batch script's own process counts as
  // one.
  for (const Variables& each :
       {Variables{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", true},
        Variables{"PMI_RANK", "PMI_SIZE", false}, Variables{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", false}}) {
    const std::optional<std::size_t> own = number_set(each.own);
    const std::optional<std::size_t> processes = number_set(each.processes);
    if (own && processes && *own < *processes) {
      const bool by_pmix = std::getenv("PMIX_RANK") != nullptr && std::getenv("PMI_RANK") == nullptr;
      return {*own, *processes, each.by_openmpi || by_pmix};
    }
  }
  return {};
}

std::unique_ptr<MpiTeam> MpiTeam::join(std::string& why_not) {
  const Launched here = launched();
  if (here.processes < 2) {
    return nullptr;
  }
  std::unique_ptr<Library> library = here.by_openmpi ? open_openmpi() : open_mpich();
  if (library == nullptr || !library->start()) {
    why_not =
        fmt::format("one of {} processes, but {} cannot be opened: the first one makes the report alone",
                    here.processes, here.by_openmpi ? "Open MPI's libmpi.so.40" : "MPICH's libmpich.so.12");
    return nullptr;
  }
  const auto [own, size] = library->rank_and_size();
  if (static_cast<std::size_t>(size) != here.processes) {
    why_not = fmt::format(
        "one of {} processes, of which the MPI library sees {}: the first one makes the report alone",
        here.processes, size);
    library->finalize();
    return nullptr;
  }
  return std::unique_ptr<MpiTeam>(
      new MpiTeam(std::move(library), static_cast<std::size_t>(own), static_cast<std::size_t>(size)));
}

MpiTeam::MpiTeam(std::unique_ptr<Library> library, std::size_t own, std::size_t size)
    : library_(std::move(library)), own_(own), size_(size) {}

MpiTeam::~MpiTeam() {
  library_->finalize();
}

/// Calls move(bytes, count) for the size and then for pieces that MPI's int can count.
template <typename Move>
void MpiTeam::in_pieces(bool sends, std::vector<std::byte>& bytes, const Move& move) {
  constexpr std::size_t most_bytes = std::size_t{1} << 30;
  std::uint64_t size = bytes.size();
  move(&size, static_cast<int>(sizeof size));
  if (!sends) {
    bytes.resize(size);
  }
  for (std::size_t done = 0; done < bytes.size(); done += most_bytes) {
    move(bytes.data() + done, static_cast<int>(std::min(most_bytes, bytes.size() - done)));
  }
}

void MpiTeam::broadcast(std::size_t sender, std::vector<std::byte>& bytes) {
  in_pieces(own_ == sender, bytes,
            [&](void* from, int count) { library_->broadcast(from, count, static_cast<int>(sender)); });
}

void MpiTeam::send_to_first(std::size_t sender, std::vector<std::byte>& bytes) {
  if (sender == 0) {
    return;
  }
  if (own_ == sender) {
    in_pieces(true, bytes, [&](void* from, int count) { library_->send(from, count, 0); });
  } else if (own_ == 0) {
    in_pieces(false, bytes,
              [&](void* to, int count) { library_->receive(to, count, static_cast<int>(sender)); });
  }
}

int MpiTeam::common(int of_first) {
  library_->broadcast(&of_first, sizeof of_first, 0);
  return of_first;
}

void MpiTeam::abort(int exit_code) {
  library_->abort(exit_code);
  std::_Exit(exit_code);
}

}  // namespace penstock::cli
