// Calls a function of the MPI library with stand-ins for device buffers. If the call does not block, the rest
// is attached to its request. Knows no single MPI function.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "interpose/binding/function_names.hpp"
#include "interpose/binding/mpi_level.hpp"
#include "interpose/calls/call_scope.hpp"
#include "interpose/calls/errors.hpp"
#include "interpose/progress/requests.hpp"
#include "interpose/progress/stream_order_wait.hpp"
#include "interpose/staging/staged_call.hpp"
#include "transports/host/in_call.hpp"

namespace penstock::interpose {

/// Keeps the stand-ins of a non-blocking call, which constructs this object, until their bytes are back on
/// the device. They are copied after the work that the application had queued before the call.
class PendingStagedCall final : public Pending {
 public:
  explicit PendingStagedCall(std::shared_ptr<const StagedCall> call) noexcept : call_(std::move(call)) {}

  /// Remembers what a buffer's GPU has to do, so that the copy does not wait for work that is queued later.
  /// Call it within the MPI call.
  void look_at_gpu() { static_cast<void>(may_write_back()); }

  bool advance(bool arrived, const MPI_Status&) override {
    if (!arrived) return false;
    const transports::AsOfCall as_of_call(since_ns_);
    if (!may_write_back()) return false;
    status_ = call_->write_back();
    return true;
  }
  int complete(MPI_Status&, int code) override {
    return code != MPI_SUCCESS || status_.ok() ? code : call_->raise(status_);
  }

 private:
  [[nodiscard]] bool may_write_back() {
    return stream_order_wait_.is_over([this] { return call_->may_write_back_now(); });
  }

  const std::uint64_t since_ns_ = transports::time_of_call_ns();
  std::shared_ptr<const StagedCall> call_;
  StreamOrderWait stream_order_wait_;
  Status status_;
};

/// `Library` calls the PMPI function with its own arguments.
template <typename Library>
class LibraryCall {
 public:
  LibraryCall(CallScope& scope, Function function, Library library) noexcept
      : scope_(&scope), function_(function), library_(library) {}

  [[nodiscard]] CallScope& scope() const noexcept { return *scope_; }
  [[nodiscard]] const char* name() const noexcept { return name_of(function_); }
  [[nodiscard]] StagedCall begin(ErrorTarget errors) const noexcept { return {*scope_, name(), errors}; }

  template <typename... Arguments>
  static constexpr bool is_nonblocking =
      std::is_same_v<std::tuple_element_t<sizeof...(Arguments) - 1, std::tuple<Arguments...>>, MPI_Request*>;

  /// True for an operation on a file, whose request is tested by MPI_Test.
  template <typename First, typename...>
  static constexpr bool is_on_file = std::is_same_v<First, MPI_File>;

  template <typename... Arguments>
  int as_it_is(Arguments... arguments) const {
    return library_(arguments...);
  }
  [[nodiscard]] const Library& library() const noexcept { return library_; }

  template <typename... Arguments>
  int run(StagedCall staged, Arguments... arguments) const {
    return run_with([](std::unique_ptr<Pending> pending) { return pending; }, std::move(staged),
                    arguments...);
  }

 protected:
  /// `on_request(pending)` returns what is attached to the request; `pending` may be null.
  template <typename OnRequest, typename... Arguments>
  int run_with(OnRequest on_request, StagedCall staged, Arguments... arguments) const {
    if (const Status fetched = staged.fetch(); !fetched.ok()) return staged.raise(fetched);
    if constexpr (is_nonblocking<Arguments...>) {
      // also for a read into host memory, as a call may wait for it and a device message together
      constexpr Asked asked = is_on_file<Arguments...> ? Asked::by_test : Asked::by_status;
      std::unique_ptr<PendingStagedCall> written_back;
      if (staged.is_staged()) {
        staged.outlive_the_call();
        written_back = std::make_unique<PendingStagedCall>(std::make_shared<StagedCall>(std::move(staged)));
        written_back->look_at_gpu();
      }
      std::unique_ptr<Pending> pending = on_request(std::move(written_back));
      const int code = library_(arguments...);
      if (code == MPI_SUCCESS && (pending != nullptr || asked == Asked::by_test))
        attach(std::get<sizeof...(Arguments) - 1>(std::tie(arguments...)), std::move(pending), asked,
               in_turn_on(arguments...));
      return code;
    } else {
      return staged.finish(library_(arguments...));
    }
  }

 private:
  /// Returns the file of a collective operation: MPICH's I/O library mixes up those on one file whose
  /// requests are tested alternately, and its own MPI_Waitall waits for one after the other.
  template <typename First, typename... Others>
  [[nodiscard]] const void* in_turn_on(const First& first, const Others&...) const noexcept {
    if constexpr (is_on_file<First>) {
      if (std::string_view(name()).find("_all") != std::string_view::npos) return first;
    }
    return nullptr;
  }

  CallScope* scope_;
  Function function_;
  Library library_;
};

/// Carries out a function: a function object that takes a call and the MPI function's arguments. Each
/// function of the table has a specialisation.
template <Function>
constexpr int description = 0;

}  // namespace penstock::interpose

/// Defines how a function is carried out; PENSTOCK_DESCRIBE does so for both sizes of counts. Used inside
/// penstock::interpose.
#define PENSTOCK_DESCRIBE_ONE(Name, how) \
  template <>                            \
  inline constexpr auto description<Function::Name> = how;
#if PENSTOCK_HAS_LARGE_COUNTS
#define PENSTOCK_DESCRIBE(Name, how) PENSTOCK_DESCRIBE_ONE(Name, how) PENSTOCK_DESCRIBE_ONE(Name##_c, how)
#else
#define PENSTOCK_DESCRIBE(Name, how) PENSTOCK_DESCRIBE_ONE(Name, how)
#endif

#define PENSTOCK_UNWRAP(...) __VA_ARGS__
/// Defines the wrapper of a row of the table, which runs `how(call, arguments…)`.
#define PENSTOCK_EXPORT_CALL(Call, how, name, parameters, arguments)                             \
  PENSTOCK_EXPORT int MPI_##name parameters try {                                                \
    using namespace penstock::interpose;                                                         \
    CallScope scope(Function::name, __builtin_return_address(0));                                \
    if (scope.stands_aside()) return PMPI_##name arguments;                                      \
    const Call call(scope, Function::name, [](auto... given) { return PMPI_##name(given...); }); \
    return how(call, PENSTOCK_UNWRAP arguments);                                                 \
  }                                                                                              \
  PENSTOCK_OUT_OF_MEMORY(MPI_COMM_NULL)
