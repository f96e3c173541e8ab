// Handles that the program frees right after a call that waits for nothing, and that the MPI library gives
// out anew: what was posted goes on as if they were still there. The communicators that may get the handle
// have another size, another error handler, and the hint that lists on them may be sorted.
#include <array>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "interpose/binding/mpi_level.hpp"
#include "tests/programs/test_messages.hpp"

namespace penstock::programs {
namespace {

/// How often each error handler was called.
int errors_of_own = 0;
int errors_of_strangers = 0;
int errors_of_world = 0;

template <int* count>
void note_error(MPI_Comm* communicator, int*, ...) {
  EXPECT_NE(*communicator, MPI_COMM_NULL);
  int size = 0;
  EXPECT_EQ(MPI_Comm_size(*communicator, &size), MPI_SUCCESS) << "the handler may ask about it";
  ++*count;
}

template <int* count>
void let_count(MPI_Comm communicator) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(note_error<count>, &handler);
  MPI_Comm_set_errhandler(communicator, handler);
  MPI_Errhandler_free(&handler);
}

class FreedHandles : public testing::Test {
 protected:
  FreedHandles() {
    errors_of_own = errors_of_strangers = errors_of_world = 0;
    let_count<&errors_of_world>(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &communicator_);
    let_count<&errors_of_own>(communicator_);
  }
  ~FreedHandles() override {
    for (MPI_Comm& stranger : strangers_) MPI_Comm_free(&stranger);
    if (communicator_ != MPI_COMM_NULL) MPI_Comm_free(&communicator_);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  }

  [[nodiscard]] MPI_Comm communicator() const { return communicator_; }
  void free_communicator() {
    MPI_Comm_free(&communicator_);
    add_strangers();
  }
  /// That may get its handle, as soon as nothing of the MPI library's needs it any more.
  void add_strangers() {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "penstock_vertex_set", "true");
    for (int i = 0; i < 4; ++i) {
      MPI_Comm stranger = MPI_COMM_NULL;
      MPI_Comm_dup_with_info(MPI_COMM_SELF, info, &stranger);
      let_count<&errors_of_strangers>(stranger);
      strangers_.push_back(stranger);
    }
    MPI_Info_free(&info);
  }
  static void expect_errors_of_own(int times) {
    EXPECT_EQ(errors_of_own, times);
    EXPECT_EQ(errors_of_strangers, 0);
    EXPECT_EQ(errors_of_world, 0);
  }

 private:
  MPI_Comm communicator_ = MPI_COMM_NULL;
  std::vector<MPI_Comm> strangers_;
};

/// How rank 1 receives on a communicator that it frees meanwhile.
struct Receiving {
  const char* name;
  /// Leaves a request, or a message that has been probed.
  void (*post)(const Buffer&, MPI_Comm, MPI_Request*, MPI_Message*);
  int (*complete)(const Buffer&, MPI_Request*, MPI_Message*);
};

int wait_for(const Buffer&, MPI_Request* request, MPI_Message*) {
  return MPI_Wait(request, MPI_STATUS_IGNORE);
}
int test_until_done(const Buffer&, MPI_Request* request, MPI_Message*) {
  int code = MPI_SUCCESS;
  for (int flag = 0; flag == 0 && code == MPI_SUCCESS;) code = MPI_Test(request, &flag, MPI_STATUS_IGNORE);
  return code;
}
int receive_probed(const Buffer& buffer, MPI_Request*, MPI_Message* message) {
  return MPI_Mrecv(buffer.data(), buffer.count(), MPI_BYTE, message, MPI_STATUS_IGNORE);
}
int receive_probed_later(const Buffer& buffer, MPI_Request* request, MPI_Message* message) {
  const int code = MPI_Imrecv(buffer.data(), buffer.count(), MPI_BYTE, message, request);
  return code != MPI_SUCCESS ? code : MPI_Wait(request, MPI_STATUS_IGNORE);
}

