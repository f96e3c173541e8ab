#include "analysis/cli/launch/mpi_family.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "analysis/cli/launch/elf_needs.hpp"
#include "analysis/cli/launch/library_search.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::cli {
namespace {

TEST(MpiFamily, libraries_are_known_by_their_names_and_numbers) {
  EXPECT_EQ(family_of_library("libmpich.so.12"), MpiFamily::mpich);
  EXPECT_EQ(family_of_library("libmpi.so.12"),
            MpiFamily::mpich);  // Intel MPI, MVAPICH, Cray by the common ABI
  EXPECT_EQ(family_of_library("libmpichfort.so.12"), MpiFamily::mpich);
  EXPECT_EQ(family_of_library("libmpi_cray.so.12"), MpiFamily::mpich);
  EXPECT_EQ(family_of_library("libmpi_gnu_112.so.12"), MpiFamily::mpich);
  EXPECT_EQ(family_of_library("libmpifort.so.12.5.0"), MpiFamily::mpich);
  EXPECT_EQ(family_of_library("libmpi_abi.so.1"), MpiFamily::abi);
  EXPECT_EQ(family_of_library("libmpi_abi.so.1.0.0"), MpiFamily::abi);
  EXPECT_EQ(family_of_library("libmpi_abi.so.0"), std::nullopt);  // before the standard: other handles
  EXPECT_EQ(family_of_library("libmpi.so.120"), std::nullopt);
  EXPECT_EQ(family_of_library("libamps.so.12"), std::nullopt);
  EXPECT_EQ(family_of_library("libmpi.so.40"), MpiFamily::openmpi);
  EXPECT_EQ(family_of_library("libmpi.so.40.30.4"), MpiFamily::openmpi);
  EXPECT_EQ(family_of_library("libmpi_usempif08.so.40"), MpiFamily::openmpi);
  EXPECT_EQ(family_of_library("libmpi.so.400"), std::nullopt);
  EXPECT_EQ(family_of_library("libmpi.so.1"), std::nullopt);
  EXPECT_EQ(family_of_library("libm.so.6"), std::nullopt);
}

TEST(MpiFamily, programs_are_known_by_the_library_that_they_need) {
#ifdef TINY_MPICH
  EXPECT_EQ(family_of_program(TINY_MPICH), MpiFamily::mpich);
  EXPECT_EQ(family_of_program(INDIRECT_MPICH), MpiFamily::mpich);
#endif
#ifdef TINY_OPENMPI
  EXPECT_EQ(family_of_program(TINY_OPENMPI), MpiFamily::openmpi);
  EXPECT_EQ(family_of_program(INDIRECT_OPENMPI), MpiFamily::openmpi);
#endif
#ifdef TINY_ABI
  EXPECT_EQ(family_of_program(TINY_ABI), MpiFamily::abi);
  EXPECT_EQ(family_of_program(INDIRECT_ABI), MpiFamily::abi);
#endif
}

TEST(MpiFamily, programs_without_mpi_have_none) {
  EXPECT_EQ(family_of_program("/bin/true"), std::nullopt);
  EXPECT_EQ(family_of_program("/nowhere/app"), std::nullopt);
  const analysis::testing::TemporaryDirectory directory;
  std::ofstream(directory.path() / "script") << "#!/bin/sh\nexit 0\n";
  EXPECT_EQ(family_of_program(directory.path() / "script"), std::nullopt);
}

TEST(MpiFamily, a_damaged_program_has_none) {
  const analysis::testing::TemporaryDirectory directory;
  std::ifstream in("/bin/true", std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  for (const std::size_t size : {std::size_t{10}, std::size_t{64}, bytes.size() / 2}) {
    std::ofstream(directory.path() / "cut", std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(size));
    EXPECT_EQ(family_of_program(directory.path() / "cut"), std::nullopt);
  }
}

TEST(MpiFamily, needs_of_a_program_are_read_without_running_it) {
  const auto needs = read_needs("/bin/true");
  ASSERT_TRUE(needs.has_value());
  EXPECT_NE(std::find(needs->libraries.begin(), needs->libraries.end(), "libc.so.6"), needs->libraries.end());
  EXPECT_FALSE(find_library("libc.so.6", {}).empty());
  EXPECT_TRUE(find_library("libnowhere.so.1", {}).empty());
  EXPECT_FALSE(read_needs("/etc/passwd").has_value());
}

}  // namespace
}  // namespace penstock::cli
