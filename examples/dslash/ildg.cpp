#include "examples/dslash/ildg.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace dslash {
namespace {

constexpr std::size_t link_reals = 18;
/// A file in single precision has rows that are orthonormal within 1e-6; worse ones are no links.
constexpr double worst_row = 1e-4;
/// Rounding in double precision alone.
constexpr double exact_row = 1e-14;

const LimeRecord& record_named(const std::vector<LimeRecord>& records, std::string_view type) {
  const auto found = std::ranges::find(records, type, &LimeRecord::type);
  if (found == records.end()) {
    throw FormatError("there is no record " + std::string(type),
                      records.back().offset + records.back().bytes);
  }
  return *found;
}

/// The description, and where it is.
struct Xml {
  std::string text;
  std::uint64_t offset;

  /// Of the first element of that name; without white space around it.
  [[nodiscard]] std::string_view value_of(std::string_view name) const {
    const std::string_view all = text;
    for (std::size_t at = all.find('<'); at != std::string_view::npos; at = all.find('<', at + 1)) {
      const std::string_view tag = all.substr(at + 1);
      const std::size_t end = tag.find('>');
      if (end == std::string_view::npos) {
        break;
      }
      const bool is_it = tag.starts_with(name) && (end == name.size() || tag[name.size()] == ' ');
      if (is_it) {
        const std::string_view rest = tag.substr(end + 1);
        return trimmed(rest.substr(0, rest.find('<')));
      }
    }
    throw FormatError("field " + std::string(name) + " is missing in record ildg-format", offset);
  }

  [[nodiscard]] int number_of(std::string_view name) const {
    const std::string_view value = value_of(name);
    int number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc{} || end != value.data() + value.size() || number < 1) {
      throw refused(name, "a positive number");
    }
    return number;
  }

  [[nodiscard]] FormatError refused(std::string_view name, std::string_view expected) const {
    const std::string_view value = value_of(name);
    constexpr std::size_t most_shown = 32;
    return {"field " + std::string(name) + " is \"" + printable(value.substr(0, most_shown)) + "\", not " +
                std::string(expected),
            offset + static_cast<std::uint64_t>(value.data() - text.data())};
  }

 private:
  [[nodiscard]] static std::string_view trimmed(std::string_view value) {
    constexpr std::string_view spaces = " \t\r\n";
    const std::size_t first = value.find_first_not_of(spaces);
    return first == std::string_view::npos ? value.substr(0, 0)
                                           : value.substr(first, value.find_last_not_of(spaces) - first + 1);
  }
  [[nodiscard]] static std::string printable(std::string_view value) {
    std::string text(value);
    std::ranges::replace_if(
        text, [](char character) { return character < ' ' || character > '~'; }, '?');
    return text;
  }
};

std::uint64_t bits_of_number(const unsigned char* bytes, std::size_t count) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < count; ++i) {
    number = number << 8 | bytes[i];
  }
  return number;
}

double number_at(const unsigned char* bytes, int bits) {
  return bits == 64 ? std::bit_cast<double>(bits_of_number(bytes, 8))
                    : std::bit_cast<float>(static_cast<std::uint32_t>(bits_of_number(bytes, 4)));
}

/// How far from a matrix of SU(3): the largest difference from the one that its first two rows give.
double distance(const Link<double>& link, const Link<double>& unitary_link) {
  double largest = 0;
  for (int i = 0; i < 9; ++i) {
    const Complex<double> difference = link.row[i / 3][i % 3] - unitary_link.row[i / 3][i % 3];
    const double size = std::hypot(difference.re, difference.im);
    largest = size <= largest ? largest : size;  // or no number at all
  }
  return largest;
}

}  // namespace

IldgHeader IldgHeader::read(std::istream& file) {
  const std::vector<LimeRecord> records = lime_records(file);
  const LimeRecord& description = record_named(records, "ildg-format");
  constexpr std::uint64_t most_xml = 1 << 20;
  if (description.bytes > most_xml) {
    throw FormatError(
        "record ildg-format has " + std::to_string(description.bytes) + " bytes, more than 2^20",
        description.offset);
  }
  Xml xml{std::string(description.bytes, '\0'), description.offset};
  read_bytes(file, description.offset, xml.text.data(), description.bytes);
  if (xml.value_of("field") != "su3gauge") {
    throw xml.refused("field", "su3gauge");
  }
  IldgHeader header;
  header.bits = xml.number_of("precision");
  if (header.bits != 32 && header.bits != 64) {
    throw xml.refused("precision", "32 or 64");
  }
  std::uint64_t bytes =
      static_cast<std::uint64_t>(dimensions) * link_reals * (static_cast<unsigned>(header.bits) / 8);
  int* const extents[] = {&header.lattice.x, &header.lattice.y, &header.lattice.z, &header.lattice.t};
  constexpr const char* names[] = {"lx", "ly", "lz", "lt"};
  for (int i = 0; i < dimensions; ++i) {
    *extents[i] = xml.number_of(names[i]);
    constexpr int most = 1 << 12;  // of all four: the bytes still fit
    if (*extents[i] > most) {
      throw xml.refused(names[i], "4096 at most");
    }
    bytes *= static_cast<std::uint64_t>(*extents[i]);
  }
  const LimeRecord& data = record_named(records, "ildg-binary-data");
  if (data.bytes != bytes) {
    throw FormatError("record ildg-binary-data has " + std::to_string(data.bytes) + " bytes, not " +
                          std::to_string(bytes) + " as by lx, ly, lz, lt and precision",
                      data.offset);
  }
  header.data_offset = data.offset;
  return header;
}