void post_receive(const Buffer& buffer, MPI_Comm communicator, MPI_Request* request, MPI_Message*) {
  MPI_Irecv(buffer.data(), buffer.count(), MPI_BYTE, 0, 3, communicator, request);
}
void post_wildcard_receive(const Buffer& buffer, MPI_Comm communicator, MPI_Request* request, MPI_Message*) {
  MPI_Irecv(buffer.data(), buffer.count(), MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, communicator, request);
}
void probe_and_take(const Buffer&, MPI_Comm communicator, MPI_Request*, MPI_Message* message) {
  MPI_Mprobe(0, 3, communicator, message, MPI_STATUS_IGNORE);
}
void probe_and_receive(const Buffer& buffer, MPI_Comm communicator, MPI_Request* request, MPI_Message*) {
  MPI_Probe(0, 3, communicator, MPI_STATUS_IGNORE);
  MPI_Irecv(buffer.data(), buffer.count(), MPI_BYTE, 0, 3, communicator, request);
}

const std::array receivings = {
    Receiving{"MPI_Irecv_and_MPI_Wait", post_receive, wait_for},
    Receiving{"MPI_Irecv_and_MPI_Test", post_receive, test_until_done},
    Receiving{"MPI_Irecv_from_any_source", post_wildcard_receive, wait_for},
    Receiving{"MPI_Irecv_after_MPI_Probe", probe_and_receive, wait_for},
    Receiving{"MPI_Mprobe_and_MPI_Mrecv", probe_and_take, receive_probed},
    Receiving{"MPI_Mprobe_and_MPI_Imrecv", probe_and_take, receive_probed_later},
};

