#include "interpose/node/tuning.hpp"

#include <new>

#include "interpose/node/node_directory.hpp"
#include "interpose/node/settings.hpp"
#include "interpose/record/recorder.hpp"
#include "transports/cuda/shared_gpus.hpp"
#include "transports/small/resident.hpp"
#include "transports/tuning/tuning_file.hpp"

namespace penstock::interpose {
namespace {

/// `table` lives to the end of the process.
void put_in_force(transports::Tuning& table) noexcept {
  transports::set_tuning(table);
  // with order `device` each message would wait for the resident kernel
  const bool may_linger = settings().stream_order != transports::StreamOrder::device;
  transports::set_linger(may_linger ? table.linger_us * 1000 : 0);
  transports::set_shared_gpu_check([](std::uint64_t gpu) { return node_directory().shares_gpu(gpu); });
}

}  // namespace

void begin_tuning() noexcept try {
  const transports::FoundTuning wished = transports::wished_tuning(settings().tuning);
  if (!wished.problem.empty())
    record::notice("PENSTOCK_TUNING: " + wished.problem + "; the variable is ignored");
  static transports::Tuning table;
  table = wished.table;
  put_in_force(table);
} catch (const std::bad_alloc&) {
  record::notice("out of memory while PENSTOCK_TUNING is read: the shipped figures are used");
}

void take_tuning() noexcept try {
  const transports::FoundTuning found = transports::find_tuning(settings().tuning);
  if (!found.problem.empty() && node_directory().speaks_of_tuning())
    record::notice("transports are chosen by the shipped figures: " + found.problem);
  static transports::Tuning table;
  table = found.table;
  put_in_force(table);
} catch (const std::bad_alloc&) {
  record::notice("out of memory while the tuning file is read: the shipped figures are used");
}

}  // namespace penstock::interpose
