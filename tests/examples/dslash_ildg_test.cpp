// Gauge configurations from files: what is read, and what is said of files that are broken.
#include "examples/dslash/ildg.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/examples/dslash_ildg_input.hpp"

namespace dslash {
namespace {

using test::outcome_of_reading;
using test::small_configuration;

constexpr std::size_t header_bytes = 144;

std::string replaced(std::string bytes, const std::string& what, const std::string& by) {
  const std::size_t at = bytes.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return bytes.replace(at, what.size(), by);
}

/// With another byte there.
std::string with_byte(std::string bytes, std::size_t at, char byte) {
  bytes.at(at) = byte;
  return bytes;
}

void expect_said(const std::string& bytes, const std::string& words, std::size_t offset) {
  const std::string outcome = outcome_of_reading(bytes);
  EXPECT_NE(outcome.find(words), std::string::npos) << outcome;
  const std::string where = "at offset " + std::to_string(offset);
  EXPECT_TRUE(outcome.ends_with(where)) << outcome << ", expected " << where;
}

/// Where a field's value is.
std::size_t value_of(const std::string& bytes, const std::string& field) {
  return bytes.find("<" + field + ">") + field.size() + 2;
}

TEST(DslashIldg, links_in_double_precision_come_back_bit_by_bit) {
  Model model;
  model.lattice = {4, 2, 6, 2};
  std::stringstream file;
  write_ildg(file, model, 64);
  const IldgHeader header = IldgHeader::read(file);
  EXPECT_EQ(header.lattice, model.lattice);
  EXPECT_EQ(header.bits, 64);
  Model read = model;
  read.gauge = Gauge::file;
  std::vector<double> numbers(2 * window_numbers_of_slice(model.lattice));
  // The window begins with the last slice, as that of the first of several ranks.
  read_slice(file, header, 1, numbers.data());
  read_slice(file, header, 0, numbers.data() + numbers.size() / 2);
  read.window = {numbers.data(), 1, 2};
  for (int t = 0; t < 2; ++t) {
    for (int z = 0; z < 6; ++z) {
      for (int y = 0; y < 2; ++y) {
        for (int x = 0; x < 4; ++x) {
          for (int direction = 0; direction < dimensions; ++direction) {
            const Link<double> expected = link_of(model, {x, y, z, t}, direction);
            const Link<double> link = link_of(read, {x, y, z, t}, direction);
            for (int i = 0; i < 9; ++i) {
              ASSERT_EQ(link.row[i / 3][i % 3].re, expected.row[i / 3][i % 3].re);
              ASSERT_EQ(link.row[i / 3][i % 3].im, expected.row[i / 3][i % 3].im);
            }
          }
        }
      }
    }
  }
}

TEST(DslashIldg, links_in_single_precision_are_made_unitary_again) {
  Model model;
  model.lattice = {2, 2, 2, 2};
  std::stringstream file;
  write_ildg(file, model, 32);
  const IldgHeader header = IldgHeader::read(file);
  EXPECT_EQ(header.bits, 32);
  std::vector<double> numbers(window_numbers_of_slice(model.lattice));
  read_slice(file, header, 0, numbers.data());
  const Link<double> expected = link_of(model, {0, 0, 0, 0}, 0);
  double square = 0;
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(numbers[static_cast<std::size_t>(2 * i)], expected.row[0][i].re, 1e-7);
    EXPECT_NEAR(numbers[static_cast<std::size_t>(2 * i + 1)], expected.row[0][i].im, 1e-7);
  }
  for (std::size_t i = 0; i < 6; ++i) {
    square += numbers[i] * numbers[i];
  }
  EXPECT_NEAR(square, 1, 1e-15);
}

TEST(DslashIldg, numbers_are_big_endian_and_directions_run_faster_than_sites) {
  Model model;
  model.lattice = {2, 2, 2, 2};
  model.gauge = Gauge::unit;
  std::ostringstream file;
  write_ildg(file, model, 64);
  const std::string bytes = file.str();
  const std::size_t data = bytes.find("ildg-binary-data") - 16 + header_bytes;
  const std::string one("\x3F\xF0\0\0\0\0\0\0", 8);
  for (const std::size_t link : {0U, 1U, 63U}) {
    for (const std::size_t number : {0U, 8U, 16U}) {  // the diagonal's real parts
      EXPECT_EQ(bytes.substr(data + (link * 18 + number) * 8, 8), one);
    }
  }
  EXPECT_EQ(bytes.size(), data + 64 * 18 * 8);
}

TEST(DslashIldg, other_records_are_passed_over) {
  std::ostringstream file;
  write_lime_header(file, "xlf-info", 5);
  file << "plaq.";
  write_lime_padding(file, 5);
  file << small_configuration(32);
  write_lime_header(file, "ildg-data-lfn", 0);
  EXPECT_EQ(outcome_of_reading(file.str()), "");
}

TEST(DslashIldg, broken_lime_headers_are_named_with_their_offset) {
  const std::string good = small_configuration(64);
  const std::size_t second = good.find("ildg-binary-data") - 16;
  expect_said(with_byte(good, 1, 'x'), "magic number", 0);
  expect_said(with_byte(good, 5, 2), "version is 2, not 1", 4);
  expect_said(with_byte(good, 8, 1), "length", 8);
  expect_said(with_byte(good, second + 3, 0), "magic number", second);
  expect_said(with_byte(good, second + 15, 1), "goes beyond the file", second + 8);
  expect_said(good.substr(0, 16) + std::string(128, 'x') + good.substr(header_bytes), "type does not end",
              16);
  expect_said("", "header is cut off", 0);
  expect_said("hello", "header is cut off", 0);
}

TEST(DslashIldg, broken_fields_are_named_with_their_offset) {
  const std::string good = small_configuration(64);
  const auto refused = [&](const std::string& field, const std::string& was, const std::string& is) {
    expect_said(replaced(good, "<" + field + ">" + was, "<" + field + ">" + is), "field " + field + " is \"",
                value_of(good, field));
  };
  refused("field", "su3gauge", "su2gauge");
  refused("precision", "64", "16");
  for (const char* extent : {"lx", "ly", "lz", "lt"}) {
    for (const char* bad : {"0", "x", " "}) {
      const std::string value =
          replaced(good, "<" + std::string(extent) + ">2", "<" + std::string(extent) + ">" + bad);
      EXPECT_NE(outcome_of_reading(value).find("field " + std::string(extent)), std::string::npos);
    }
    const std::string outcome = outcome_of_reading(replaced(good, "<" + std::string(extent) + ">", "<qq>"));
    EXPECT_NE(outcome.find("field " + std::string(extent) + " is missing"), std::string::npos) << outcome;
  }
  expect_said(replaced(good, "<lx>2", "<lx>4"), "has 9216 bytes, not 18432",
              good.find("ildg-binary-data") - 16 + header_bytes);
}

TEST(DslashIldg, missing_records_are_named) {
  const std::string good = small_configuration(64);
  for (const char* type : {"ildg-format", "ildg-binary-data"}) {
    const std::string outcome =
        outcome_of_reading(replaced(good, type, std::string(std::string(type).size(), 'x')));
    EXPECT_NE(outcome.find("there is no record " + std::string(type)), std::string::npos) << outcome;
  }
}

TEST(DslashIldg, links_that_are_not_unitary_are_named_with_their_offset) {
  const std::string good = small_configuration(64);
  const std::size_t data = good.find("ildg-binary-data") - 16 + header_bytes;
  const std::size_t link = data + (8 * 4 + 5) * 18 * 8;  // the second direction of the second site of slice 1
  expect_said(with_byte(good, link, 0x7F), "link 1 of site 1 in time slice 1 is no matrix of SU(3)", link);
  expect_said(with_byte(good, link + 17 * 8, 0x40), "link 1 of site 1 in time slice 1", link);
}

TEST(DslashIldg, a_file_that_is_cut_anywhere_is_refused) {
  const std::string good = small_configuration(32);
  for (std::size_t size = 0; size < good.size(); ++size) {
    ASSERT_NE(outcome_of_reading(good.substr(0, size)), "") << size;
  }
}

/// tests/examples/dslash_ildg_fuzz.cpp searches longer.
TEST(DslashIldg, whatever_bytes_change_the_reader_says_what_and_where_or_reads) {
  std::mt19937 random(1);
  const std::string good = small_configuration(32);
  const std::size_t described = good.find("ildg-binary-data") + 128;  // most changes are to what describes
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = good;
    for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
      const std::size_t at = random() % (random() % 8 == 0 ? bytes.size() : described);
      switch (random() % 3) {
        case 0:
          bytes[at] = static_cast<char>(random());
          break;
        case 1:
          bytes.erase(at, random() % 32);
          break;
        default:
          bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 32));
      }
    }
    const std::string outcome = outcome_of_reading(bytes);
    ASSERT_TRUE(outcome.empty() || outcome.find(", at offset ") != std::string::npos) << outcome;
  }
}

}  // namespace
}  // namespace dslash
