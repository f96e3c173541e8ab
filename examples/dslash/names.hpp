// Names of choices, as command line, result and tuning file have them.
#pragma once

#include <map>
#include <string>

#include "examples/dslash/options.hpp"

namespace dslash {

inline const std::map<std::string, Numbers> numbers_names{{"double", Numbers::in_double},
                                                          {"single", Numbers::in_single},
                                                          {"half", Numbers::in_half},
                                                          {"single-half", Numbers::in_single_half},
                                                          {"double-half", Numbers::in_double_half}};
inline const std::map<std::string, Policy> policy_names{{"none", Policy::none},
                                                        {"one-stream", Policy::one_stream},
                                                        {"streams", Policy::streams},
                                                        {"streams-two", Policy::streams_two},
                                                        {"fused-pack", Policy::fused_pack},
                                                        {"direct", Policy::direct}};
inline const std::map<std::string, MpiRequests> requests_names{{"each-time", MpiRequests::each_time},
                                                               {"persistent", MpiRequests::persistent}};
inline const std::map<std::string, Stage> stage_names{
    {"nothing", Stage::nothing},   {"pack", Stage::pack}, {"interior", Stage::interior},
    {"exterior", Stage::exterior}, {"copy", Stage::copy}, {"comms", Stage::comms}};
inline const std::map<std::string, Reduction> reduction_names{{"allreduce", Reduction::allreduce},
                                                              {"by-slice", Reduction::by_slice}};
inline const std::map<std::string, Method> method_names{{"bicgstab", Method::bicgstab},
                                                        {"cg", Method::gradients}};
inline const std::map<std::string, Scaling> scaling_names{
    {"none", Scaling::none}, {"weak", Scaling::weak}, {"strong", Scaling::strong}};
inline const std::map<std::string, Gauge> gauge_names{
    {"unit", Gauge::unit}, {"weak", Gauge::weak}, {"constant", Gauge::constant}};
inline const std::map<std::string, bool> boundary_names{{"antiperiodic", true}, {"periodic", false}};

}  // namespace dslash
