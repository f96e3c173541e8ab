// Derived datatypes where the MPI library lacks what is newest, or fails to tell what a datatype is made of.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "interpose/binding/mpi_level.hpp"
#include "tests/interpose/pmpi_table/replaced_functions.hpp"
#include "tests/support/memory.hpp"

namespace penstock::test {
namespace {

using test_support::Memory;
using test_support::MemoryKind;

constexpr std::size_t buffer_bytes = 4096;

std::vector<std::byte> pattern() {
  std::vector<std::byte> bytes(buffer_bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 256);
  return bytes;
}

class Datatype {
 public:
  explicit Datatype(MPI_Datatype type) : type_(type) { MPI_Type_commit(&type_); }
  ~Datatype() { MPI_Type_free(&type_); }
  Datatype(const Datatype&) = delete;
  Datatype& operator=(const Datatype&) = delete;
  operator MPI_Datatype() const { return type_; }

 private:
  MPI_Datatype type_;
};

MPI_Datatype make_vector() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(20, 3, 5, MPI_INT, &type);
  return type;
}

MPI_Datatype make_indexed() {
  const int lengths[] = {5, 1, 30};
  const int displacements[] = {10, 0, 40};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_indexed(3, lengths, displacements, MPI_INT, &type);
  return type;
}

MPI_Datatype make_struct() {
  Datatype inner(make_vector());
  const int lengths[] = {1, 7};
  const MPI_Aint displacements[] = {8, 1000};
  const MPI_Datatype types[] = {inner, MPI_CHAR};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(2, lengths, displacements, types, &type);
  return type;
}

MPI_Datatype make_resized() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_DOUBLE, 0, 24, &type);
  Datatype resized(type);
  MPI_Type_contiguous(12, resized, &type);
  return type;
}

MPI_Datatype make_subarray() {
  const int sizes[] = {12, 14};
  const int subsizes[] = {5, 6};
  const int starts[] = {3, 4};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &type);
  return type;
}

std::vector<std::byte> packed(const std::vector<std::byte>& bytes, MPI_Datatype datatype) {
  int size = 0;
  MPI_Type_size(datatype, &size);
  std::vector<std::byte> result(static_cast<std::size_t>(size));
  int position = 0;
  MPI_Pack(bytes.data(), 1, datatype, result.data(), size, &position, MPI_COMM_SELF);
  return result;
}

using Maker = std::pair<const char*, MPI_Datatype (*)()>;
class DerivedDatatypes : public testing::TestWithParam<Maker> {};

TEST_P(DerivedDatatypes, in_device_memory_are_sent_as_the_MPI_library_packs_them) {
  const Datatype datatype(GetParam().second());
  const std::vector<std::byte> content = pattern();
  const std::vector<std::byte> expected = packed(content, datatype);
  Memory device(MemoryKind::device, buffer_bytes);
  device.write(0, content.data(), content.size());
  std::vector<std::byte> received(expected.size());
  MPI_Request request = MPI_REQUEST_NULL;
  ASSERT_EQ(MPI_Isend(device.data(), 1, datatype, 0, 1, MPI_COMM_WORLD, &request), MPI_SUCCESS);
  MPI_Status status;
  ASSERT_EQ(
      MPI_Recv(received.data(), static_cast<int>(received.size()), MPI_BYTE, 0, 1, MPI_COMM_WORLD, &status),
      MPI_SUCCESS);
  ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(received, expected);
}

TEST_P(DerivedDatatypes, in_host_memory_take_what_comes_from_a_device) {
  const Datatype datatype(GetParam().second());
  std::vector<std::byte> content(buffer_bytes, std::byte{0x5a});
  const std::vector<std::byte> sent = packed(pattern(), datatype);
  Memory device(MemoryKind::device, sent.size());
  device.write(0, sent.data(), sent.size());
  MPI_Request request = MPI_REQUEST_NULL;
  ASSERT_EQ(MPI_Irecv(content.data(), 1, datatype, 0, 1, MPI_COMM_WORLD, &request), MPI_SUCCESS);
  ASSERT_EQ(MPI_Send(device.data(), static_cast<int>(sent.size()), MPI_BYTE, 0, 1, MPI_COMM_WORLD),
            MPI_SUCCESS);
  ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(packed(content, datatype), sent);
}

INSTANTIATE_TEST_SUITE_P(Constructors, DerivedDatatypes,
                         testing::Values(Maker{"vector", make_vector}, Maker{"indexed", make_indexed},
                                         Maker{"struct", make_struct}, Maker{"resized", make_resized},
                                         Maker{"subarray", make_subarray}),
                         [](const auto& test) { return std::string(test.param.first); });

