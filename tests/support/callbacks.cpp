#include "tests/support/callbacks.hpp"

#include <mpi.h>

#include <array>
#include <utility>

namespace penstock::test_support {

namespace {

/// What the next callback does, once.
std::function<void()> next_work;

void do_work() {
  const std::function<void()> now = std::exchange(next_work, nullptr);
  if (now) now();
}

template <typename Object>
int remove(Object, int, void*, void*) {
  do_work();
  return MPI_SUCCESS;
}
template <typename Object>
int copy(Object, int, void*, void*, void*, int* is_copied) {
  do_work();
  *is_copied = 0;
  return MPI_SUCCESS;
}
void hear_of_error(MPI_Comm*, int*, ...) {
  do_work();
}
int query_request(void*, MPI_Status* status) {
  MPI_Status_set_elements(status, MPI_BYTE, 0);
  MPI_Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}
int free_request(void*) {
  do_work();
  return MPI_SUCCESS;
}
int cancel_request(void*, int) {
  return MPI_SUCCESS;
}

MPI_Comm duplicate_of(Caller caller) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_dup(caller == Caller::rank ? MPI_COMM_SELF : MPI_COMM_WORLD, &made);
  return made;
}
MPI_Comm duplicate_with_attribute(Caller caller, MPI_Comm_copy_attr_function* copy_attribute,
                                  MPI_Comm_delete_attr_function* remove_attribute) {
  MPI_Comm made = duplicate_of(caller);
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(copy_attribute, remove_attribute, &key, nullptr);
  MPI_Comm_set_attr(made, key, nullptr);
  MPI_Comm_free_keyval(&key);
  return made;
}
MPI_Comm duplicate_with_handler(Caller caller) {
  MPI_Comm made = duplicate_of(caller);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(hear_of_error, &handler);
  MPI_Comm_set_errhandler(made, handler);
  MPI_Errhandler_free(&handler);
  return made;
}
MPI_Datatype type_with_attribute(MPI_Type_copy_attr_function* copy_attribute,
                                 MPI_Type_delete_attr_function* remove_attribute) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(3, MPI_INT, &made);
  MPI_Type_commit(&made);
  int key = MPI_KEYVAL_INVALID;
  MPI_Type_create_keyval(copy_attribute, remove_attribute, &key, nullptr);
  MPI_Type_set_attr(made, key, nullptr);
  MPI_Type_free_keyval(&key);
  return made;
}

// They return whether MPI has returned what it must.

bool delete_attribute(Caller) {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, remove<MPI_Comm>, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  MPI_Comm_delete_attr(MPI_COMM_SELF, key);
  MPI_Comm_free_keyval(&key);
  return true;
}
bool free_communicator(Caller caller) {
  MPI_Comm made = duplicate_with_attribute(caller, MPI_COMM_NULL_COPY_FN, remove<MPI_Comm>);
  MPI_Comm_free(&made);
  return true;
}
bool free_type(Caller) {
  MPI_Datatype made = type_with_attribute(MPI_TYPE_NULL_COPY_FN, remove<MPI_Datatype>);
  MPI_Type_free(&made);
  return true;
}
bool copy_communicator(Caller caller) {
  MPI_Comm made = duplicate_with_attribute(caller, copy<MPI_Comm>, MPI_COMM_NULL_DELETE_FN);
  MPI_Comm duplicate = MPI_COMM_NULL;
  MPI_Comm_dup(made, &duplicate);
  MPI_Comm_free(&duplicate);
  MPI_Comm_free(&made);
  return true;
}
bool copy_type(Caller) {
  MPI_Datatype made = type_with_attribute(copy<MPI_Datatype>, MPI_TYPE_NULL_DELETE_FN);
  MPI_Datatype duplicate = MPI_DATATYPE_NULL;
  MPI_Type_dup(made, &duplicate);
  MPI_Type_free(&duplicate);
  MPI_Type_free(&made);
  return true;
}
bool raise_error(Caller caller) {
  constexpr int nobody = 1'000'000;
  MPI_Comm made = duplicate_with_handler(caller);
  // MPICH 5 returns success once the handler has been called
  MPI_Send(nullptr, 0, MPI_BYTE, nobody, 0, made);
  MPI_Comm_free(&made);
  return true;
}
bool call_handler(Caller caller) {
  MPI_Comm made = duplicate_with_handler(caller);
  MPI_Comm_call_errhandler(made, MPI_ERR_OTHER);
  MPI_Comm_free(&made);
  return true;
}
bool wait_for_generalised_request(Caller) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Grequest_start(query_request, free_request, cancel_request, nullptr, &request);
  MPI_Grequest_complete(request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return true;
}

struct Row {
  const char* name;
  bool (*call)(Caller);
};
constexpr std::array<Row, static_cast<std::size_t>(Callback::count_)> rows = {{
    {"delete callback", delete_attribute},
    {"delete callback of a communicator that is freed", free_communicator},
    {"delete callback of a datatype that is freed", free_type},
    {"copy callback of a communicator", copy_communicator},
    {"copy callback of a datatype", copy_type},
    {"error handler, by the library", raise_error},
    {"error handler, called", call_handler},
    {"generalised request", wait_for_generalised_request},
}};

const Row& row_of(Callback callback) {
  return rows.at(static_cast<std::size_t>(callback));
}

}  // namespace

const char* name_of(Callback callback) {
  return row_of(callback).name;
}

bool is_of_all(Callback callback) {
  return callback == Callback::copied_attribute;
}

bool run_in(Callback callback, Caller caller, const std::function<void()>& work) {
  int calls = 0;
  next_work = [&] {
    ++calls;
    work();
  };
  const bool is_right = row_of(callback).call(caller);
  next_work = nullptr;
  return is_right && calls == 1;
}

}  // namespace penstock::test_support
