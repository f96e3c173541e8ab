#include "interpose/datatypes/basic_type.hpp"

#include <cstddef>
#include <vector>

#include "interpose/datatypes/datatype_contents.hpp"

namespace penstock::interpose {

MPI_Datatype basic_type_of(MPI_Datatype datatype) {
  if (DatatypeContents::is_predefined(datatype)) return datatype;
  DatatypeContents contents(datatype);
  // predefined handles stay valid when the contents are gone
  if (contents.combiner() != Combiner::structure) return basic_type_of(contents.next_type());
  const std::ptrdiff_t count = contents.next_count();
  const std::vector<std::ptrdiff_t> lengths = contents.next_counts(count);
  MPI_Datatype found = MPI_DATATYPE_NULL;
  for (const std::ptrdiff_t length : lengths) {
    const MPI_Datatype block = contents.next_type();
    if (length == 0) continue;
    const MPI_Datatype basic = basic_type_of(block);
    if (found != MPI_DATATYPE_NULL && basic != found) return MPI_DATATYPE_NULL;
    found = basic;
  }
  return found;
}

}  // namespace penstock::interpose
