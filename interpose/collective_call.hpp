// How a collective is carried out in its four spellings (blocking, non-blocking, either with large counts) by
// one description of what it reads and writes. A description is a function object that takes a
// CollectiveCall, the MPI function's arguments, and a request if it is non-blocking. Knows no single
// collective.
#pragma once

#include <mpi.h>

#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include "interpose/call_scope.hpp"
#include "interpose/collective_arrival.hpp"
#include "interpose/communicators.hpp"
#include "interpose/function_names.hpp"
#include "interpose/requests.hpp"
#include "interpose/staged_call.hpp"

namespace penstock::interpose {

inline constexpr int no_root = -1;

/// This rank's part in a collective.
class Ranks {
 public:
  explicit Ranks(MPI_Comm communicator) noexcept {
    const CommunicatorInfo* const info = peek_info(communicator);
    if (info == nullptr) return;  // the MPI library will say what is wrong with the communicator
    rank = info->rank;
    local = info->size;
    peers = static_cast<int>(info->world_ranks.size());
    is_inter_ = info->is_inter;
  }

  /// Has the data of all, or for all.
  [[nodiscard]] bool is_root(int root) const noexcept { return is_inter_ ? root == MPI_ROOT : root == rank; }
  /// Has data of its own: every rank, but in an intercommunicator only those of the group that is not the
  /// root's.
  [[nodiscard]] bool is_leaf(int root) const noexcept { return !is_inter_ || root >= 0; }

  int rank = -1;
  int local = 0;  ///< size of the own group
  int peers = 0;  ///< ranks that data is exchanged with: all, or the remote group of an intercommunicator

 private:
  bool is_inter_ = false;
};

/// What hangs on the request of a non-blocking collective: the stand-ins, until their bytes are back on the
/// device.
class PendingCollective final : public Pending {
 public:
  explicit PendingCollective(StagedCall call) noexcept : call_(std::move(call)) {}

  bool advance(bool arrived, const MPI_Status&) override {
    if (arrived) status_ = call_.write_back();
    return arrived;
  }
  int complete(MPI_Status&, int code) override {
    return code != MPI_SUCCESS || status_.ok() ? code : call_.raise(status_);
  }

 private:
  StagedCall call_;
  Status status_;
};

/// One call of one MPI function; `library` is the PMPI function.
template <typename Library>
class CollectiveCall {
 public:
  CollectiveCall(CallScope& scope, Function function, Library library) noexcept
      : scope_(&scope), function_(function), library_(library) {}

  /// `payload` returns this rank's bytes, and is asked only when the call is recorded.
  template <typename Payload>
  [[nodiscard]] StagedCall begin(MPI_Comm communicator, int root, Payload payload) const {
    if (scope_->recording()) scope_->collective(communicator, root, payload());
    return {*scope_, name_of(function_), ErrorTarget::of(communicator)};
  }

  /// Hands the arguments, stand-ins in the place of device buffers, to the MPI library.
  template <typename... Arguments>
  int run(StagedCall staged, MPI_Comm communicator, Arguments... arguments) const {
    if (!staged.status().ok()) return staged.raise(staged.status());
    auto last = std::get<sizeof...(arguments) - 1>(std::tie(arguments...));
    if constexpr (std::is_same_v<decltype(last), MPI_Request*>) {
      if (!staged.is_staged()) return library_(arguments...);
      std::unique_ptr<Pending> pending(new (std::nothrow) PendingCollective(std::move(staged)));
      if (pending == nullptr) return staged.raise({Code::out_of_memory, "staging"});
      const int code = library_(arguments...);
      if (code == MPI_SUCCESS) attach(last, std::move(pending));
      return code;
    } else {
      arrive(communicator);
      return staged.finish(library_(arguments...));
    }
  }

 private:
  CallScope* scope_;
  Function function_;
  Library library_;
};

/// The description that a function of the MPI is carried out by.
template <Function>
constexpr int description = 0;

}  // namespace penstock::interpose

/// Says by which description the spellings of a collective are carried out.
#define PENSTOCK_DESCRIBE_ONE(Name, how) \
  template <>                            \
  inline constexpr auto description<Function::Name> = how;
#if MPI_VERSION >= 4
#define PENSTOCK_DESCRIBE(Name, Iname, how) \
  PENSTOCK_DESCRIBE_ONE(Name, how)          \
  PENSTOCK_DESCRIBE_ONE(Iname, how)         \
  PENSTOCK_DESCRIBE_ONE(Name##_c, how)      \
  PENSTOCK_DESCRIBE_ONE(Iname##_c, how)
#else
#define PENSTOCK_DESCRIBE(Name, Iname, how) \
  PENSTOCK_DESCRIBE_ONE(Name, how)          \
  PENSTOCK_DESCRIBE_ONE(Iname, how)
#endif

#define PENSTOCK_UNWRAP(...) __VA_ARGS__
/// Defines the wrapper of a row of the table that has a description.
#define PENSTOCK_EXPORT_COLLECTIVE(name, parameters, arguments)                                            \
  PENSTOCK_EXPORT int MPI_##name parameters {                                                              \
    using namespace penstock::interpose;                                                                   \
    CallScope scope(Function::name, __builtin_return_address(0));                                          \
    if (scope.stands_aside()) return PMPI_##name arguments;                                                \
    const CollectiveCall call(scope, Function::name, [](auto... given) { return PMPI_##name(given...); }); \
    return description<Function::name>(call, PENSTOCK_UNWRAP arguments);                                   \
  }