/// Its functions that read a datatype: those of MPI-3, and of MPI-4 where the library has them.
struct UnreadableEnvelope {
  const Replaced narrow{penstock_pmpi_Type_get_envelope, fail};
#if PENSTOCK_HAS_LARGE_COUNTS
  const Replaced large{
      penstock_pmpi_Type_get_envelope_c,
      penstock_pmpi_Type_get_envelope_c == reinterpret_cast<void*>(&penstock_no_such_function)
          ? static_cast<int (*)()>(penstock_no_such_function)
          : fail};
#endif
};
struct UnreadableContents {
  const Replaced narrow{penstock_pmpi_Type_get_contents, fail};
#if PENSTOCK_HAS_LARGE_COUNTS
  const Replaced large{
      penstock_pmpi_Type_get_contents_c,
      penstock_pmpi_Type_get_contents_c == reinterpret_cast<void*>(&penstock_no_such_function)
          ? static_cast<int (*)()>(penstock_no_such_function)
          : fail};
#endif
};

template <typename Fault>
class UnreadableDatatypes : public testing::Test {};
using Faults = testing::Types<UnreadableEnvelope, UnreadableContents>;
TYPED_TEST_SUITE(UnreadableDatatypes, Faults);

TYPED_TEST(UnreadableDatatypes, are_an_error_of_the_send_and_not_taken_for_predefined_ones) {
  const Datatype datatype(make_vector());
  const Memory device(MemoryKind::device, buffer_bytes);
  const TypeParam fault;
  EXPECT_EQ(MPI_Send(device.data(), 1, datatype, 0, 1, MPI_COMM_WORLD), failure);
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_EQ(MPI_Isend(device.data(), 1, datatype, 0, 1, MPI_COMM_WORLD, &request), failure);
  EXPECT_EQ(request, MPI_REQUEST_NULL);
}

TYPED_TEST(UnreadableDatatypes, are_an_error_of_the_receive) {
  const Datatype datatype(make_vector());
  const Memory device(MemoryKind::device, buffer_bytes);
  std::vector<std::byte> host(buffer_bytes);
  const TypeParam fault;
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_EQ(MPI_Irecv(device.data(), 1, datatype, 0, 1, MPI_COMM_WORLD, &request), failure);
  EXPECT_EQ(MPI_Irecv(host.data(), 1, datatype, 0, 1, MPI_COMM_WORLD, &request), failure);
}

TYPED_TEST(UnreadableDatatypes, are_an_error_of_a_collective) {
  const Datatype datatype(make_vector());
  const Memory device(MemoryKind::device, buffer_bytes);
  const Memory other(MemoryKind::device, buffer_bytes);
  const TypeParam fault;
  EXPECT_NE(MPI_Allgather(device.data(), 1, datatype, other.data(), 1, datatype, MPI_COMM_WORLD),
            MPI_SUCCESS);
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_NE(MPI_Ibcast(device.data(), 1, datatype, 0, MPI_COMM_WORLD, &request), MPI_SUCCESS);
}

TEST(UnreadableEnvelopes, are_an_error_of_persistent_operations) {
  const Datatype datatype(make_vector());
  const Memory device(MemoryKind::device, buffer_bytes);
  const UnreadableEnvelope fault;
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_EQ(MPI_Send_init(device.data(), 1, datatype, 0, 1, MPI_COMM_WORLD, &request), failure);
  EXPECT_EQ(MPI_Recv_init(device.data(), 1, datatype, 0, 1, MPI_COMM_WORLD, &request), failure);
}

TEST(DatatypesWithoutAttributes, are_read_each_time) {
  const Datatype datatype(make_vector());
  const std::vector<std::byte> content = pattern();
  Memory device(MemoryKind::device, buffer_bytes);
  device.write(0, content.data(), content.size());
  const Replaced set_attr(penstock_pmpi_Type_set_attr, fail);
  std::vector<std::byte> received(packed(content, datatype).size());
  for (int round = 0; round < 2; ++round) {
    MPI_Request request = MPI_REQUEST_NULL;
    ASSERT_EQ(MPI_Isend(device.data(), 1, datatype, 0, 1, MPI_COMM_WORLD, &request), MPI_SUCCESS);
    ASSERT_EQ(MPI_Recv(received.data(), static_cast<int>(received.size()), MPI_BYTE, 0, 1, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE),
              MPI_SUCCESS);
    ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(received, packed(content, datatype));
  }
}

}  // namespace
}  // namespace penstock::test
