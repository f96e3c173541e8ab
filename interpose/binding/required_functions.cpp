#include "interpose/binding/required_functions.hpp"

#include <algorithm>
#include <string_view>

#include "interpose/binding/function_names.hpp"
#include "interpose/binding/mpi_binding.hpp"

namespace penstock::interpose {
namespace {

// All are in MPI-3.0. Code that uses newer functions can do without them: datatype_contents, mpi_details.
constexpr Function required[] = {
    // messages
    Function::Isend,
    Function::Issend,
    Function::Irsend,
    Function::Ibsend,
    Function::Irecv,
    Function::Recv,
    Function::Send_init,
    Function::Iprobe,
    Function::Improbe,
    Function::Mprobe,
    Function::Mrecv,
    Function::Imrecv,
    // requests and statuses
    Function::Wait,
    Function::Test,
    Function::Testany,
    Function::Testsome,
    Function::Request_get_status,
    Function::Request_free,
    Function::Cancel,
    Function::Test_cancelled,
    Function::Grequest_start,
    Function::Grequest_complete,
    Function::Get_count,
    Function::Get_elements_x,
    Function::Status_set_elements,
    Function::Status_set_elements_x,
    Function::Status_set_cancelled,
    // datatypes
    Function::Pack,
    Function::Type_size_x,
    Function::Type_get_extent_x,
    Function::Type_get_envelope,
    Function::Type_get_contents,
    Function::Type_create_keyval,
    Function::Type_get_attr,
    Function::Type_set_attr,
    Function::Type_vector,
    Function::Type_create_struct,
    Function::Type_commit,
    Function::Type_dup,
    Function::Type_free,
    // communicators
    Function::Comm_rank,
    Function::Comm_size,
    Function::Comm_test_inter,
    Function::Info_get,
    Function::Info_set,
    Function::Comm_group,
    Function::Comm_remote_group,
    Function::Group_size,
    Function::Group_translate_ranks,
    Function::Group_free,
    Function::Comm_dup,
    Function::Comm_idup,
    Function::Comm_free,
    Function::Comm_create_keyval,
    Function::Comm_free_keyval,
    Function::Comm_get_attr,
    Function::Comm_set_attr,
    Function::Comm_delete_attr,
    Function::Comm_set_errhandler,
    Function::Comm_call_errhandler,
    Function::Allgather,
    Function::Allreduce,
    Function::Ibarrier,
    Function::Reduce_local,
    // the rest
    Function::Query_thread,
    Function::Error_class,
};

/// All functions up to MPI-5 by which a program may receive a message or see that it has arrived. Partitioned
/// receives match partitioned sends only.
constexpr const char* receivers[] = {
    "MPI_Recv",
    "MPI_Recv_c",
    "MPI_Irecv",
    "MPI_Irecv_c",
    "MPI_Recv_init",
    "MPI_Recv_init_c",
    "MPI_Mrecv",
    "MPI_Mrecv_c",
    "MPI_Imrecv",
    "MPI_Imrecv_c",
    "MPI_Sendrecv",
    "MPI_Sendrecv_c",
    "MPI_Sendrecv_replace",
    "MPI_Sendrecv_replace_c",
    "MPI_Isendrecv",
    "MPI_Isendrecv_c",
    "MPI_Isendrecv_replace",
    "MPI_Isendrecv_replace_c",
    "MPI_Request_get_status_all",
    "MPI_Request_get_status_any",
    "MPI_Request_get_status_some",
};

constexpr bool is_in_table(std::string_view name) noexcept {
  return std::ranges::any_of(detail::names, [&](std::string_view each) { return each == name; });
}

}  // namespace

const char* missing_function() noexcept {
  if (bind_mpi() != Binding::bound) return nullptr;
  for (const Function function : required) {
    if (!has_function(function)) return name_of(function);
  }
  return nullptr;
}

const char* unwrapped_receiver() noexcept {
  for (const char* const name : receivers) {
    if (!is_in_table(name) && find_mpi_symbol(name) != nullptr) return name;
  }
  return nullptr;
}

}  // namespace penstock::interpose
