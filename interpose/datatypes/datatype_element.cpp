#include "interpose/datatypes/datatype_element.hpp"

#include <algorithm>
#include <vector>

#include "interpose/calls/errors.hpp"
#include "interpose/datatypes/array_constants.hpp"
#include "interpose/datatypes/datatype_contents.hpp"

namespace penstock::interpose {
namespace {

using transports::Block;
using transports::Layout;

void append(Layout& layout, const Layout& more, std::ptrdiff_t offset) {
  for (Block block : more.blocks()) {
    block.offset += offset;
    layout.append(block);
  }
}

/// Returns the layout of blocks of one type: `lengths` and `offsets` return the n-th block's length and first
/// byte.
template <typename Lengths, typename Offsets>
Layout blocks_of(const DatatypeElement& inner, std::ptrdiff_t count, Lengths lengths, Offsets offsets) {
  Layout layout;
  for (std::ptrdiff_t index = 0; index < count; ++index) {
    append(layout, inner.layout.repeated(as_size(lengths(index)), inner.extent), offsets(index));
  }
  return layout;
}

Layout layout_of_struct(DatatypeContents& contents) {
  const std::ptrdiff_t count = contents.next_count();
  const std::vector<std::ptrdiff_t> lengths = contents.next_counts(count);
  const std::vector<std::ptrdiff_t> offsets = contents.next_addresses(count);
  Layout layout;
  for (std::size_t index = 0; index < lengths.size(); ++index) {
    const DatatypeElement inner = element_of(contents.next_type());
    append(layout, inner.layout.repeated(as_size(lengths[index]), inner.extent), offsets[index]);
  }
  return layout;
}

/// Returns the dimensions of an array, from the one that varies fastest to the slowest.
std::vector<std::size_t> fastest_first(std::size_t dimensions, int order) {
  std::vector<std::size_t> indices(dimensions);
  for (std::size_t index = 0; index < dimensions; ++index) {
    indices[index] = order == array_constants().order_c ? dimensions - 1 - index : index;
  }
  return indices;
}

Layout layout_of_subarray(DatatypeContents& contents) {
  const int dimensions = contents.next_integer();
  const std::vector<std::ptrdiff_t> sizes = contents.next_counts(dimensions);
  const std::vector<std::ptrdiff_t> subsizes = contents.next_counts(dimensions);
  const std::vector<std::ptrdiff_t> starts = contents.next_counts(dimensions);
  const int order = contents.next_integer();
  auto [layout, step] = element_of(contents.next_type());
  for (const std::size_t dimension : fastest_first(sizes.size(), order)) {
    layout = layout.repeated(as_size(subsizes[dimension]), step).shifted(starts[dimension] * step);
    step *= sizes[dimension];
  }
  return layout;
}

/// One dimension of a distributed array: the `inner` things, `step` bytes apart, that belong to one process.
struct Distribution {
  int kind;
  std::ptrdiff_t argument;
  std::ptrdiff_t processes;
  std::ptrdiff_t coordinate;  ///< of the process
};

Layout layout_of_share(const Layout& inner, std::ptrdiff_t step, std::ptrdiff_t size, Distribution share) {
  const ArrayConstants& constants = array_constants();
  if (share.kind == constants.not_distributed) return inner.repeated(as_size(size), step);
  const bool cyclic = share.kind == constants.cyclic;
  std::ptrdiff_t block = share.argument;
  if (block == constants.default_argument)
    block = cyclic ? 1 : (size + share.processes - 1) / share.processes;
  const std::ptrdiff_t round = cyclic ? block * share.processes : size;
  Layout layout;
  for (std::ptrdiff_t start = share.coordinate * block; start < size && round > 0; start += round) {
    append(layout, inner.repeated(as_size(std::min(block, size - start)), step), start * step);
  }
  return layout;
}

Layout layout_of_darray(DatatypeContents& contents) {
  std::ptrdiff_t processes_left = contents.next_integer();
  std::ptrdiff_t rank_left = contents.next_integer();
  const int dimensions = contents.next_integer();
  const std::vector<std::ptrdiff_t> sizes = contents.next_counts(dimensions);
  const std::vector<int> kinds = contents.next_integers(dimensions);
  const std::vector<int> arguments = contents.next_integers(dimensions);
  const std::vector<int> processes = contents.next_integers(dimensions);
  const int order = contents.next_integer();
  auto [layout, step] = element_of(contents.next_type());

  // the process grid has ranks in row-major order, whatever the order of the array (MPI-4 §5.1.4)
  std::vector<std::ptrdiff_t> coordinates;
  for (const int along : processes) {
    processes_left /= std::max(along, 1);
    coordinates.push_back(processes_left > 0 ? rank_left / processes_left : 0);
    rank_left = processes_left > 0 ? rank_left % processes_left : 0;
  }
  for (const std::size_t dimension : fastest_first(sizes.size(), order)) {
    layout = layout_of_share(
        layout, step, sizes[dimension],
        {kinds[dimension], arguments[dimension], processes[dimension], coordinates[dimension]});
    step *= sizes[dimension];
  }
  return layout;
}

Layout layout_of_derived(DatatypeContents& contents) {
  switch (contents.combiner()) {
    case Combiner::structure:
      return layout_of_struct(contents);
    case Combiner::subarray:
      return layout_of_subarray(contents);
    case Combiner::darray:
      return layout_of_darray(contents);
    default:
      break;
  }
  // The others are made of one type, which is their last argument but the only one of its kind.
  const DatatypeElement inner = element_of(contents.next_type());
  const auto in_elements = [&](std::ptrdiff_t number) { return number * inner.extent; };
  switch (contents.combiner()) {
    case Combiner::contiguous:
      return inner.layout.repeated(as_size(contents.next_count()), inner.extent);
    case Combiner::vector:
    case Combiner::hvector: {
      const std::ptrdiff_t count = contents.next_count();
      const std::ptrdiff_t length = contents.next_count();
      const std::ptrdiff_t stride = contents.combiner() == Combiner::vector
                                        ? in_elements(contents.next_count())
                                        : contents.next_address();
      return inner.layout.repeated(as_size(length), inner.extent).repeated(as_size(count), stride);
    }
    case Combiner::indexed:
    case Combiner::hindexed: {
      const std::ptrdiff_t count = contents.next_count();
      const std::vector<std::ptrdiff_t> lengths = contents.next_counts(count);
      const bool by_element = contents.combiner() == Combiner::indexed;
      return blocks_of(
          inner, count, [&](std::ptrdiff_t index) { return lengths[as_size(index)]; },
          [&](std::ptrdiff_t) {
            return by_element ? in_elements(contents.next_count()) : contents.next_address();
          });
    }
    case Combiner::indexed_block:
    case Combiner::hindexed_block: {
      const std::ptrdiff_t count = contents.next_count();
      const std::ptrdiff_t length = contents.next_count();
      const bool by_element = contents.combiner() == Combiner::indexed_block;
      return blocks_of(
          inner, count, [&](std::ptrdiff_t) { return length; },
          [&](std::ptrdiff_t) {
            return by_element ? in_elements(contents.next_count()) : contents.next_address();
          });
    }
    default:  // dup, resized: other bounds, the same bytes
      return inner.layout;
  }
}

}  // namespace

std::size_t size_of(MPI_Datatype datatype) {
  MPI_Count size = 0;
  const int code = PMPI_Type_size_x(datatype, &size);
  if (code != MPI_SUCCESS) throw UnreadableDatatype("MPI_Type_size", code);
  return as_size(size);
}

std::ptrdiff_t readable_extent_of(MPI_Datatype datatype) {
  MPI_Count lower_bound = 0;
  MPI_Count extent = 0;
  const int code = PMPI_Type_get_extent_x(datatype, &lower_bound, &extent);
  if (code != MPI_SUCCESS) throw UnreadableDatatype("MPI_Type_get_extent", code);
  return extent;
}

Layout layout_of_named(MPI_Datatype datatype) {
  const std::size_t size = size_of(datatype);
  const auto extent = readable_extent_of(datatype);
  if (extent == static_cast<std::ptrdiff_t>(size) || size <= sizeof(int)) return Layout::contiguous(size);
  const std::size_t value_bytes = size - sizeof(int);
  constexpr std::size_t alignment = alignof(int);
  Layout layout = Layout::contiguous(value_bytes);
  layout.append({.offset = static_cast<std::ptrdiff_t>((value_bytes + alignment - 1) / alignment * alignment),
                 .bytes = sizeof(int)});
  return layout;
}

DatatypeElement element_of(MPI_Datatype datatype) {
  DatatypeElement element;
  element.extent = readable_extent_of(datatype);
  if (DatatypeContents::is_predefined(datatype)) {
    element.layout = layout_of_named(datatype);
  } else {
    DatatypeContents contents(datatype);
    element.layout = layout_of_derived(contents);
  }
  return element;
}

}  // namespace penstock::interpose
