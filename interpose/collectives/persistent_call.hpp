// One call that initialises a persistent collective. It is collective itself, and not local; what it
// initialises is started and completed by calls that are not. Knows no single collective.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "interpose/collectives/collective_call.hpp"
#include "interpose/staging/persistent_staged_call.hpp"

namespace penstock::interpose {

template <typename Library>
class PersistentCall : public CollectiveCall<Library> {
 public:
  using CollectiveCall<Library>::CollectiveCall;

  /// As CollectiveCall's; what is read is downloaded by each start.
  template <typename Payload>
  [[nodiscard]] StagedCall begin(MPI_Comm communicator, int root, Payload payload) const {
    if (this->scope().recording()) this->scope().collective(communicator, root, payload());
    return {this->scope(), this->name(), ErrorTarget::of(communicator), Fetched::by_fetch};
  }

  /// By the MPI library. `arguments` end with an MPI_Request*.
  template <typename... Arguments>
  int run(StagedCall staged, MPI_Comm communicator, Arguments... arguments) const {
    if (!staged.status().ok()) return staged.raise(staged.status());
    const int code = this->meet_and_call(communicator, arguments...);
    if (code != MPI_SUCCESS || !staged.is_staged()) return code;
    MPI_Request* const request = std::get<sizeof...(Arguments) - 1>(std::tie(arguments...));
    attach_persistent(*request, std::make_unique<PersistentStagedCall>(std::move(staged), *request));
    return code;
  }
};

template <typename Library>
PersistentCall(CallScope&, Function, Library) -> PersistentCall<Library>;

}  // namespace penstock::interpose
