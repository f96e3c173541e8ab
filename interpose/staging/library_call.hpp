// One call of one function of the MPI library with stand-ins in the place of device buffers: blocking, or
// with the rest hanging on the request until it completes. Knows no single MPI function.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "interpose/binding/function_names.hpp"
#include "interpose/calls/call_scope.hpp"
#include "interpose/calls/errors.hpp"
#include "interpose/progress/requests.hpp"
#include "interpose/progress/stream_order_wait.hpp"
#include "interpose/staging/staged_call.hpp"
#include "transports/host/in_call.hpp"

namespace penstock::interpose {

/// Keeps the stand-ins of a call that waits for nothing until their bytes are back on the device: after what
/// the application queued there before the call, which is the one that makes this.
class PendingStagedCall final : public Pending {
 public:
  explicit PendingStagedCall(std::shared_ptr<const StagedCall> call) noexcept : call_(std::move(call)) {}

  /// Within the call: that a buffer's GPU has nothing to do is remembered, lest the bytes wait for what is
  /// queued later.
  void look_at_gpu() const { static_cast<void>(call_->may_write_back_now()); }

  bool advance(bool arrived, const MPI_Status&) override {
    if (!arrived) return false;
    const transports::AsOfCall as_of_call(since_ns_);
    if (!stream_order_wait_.is_over([this] { return call_->may_write_back_now(); })) return false;
    status_ = call_->write_back();
    return true;
  }
  int complete(MPI_Status&, int code) override {
    return code != MPI_SUCCESS || status_.ok() ? code : call_->raise(status_);
  }

 private:
  const std::uint64_t since_ns_ = transports::time_of_call_ns();
  std::shared_ptr<const StagedCall> call_;
  StreamOrderWait stream_order_wait_;
  Status status_;
};

/// `Library` calls the PMPI function with the arguments that it is given.
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

  /// An operation on a file, asked by MPI_Test.
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
  /// `on_request(pending)` returns what is to hang on the request, of a pending that may be null.
  template <typename OnRequest, typename... Arguments>
  int run_with(OnRequest on_request, StagedCall staged, Arguments... arguments) const {
    if (const Status fetched = staged.fetch(); !fetched.ok()) return staged.raise(fetched);
    if constexpr (is_nonblocking<Arguments...>) {
      // a read into host memory, too: it may be waited for together with a device message
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
        attach(std::get<sizeof...(Arguments) - 1>(std::tie(arguments...)), std::move(pending), asked);
      return code;
    } else {
      return staged.finish(library_(arguments...));
    }
  }

 private:
  CallScope* scope_;
  Function function_;
  Library library_;
};

/// How a function is carried out: a function object that takes a call and the MPI function's arguments. None
/// is left without.
template <Function>
constexpr int description = 0;

}  // namespace penstock::interpose

/// Inside penstock::interpose: says how a function is carried out, with PENSTOCK_DESCRIBE in both sizes of
/// counts.
#define PENSTOCK_DESCRIBE_ONE(Name, how) \
  template <>                            \
  inline constexpr auto description<Function::Name> = how;
#if MPI_VERSION >= 4
#define PENSTOCK_DESCRIBE(Name, how) PENSTOCK_DESCRIBE_ONE(Name, how) PENSTOCK_DESCRIBE_ONE(Name##_c, how)
#else
#define PENSTOCK_DESCRIBE(Name, how) PENSTOCK_DESCRIBE_ONE(Name, how)
#endif

#define PENSTOCK_UNWRAP(...) __VA_ARGS__
/// The wrapper of a row of the table, carried out by `how(call, arguments…)`.
#define PENSTOCK_EXPORT_CALL(Call, how, name, parameters, arguments)                             \
  PENSTOCK_EXPORT int MPI_##name parameters try {                                                \
    using namespace penstock::interpose;                                                         \
    CallScope scope(Function::name, __builtin_return_address(0));                                \
    if (scope.stands_aside()) return PMPI_##name arguments;                                      \
    const Call call(scope, Function::name, [](auto... given) { return PMPI_##name(given...); }); \
    return how(call, PENSTOCK_UNWRAP arguments);                                                 \
  }                                                                                              \
  PENSTOCK_OUT_OF_MEMORY(MPI_COMM_NULL)