std::size_t window_numbers_of_slice(const Lattice& lattice) {
  return static_cast<std::size_t>(lattice.spatial_sites()) * dimensions * window_numbers_of_link;
}

void read_slice(std::istream& file, const IldgHeader& header, int slice, double* numbers) {
  const auto number_bytes = static_cast<std::size_t>(header.bits) / 8;
  const std::size_t link_bytes = link_reals * number_bytes;
  const auto links = static_cast<std::size_t>(header.lattice.spatial_sites()) * dimensions;
  const std::uint64_t offset = header.data_offset + static_cast<std::uint64_t>(slice) * links * link_bytes;
  std::vector<unsigned char> bytes(links * link_bytes);
  read_bytes(file, offset, bytes.data(), bytes.size());
  for (std::size_t i = 0; i < links; ++i) {
    Link<double> link;
    double rows[window_numbers_of_link];
    for (std::size_t k = 0; k < link_reals; ++k) {
      const double number = number_at(bytes.data() + i * link_bytes + k * number_bytes, header.bits);
      Complex<double>& element = link.row[k / 6][k / 2 % 3];
      (k % 2 == 0 ? element.re : element.im) = number;
      if (k < window_numbers_of_link) {
        rows[k] = number;
      }
    }
    const Link<double> exact = unitary(0, 1, rows);
    const double off = distance(link, exact);
    if (!(off <= worst_row)) {
      throw FormatError("link " + std::to_string(i % dimensions) + " of site " +
                            std::to_string(i / dimensions) + " in time slice " + std::to_string(slice) +
                            " is no matrix of SU(3)",
                        offset + i * link_bytes);
    }
    for (std::size_t k = 0; k < window_numbers_of_link; ++k) {
      const Complex<double> element = exact.row[k / 6][k / 2 % 3];
      numbers[i * window_numbers_of_link + k] = off <= exact_row ? rows[k]
                                                : k % 2 == 0     ? element.re
                                                                 : element.im;
    }
  }
}

void write_ildg(std::ostream& file, const Model& model, int bits) {
  const Lattice& lattice = model.lattice;
  const std::string xml =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<ildgFormat xmlns=\"http://www.lqcd.org/ildg\">\n"
      "  <version>1.0</version>\n  <field>su3gauge</field>\n  <precision>" +
      std::to_string(bits) + "</precision>\n  <lx>" + std::to_string(lattice.x) + "</lx><ly>" +
      std::to_string(lattice.y) + "</ly><lz>" + std::to_string(lattice.z) + "</lz><lt>" +
      std::to_string(lattice.t) + "</lt>\n</ildgFormat>\n";
  write_lime_header(file, "ildg-format", xml.size());
  file << xml;
  write_lime_padding(file, xml.size());
  const std::uint64_t bytes = static_cast<std::uint64_t>(lattice.sites()) * dimensions * link_reals *
                              (static_cast<unsigned>(bits) / 8);
  write_lime_header(file, "ildg-binary-data", bytes);
  const auto put = [&](double number) {
    const std::uint64_t as_bits = bits == 64 ? std::bit_cast<std::uint64_t>(number)
                                             : std::bit_cast<std::uint32_t>(static_cast<float>(number));
    for (int shift = bits - 8; shift >= 0; shift -= 8) {
      file.put(static_cast<char>(as_bits >> shift));
    }
  };
  for (std::int64_t index = 0; index < lattice.sites(); ++index) {
    const auto coordinate = [&](std::int64_t stride, int extent) {
      return static_cast<int>(index / stride % extent);
    };
    const std::int64_t plane = std::int64_t{lattice.x} * lattice.y;
    const Site site{coordinate(1, lattice.x), coordinate(lattice.x, lattice.y), coordinate(plane, lattice.z),
                    coordinate(plane * lattice.z, lattice.t)};
    for (int direction = 0; direction < dimensions; ++direction) {
      const Link<double> link = link_of(model, site, direction);
      for (int i = 0; i < 9; ++i) {
        put(link.row[i / 3][i % 3].re);
        put(link.row[i / 3][i % 3].im);
      }
    }
  }
  write_lime_padding(file, bytes);
}

}  // namespace dslash
