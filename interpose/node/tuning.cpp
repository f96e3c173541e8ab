#include "interpose/node/tuning.hpp"

#include <new>

#include "interpose/node/node_directory.hpp"
#include "interpose/node/settings.hpp"
#include "interpose/record/recorder.hpp"
#include "transports/tuning/tuning_file.hpp"

namespace penstock::interpose {

void take_tuning() noexcept try {
  const transports::FoundTuning found = transports::find_tuning(settings().tuning);
  if (!found.problem.empty() && node_directory().speaks_of_tuning())
    record::notice("transports are chosen by the shipped figures: " + found.problem);
  static transports::Tuning table;
  table = found.table;
  transports::LinkTuning& nvlink = table.links[static_cast<std::size_t>(transports::cuda::Link::nvlink)];
  nvlink.striped_from = settings().striped_bytes.value_or(nvlink.striped_from);
  if (settings().transport == transports::TransportKind::striped) nvlink.striped_from = 0;
  transports::set_tuning(table);
} catch (const std::bad_alloc&) {
  record::notice("out of memory while the table of figures is read: the shipped one holds");
}

}  // namespace penstock::interpose