class FreedCommunicator : public FreedHandles,
                          public testing::WithParamInterface<std::tuple<Receiving, MemoryKind, MemoryKind>> {
 protected:
  /// Rank 0 sends once rank 1 has freed the communicator, but for probes, which need the message.
  void run(int sent_bytes, int received_bytes) {
    const auto& [receiving, source, destination] = GetParam();
    const bool is_probed = std::string(receiving.name).find("robe") != std::string::npos;
    if (rank() == 0) {
      const Buffer buffer(source, static_cast<std::size_t>(sent_bytes), 1);
      MPI_Request request = MPI_REQUEST_NULL;
      if (!is_probed) MPI_Recv(nullptr, 0, MPI_BYTE, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Isend(buffer.data(), buffer.count(), MPI_BYTE, 1, 3, communicator(), &request);
      free_communicator();
      EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    } else {
      const Buffer buffer(destination, static_cast<std::size_t>(received_bytes), 2);
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Message message = MPI_MESSAGE_NULL;
      receiving.post(buffer, communicator(), &request, &message);
      free_communicator();
      if (!is_probed) MPI_Send(nullptr, 0, MPI_BYTE, 0, 4, MPI_COMM_WORLD);
      code = receiving.complete(buffer, &request, &message);
      const Bytes sent = payload(static_cast<std::size_t>(sent_bytes), 1);
      if (code == MPI_SUCCESS) {
        EXPECT_TRUE(buffer.read(sent.size()) == sent);
      }
      EXPECT_TRUE(buffer.guard_is_intact());
    }
  }
  int code = MPI_SUCCESS;
};

class FreedCommunicatorOfMuch : public FreedCommunicator {};

TEST_P(FreedCommunicatorOfMuch, does_not_keep_a_payload_from_arriving) {
  const int bytes = 3'000'000;
  run(bytes, bytes);
  EXPECT_EQ(code, MPI_SUCCESS);
  expect_errors_of_own(0);
}
TEST_P(FreedCommunicatorOfMuch, hears_of_a_truncation_by_the_handler_that_it_had) {
  run(3'000'000, 100);
  if (rank() == 1) {
    EXPECT_EQ(class_of(code), MPI_ERR_TRUNCATE);
    expect_errors_of_own(1);
  }
}
TEST_P(FreedCommunicator, does_not_keep_a_payload_from_arriving) {
  run(5000, 5000);
  EXPECT_EQ(code, MPI_SUCCESS);
  expect_errors_of_own(0);
}

const auto all = testing::Combine(testing::ValuesIn(receivings), testing::Values(MemoryKind::device),
                                  testing::Values(MemoryKind::pageable, MemoryKind::device));
std::string name_of_case(const testing::TestParamInfo<FreedCommunicator::ParamType>& parameters) {
  return std::string(std::get<0>(parameters.param).name) + "_to_" + name_of(std::get<2>(parameters.param));
}
INSTANTIATE_TEST_SUITE_P(Receives, FreedCommunicator, all, name_of_case);
INSTANTIATE_TEST_SUITE_P(Receives, FreedCommunicatorOfMuch, all, name_of_case);

/// In no order: sorted, it would be another list.
std::vector<int> list_of(int count) {
  std::vector<int> list(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) list[static_cast<std::size_t>(i)] = 2 * (i ^ 1);
  return list;
}
Bytes bytes_of(const std::vector<int>& list) {
  Bytes bytes(list.size() * sizeof(int));
  std::memcpy(bytes.data(), list.data(), bytes.size());
  return bytes;
}

class FreedSender : public FreedHandles, public testing::WithParamInterface<const char*> {};

TEST_P(FreedSender, leaves_a_list_in_its_order) {
  constexpr int count = 100'000;
  const std::string how = GetParam();
  const Bytes sent = bytes_of(list_of(count));
  for (int repetition = 0; repetition < 3; ++repetition) {
    MPI_Comm dup = MPI_COMM_NULL;
    MPI_Comm_dup(communicator(), &dup);
    Buffer buffer(MemoryKind::device, sent.size(), 3);
    if (rank() == 0) {
      buffer.write(sent);
      MPI_Request request = MPI_REQUEST_NULL;
      if (how == "MPI_Isend") MPI_Isend(buffer.data(), count, MPI_INT, 1, 3, dup, &request);
      if (how == "MPI_Issend") MPI_Issend(buffer.data(), count, MPI_INT, 1, 3, dup, &request);
      if (how == "MPI_Send_init") {
        MPI_Send_init(buffer.data(), count, MPI_INT, 1, 3, dup, &request);
        MPI_Start(&request);
      }
      MPI_Comm_free(&dup);
      add_strangers();
      EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
      add_strangers();
    } else {
      MPI_Recv(buffer.data(), count, MPI_INT, 0, 3, dup, MPI_STATUS_IGNORE);
      MPI_Comm_free(&dup);
      EXPECT_TRUE(buffer.read() == sent);
    }
  }
  expect_errors_of_own(0);
}

TEST_F(FreedHandles, or_kept_and_given_a_hint_after_a_send_leave_its_list_in_its_order) {
  constexpr int count = 100'000;
  const Bytes sent = bytes_of(list_of(count));
  Buffer buffer(MemoryKind::device, sent.size(), 3);
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "penstock_vertex_set", "true");
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank() == 0) {
    buffer.write(sent);
    MPI_Isend(buffer.data(), count, MPI_INT, 1, 3, communicator(), &request);
  }
  MPI_Comm_set_info(communicator(), info);
  MPI_Info_free(&info);
  if (rank() == 0) {
    EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  } else {
    MPI_Recv(buffer.data(), count, MPI_INT, 0, 3, communicator(), MPI_STATUS_IGNORE);
    EXPECT_TRUE(buffer.read() == sent);
  }
}

