// What NCCL's names tell: which kernels are NCCL's, and what a call or a kernel of it does. Must not know
// records.
#pragma once

#include <cstdint>
#include <string_view>

namespace penstock::analysis {

/// What calls of NCCL do. The first ones are collective.
enum class NcclKind : std::uint8_t {
  all_gather,
  all_reduce,
  alltoall,
  broadcast,
  gather,
  reduce,
  reduce_scatter,
  scatter,
  send_receive,  ///< ncclSend and ncclRecv, which share kernels
  several,       ///< of a kernel: calls of different kinds
  unknown,       ///< NCCL's, but its name does not tell
  none,          ///< moves nothing: ncclGroupEnd, ncclCommInitRank …
};
inline constexpr std::size_t nccl_kinds = 12;

[[nodiscard]] constexpr bool is_collective(NcclKind kind) noexcept {
  return kind < NcclKind::send_receive;
}

/// Returns the kind as people and programs read it: "AllReduce".
[[nodiscard]] std::string_view name_of(NcclKind kind) noexcept;

/// `name`: of a kernel, mangled or not.
[[nodiscard]] bool is_nccl_kernel(std::string_view name) noexcept;
/// Returns the kind of a kernel of NCCL by its name, which is that of one of the calls that it carries out.
/// Type, operation and protocol in the name are not always those of the call.
[[nodiscard]] NcclKind nccl_kind_of_kernel(std::string_view name) noexcept;
/// `name`: of a function, such as "ncclAllReduce".
[[nodiscard]] NcclKind nccl_kind_of_function(std::string_view name) noexcept;

}  // namespace penstock::analysis
