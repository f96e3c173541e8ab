#include "analysis/comparison/diff_json.hpp"

namespace penstock::analysis::json {

using Json = nlohmann::ordered_json;

Json of(const DiffRow& row) {
  return {{"name", row.name},
          {"before_s", row.before_ns * 1e-9},
          {"after_s", row.after_ns * 1e-9},
          {"margin_s", row.margin_ns ? Json(*row.margin_ns * 1e-9) : Json(nullptr)},
          {"verdict", identifier_of(row.verdict)}};
}

Json rows_of(const std::vector<DiffRow>& rows) {
  Json list = Json::array();
  for (const DiffRow& row : rows) {
    list.push_back(of(row));
  }
  return list;
}

Json of(const ComparedState& state) {
  return {{"program", state.program},
          {"mpi", state.mpi_version},
          {"ranks", state.world_size},
          {"hosts", state.hosts},
          {"gpus", state.devices},
          {"simulated_gpu", state.simulated_gpu},
          {"began_unix_s", static_cast<double>(state.began_realtime_ns) * 1e-9}};
}

}  // namespace penstock::analysis::json
