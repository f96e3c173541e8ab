// The build of what is loaded: of images made up in memory, of real modules, and in a recording.
#include "interpose/record/call_paths/loaded_build.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "interpose/record/module_build.hpp"
#include "interpose/record/recorder.hpp"
#include "tests/interpose/record/child_process.hpp"
#include "tests/interpose/record/recording_reader.hpp"

namespace penstock {
namespace {

using trace::BuildBy;
using trace::ModuleBuild;

/// A note as linkers write it. `name`: with its terminating zero.
std::vector<std::byte> note(std::uint32_t type, std::string_view name, std::size_t id_bytes,
                            std::size_t alignment = 4) {
  const auto padded = [alignment](std::size_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
  };
  const Elf64_Nhdr header{static_cast<std::uint32_t>(name.size()), static_cast<std::uint32_t>(id_bytes),
                          type};
  std::vector<std::byte> bytes(padded(sizeof header + name.size()) + padded(id_bytes));
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, name.data(), name.size());
  for (std::size_t i = 0; i < id_bytes; ++i)
    bytes[padded(sizeof header + name.size()) + i] = static_cast<std::byte>(i + 1);
  return bytes;
}

constexpr std::string_view gnu("GNU", 4);

std::vector<std::byte> operator+(std::vector<std::byte> left, const std::vector<std::byte>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

/// A program with a loaded part that holds its notes, as its headers tell.
struct Image {
  explicit Image(std::vector<std::byte> of_notes, std::size_t alignment = 4) : notes(std::move(of_notes)) {
    headers[0] = {.p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = notes.size(), .p_memsz = notes.size()};
    headers[1] = {.p_type = PT_NOTE, .p_flags = PF_R, .p_filesz = notes.size(), .p_memsz = notes.size()};
    headers[1].p_align = alignment;
  }
  [[nodiscard]] ModuleBuild build() const {
    return record::build_of_loaded(reinterpret_cast<std::uint64_t>(notes.data()), headers);
  }
  std::vector<std::byte> notes;
  std::vector<Elf64_Phdr> headers{2};
};

ModuleBuild build_id_of(std::size_t bytes) {
  ModuleBuild build{BuildBy::build_id, static_cast<std::uint8_t>(bytes), {}};
  for (std::size_t i = 0; i < std::min(bytes, sizeof build.id); ++i)
    build.id[i] = static_cast<std::uint8_t>(i + 1);
  return build;
}

TEST(LoadedBuild, is_the_build_id_of_any_length_by_its_first_bytes) {
  for (const std::size_t bytes : {1u, 8u, 16u, 20u, 25u, 26u, 32u, 255u})
    EXPECT_EQ(Image(note(NT_GNU_BUILD_ID, gnu, bytes)).build(), build_id_of(bytes)) << bytes;
  EXPECT_EQ(Image(note(NT_GNU_BUILD_ID, gnu, 300)).build().bytes, 255);
}

TEST(LoadedBuild, is_found_behind_other_notes_in_either_alignment) {
  for (const std::size_t alignment : {4u, 8u}) {
    const auto others = note(NT_GNU_PROPERTY_TYPE_0, gnu, 12, alignment) +
                        note(1, "stapsdt\0", 5, alignment) +
                        note(NT_GNU_BUILD_ID, std::string_view("Go\0\0", 4), 20, alignment);
    EXPECT_EQ(Image(others + note(NT_GNU_BUILD_ID, gnu, 20, alignment), alignment).build(), build_id_of(20));
    EXPECT_EQ(Image(others, alignment).build().by, BuildBy::layout);
  }
}

TEST(LoadedBuild, without_a_build_id_is_the_layout_which_code_that_is_added_changes) {
  Image image({});
  const ModuleBuild before = image.build();
  EXPECT_EQ(before.by, BuildBy::layout);
  EXPECT_EQ(image.build(), before);
  image.headers[0].p_memsz += 16;
  EXPECT_NE(image.build(), before);
  EXPECT_EQ(Image(note(NT_GNU_BUILD_ID, gnu, 0)).build().by, BuildBy::layout) << "an id of no bytes";
}

TEST(LoadedBuild, of_notes_that_lie_about_their_size_is_the_layout) {
  constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  for (const auto& [name, id] :
       {std::pair(most, 20u), {4u, most}, {most, most}, {4u, 1000u}, {0u, most - 3}}) {
    std::vector<std::byte> notes = note(NT_GNU_BUILD_ID, gnu, 20);
    const Elf64_Nhdr header{name, id, NT_GNU_BUILD_ID};
    std::memcpy(notes.data(), &header, sizeof header);
    EXPECT_EQ(Image(notes).build().by, BuildBy::layout) << name << " " << id;
  }
  for (std::size_t bytes = 0; bytes < 36; ++bytes) {
    std::vector<std::byte> cut = note(NT_GNU_BUILD_ID, gnu, 20);
    cut.resize(bytes);
    EXPECT_EQ(Image(cut).build().by, BuildBy::layout) << bytes;
  }
}

TEST(LoadedBuild, of_notes_that_are_not_loaded_is_the_layout_and_nothing_is_read) {
  const auto expect_layout = [](auto change) {
    Image image(note(NT_GNU_BUILD_ID, gnu, 20));
    change(image.headers[0], image.headers[1]);
    EXPECT_EQ(image.build().by, BuildBy::layout);
  };
  expect_layout([](Elf64_Phdr& load, Elf64_Phdr&) { load.p_flags = PF_X; });
  expect_layout([](Elf64_Phdr& load, Elf64_Phdr&) { load.p_filesz -= 1; });
  expect_layout([](Elf64_Phdr&, Elf64_Phdr& notes) { notes.p_vaddr = 0x7f0000000000; });
  expect_layout([](Elf64_Phdr&, Elf64_Phdr& notes) { notes.p_vaddr = ~std::uint64_t{0} - 3; });
  expect_layout([](Elf64_Phdr&, Elf64_Phdr& notes) { notes.p_filesz = ~std::uint64_t{0}; });
  expect_layout([](Elf64_Phdr&, Elf64_Phdr& notes) { notes.p_offset = 8; });  // elsewhere in the file
  EXPECT_EQ(record::build_of_loaded(0, {}).by, BuildBy::unknown) << "nothing is loaded at all";
}

TEST(LoadedBuild, of_memory_that_is_gone_or_closed_is_unknown) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const memory = mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const Image image(note(NT_GNU_BUILD_ID, gnu, 20));
  const auto address = reinterpret_cast<std::uint64_t>(memory);
  EXPECT_EQ(record::build_of_loaded(address, image.headers).by, BuildBy::unknown) << "it may have an id";
  munmap(memory, page);
  EXPECT_EQ(record::build_of_loaded(address, image.headers).by, BuildBy::unknown);
}

TEST(LoadedBuild, is_in_the_recording_of_each_module) {
  const std::string none = test::built_library("libmodule_with_build_none.so");
  const std::string of_8_bytes = test::built_library("libmodule_with_build_01.so");
  const std::string of_32_bytes = test::built_library("libmodule_with_build_20.so");
  const test::TemporaryFolder folder;
  const auto result = test::in_child([&] {
    ASSERT_TRUE(record::begin(folder.identity()));
    for (const std::string& module : {none, of_8_bytes, of_32_bytes})
      ASSERT_NE(dlopen(module.c_str(), RTLD_NOW), nullptr) << dlerror();
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0);
  const test::ReadRecording recording(folder.recording());
  const auto build_of = [&recording](const std::string& path) {
    for (const auto& module : recording.all<trace::Module>(trace::RecordKind::module))
      if (recording.text(module.path) == path) return module.build;
    ADD_FAILURE() << path;
    return ModuleBuild{};
  };
  EXPECT_EQ(build_of(of_8_bytes), build_id_of(8));
  ModuleBuild longer{BuildBy::build_id, 32, {}};
  std::iota(std::begin(longer.id), std::end(longer.id), std::uint8_t{0x20});
  EXPECT_EQ(build_of(of_32_bytes), longer);
  EXPECT_EQ(build_of(none).by, BuildBy::layout);
}

}  // namespace
}  // namespace penstock