TEST_P(FreedSender, goes_on_when_its_request_is_freed_too) {
  constexpr int count = 100'000;
  const std::string how = GetParam();
  const Bytes sent = bytes_of(list_of(count));
  Buffer buffer(MemoryKind::device, sent.size(), 3);
  if (rank() == 0) {
    buffer.write(sent);
    MPI_Request request = MPI_REQUEST_NULL;
    if (how == "MPI_Isend") MPI_Isend(buffer.data(), count, MPI_INT, 1, 3, communicator(), &request);
    if (how == "MPI_Issend") MPI_Issend(buffer.data(), count, MPI_INT, 1, 3, communicator(), &request);
    if (how == "MPI_Send_init") {
      MPI_Send_init(buffer.data(), count, MPI_INT, 1, 3, communicator(), &request);
      MPI_Start(&request);
    }
    MPI_Request_free(&request);
    free_communicator();
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    MPI_Recv(buffer.data(), count, MPI_INT, 0, 3, communicator(), MPI_STATUS_IGNORE);
    free_communicator();
    EXPECT_TRUE(buffer.read() == sent);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  expect_errors_of_own(0);
}

INSTANTIATE_TEST_SUITE_P(Sends, FreedSender, testing::Values("MPI_Isend", "MPI_Issend", "MPI_Send_init"),
                         [](const auto& parameters) { return std::string(parameters.param); });

TEST_F(FreedHandles, of_a_persistent_receive_whose_message_is_too_long_are_told_by_their_handler) {
  if (rank() == 0) {
    const Buffer buffer(MemoryKind::device, 70'000, 1);
    for (int repetition = 0; repetition < 2; ++repetition)
      MPI_Send(buffer.data(), buffer.count(), MPI_BYTE, 1, 3, communicator());
    free_communicator();
  } else {
    const Buffer buffer(MemoryKind::device, 100, 2);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Recv_init(buffer.data(), buffer.count(), MPI_BYTE, 0, 3, communicator(), &request);
    MPI_Start(&request);
    free_communicator();
    EXPECT_EQ(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE);
    expect_errors_of_own(1);
    MPI_Start(&request);  // on a communicator that only it still has
    EXPECT_EQ(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE);
    expect_errors_of_own(2);
    MPI_Request_free(&request);
    EXPECT_TRUE(buffer.guard_is_intact());
  }
}

#if PENSTOCK_HAS_MPI_4
TEST_F(FreedHandles, of_an_exchange_whose_message_is_too_long_are_told_by_their_handler) {
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::pageable}) {
    MPI_Comm dup = MPI_COMM_NULL;
    MPI_Comm_dup(communicator(), &dup);
    let_count<&errors_of_own>(dup);
    errors_of_own = 0;
    const Buffer much(kind, 70'000, 1);
    const Buffer little(kind, 100, 2);
    if (rank() == 0) {
      MPI_Recv(little.data(), little.count(), MPI_BYTE, 1, 3, dup, MPI_STATUS_IGNORE);
      MPI_Send(much.data(), much.count(), MPI_BYTE, 1, 3, dup);
      MPI_Comm_free(&dup);
    } else {
      const Buffer received(kind, 100, 2);
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Isendrecv(little.data(), little.count(), MPI_BYTE, 0, 3, received.data(), received.count(),
                    MPI_BYTE, 0, 3, dup, &request);
      MPI_Comm_free(&dup);
      add_strangers();
      EXPECT_EQ(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE);
      expect_errors_of_own(1);
      EXPECT_TRUE(received.guard_is_intact());
    }
  }
}
#endif

MPI_Comm freed_in_handler = MPI_COMM_NULL;
void free_it(MPI_Comm*, int*, ...) {
  ++errors_of_own;
  if (freed_in_handler != MPI_COMM_NULL) MPI_Comm_free(&freed_in_handler);
}

TEST_F(FreedHandles, may_be_freed_by_the_error_handler_that_is_called_for_them) {
  MPI_Comm_dup(communicator(), &freed_in_handler);
  MPI_Comm freed = freed_in_handler;
  if (rank() == 0) {
    const Buffer buffer(MemoryKind::device, 70'000, 1);
    MPI_Send(buffer.data(), buffer.count(), MPI_BYTE, 1, 3, freed);
    MPI_Comm_free(&freed);
  } else {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(free_it, &handler);
    MPI_Comm_set_errhandler(freed, handler);
    MPI_Errhandler_free(&handler);
    const Buffer buffer(MemoryKind::device, 100, 2);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(buffer.data(), buffer.count(), MPI_BYTE, 0, 3, freed, &request);
    EXPECT_EQ(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE);
    EXPECT_EQ(errors_of_own, 1);
    EXPECT_EQ(freed_in_handler, MPI_COMM_NULL);
  }
}

void add_ints(void* in, void* in_out, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) static_cast<int*>(in_out)[i] += static_cast<int*>(in)[i];
}

TEST_F(FreedHandles, of_nonblocking_collectives_do_not_matter_to_them) {
  constexpr int count = 20'000;
  const Bytes own = bytes_of(std::vector<int>(count, rank() + 1));
  const Bytes sum = bytes_of(std::vector<int>(count, 3));
  for (const bool is_predefined : {true, false}) {
    for (int repetition = 0; repetition < 3; ++repetition) {
      MPI_Comm dup = MPI_COMM_NULL;
      MPI_Comm_dup(communicator(), &dup);
      let_count<&errors_of_own>(dup);
      MPI_Op operation = MPI_SUM;
      if (!is_predefined) MPI_Op_create(add_ints, 1, &operation);
      MPI_Datatype type = MPI_DATATYPE_NULL;
      MPI_Type_contiguous(count, MPI_INT, &type);
      MPI_Type_commit(&type);
      Buffer sent(MemoryKind::device, own.size());
      const Buffer summed(MemoryKind::device, own.size());
      Buffer broadcast(MemoryKind::device, own.size());
      sent.write(own);
      broadcast.write(rank() == 0 ? sum : own);
      std::array<MPI_Request, 2> requests{};
      MPI_Iallreduce(sent.data(), summed.data(), count, MPI_INT, operation, dup, &requests[0]);
      MPI_Ibcast(broadcast.data(), 1, type, 0, dup, &requests[1]);
      MPI_Comm_free(&dup);
      MPI_Type_free(&type);
      if (!is_predefined) MPI_Op_free(&operation);
      add_strangers();
      MPI_Type_contiguous(7, MPI_DOUBLE, &type);
      EXPECT_EQ(MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
      EXPECT_TRUE(summed.read() == sum);
      EXPECT_TRUE(broadcast.read() == sum);
      MPI_Type_free(&type);
    }
  }
  expect_errors_of_own(0);
}

/// For an attribute that is the program's business: it makes no duplicate of the datatype.
int refuse_to_copy(MPI_Datatype, int, void*, void*, void*, int*) {
  ADD_FAILURE() << "the attribute of a datatype was copied";
  return MPI_ERR_OTHER;
}

/// Rows with gaps; another datatype gets the handle.
class FreedDatatype : public testing::TestWithParam<bool> {};

TEST_P(FreedDatatype, does_not_keep_a_payload_from_arriving) {
  constexpr int rows = 300;
  constexpr int row_bytes = 1000;
  constexpr int stride = 1536;
  const bool is_persistent = GetParam();
  const Bytes sent = payload(rows * stride, 1);
  Bytes expected = payload(rows * stride, 2);
  for (std::size_t row = 0; row < rows; ++row)
    std::memcpy(expected.data() + row * stride, sent.data() + row * stride, row_bytes);
  int attribute = MPI_KEYVAL_INVALID;
  MPI_Type_create_keyval(refuse_to_copy, MPI_TYPE_NULL_DELETE_FN, &attribute, nullptr);
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::pageable}) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_vector(rows, row_bytes, stride, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Type_set_attr(type, attribute, &attribute);
    const Buffer buffer(rank() == 0 ? MemoryKind::device : kind, rows * stride, rank() == 0 ? 1 : 2);
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank() == 0) {
      MPI_Recv(nullptr, 0, MPI_BYTE, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (is_persistent) {
        MPI_Send_init(buffer.data(), 1, type, 1, 3, MPI_COMM_WORLD, &request);
      } else {
        MPI_Isend(buffer.data(), 1, type, 1, 3, MPI_COMM_WORLD, &request);
      }
    } else {
      if (is_persistent) {
        MPI_Recv_init(buffer.data(), 1, type, 0, 3, MPI_COMM_WORLD, &request);
      } else {
        MPI_Irecv(buffer.data(), 1, type, 0, 3, MPI_COMM_WORLD, &request);
      }
    }
    MPI_Type_free(&type);
    MPI_Datatype stranger = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(5, MPI_DOUBLE, &stranger);
    MPI_Type_commit(&stranger);
    if (is_persistent) MPI_Start(&request);
    if (rank() == 1) MPI_Send(nullptr, 0, MPI_BYTE, 0, 4, MPI_COMM_WORLD);
    EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    MPI_Type_free(&stranger);
    EXPECT_TRUE(buffer.read() == (rank() == 0 ? sent : expected));
    EXPECT_TRUE(buffer.guard_is_intact());
  }
}
INSTANTIATE_TEST_SUITE_P(Messages, FreedDatatype, testing::Bool(), [](const auto& parameters) {
  return std::string(parameters.param ? "persistent" : "nonblocking");
});

}  // namespace
}  // namespace penstock::programs
