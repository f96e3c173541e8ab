#include "examples/dslash/names.hpp"

#include "examples/support/command_line.hpp"

namespace dslash {

std::string name_of(Numbers numbers) {
  return example::name_of_choice(numbers_names, numbers);
}
std::string name_of(Policy policy) {
  return example::name_of_choice(policy_names, policy);
}
std::optional<Policy> policy_named(const std::string& name) {
  const auto found = policy_names.find(name);
  return found == policy_names.end() ? std::nullopt : std::optional(found->second);
}
std::optional<MpiRequests> requests_named(const std::string& name) {
  const auto found = requests_names.find(name);
  return found == requests_names.end() ? std::nullopt : std::optional(found->second);
}

std::string name_of(MpiRequests requests) {
  return example::name_of_choice(requests_names, requests);
}
std::string name_of(Stage stage) {
  return example::name_of_choice(stage_names, stage);
}
std::string name_of(Reduction reduction) {
  return example::name_of_choice(reduction_names, reduction);
}
std::string name_of(Method method) {
  return example::name_of_choice(method_names, method);
}
std::string name_of(Scaling scaling) {
  return example::name_of_choice(scaling_names, scaling);
}
std::string name_of(Gauge gauge) {
  if (gauge == Gauge::file) {
    return "file";
  }
  return example::name_of_choice(gauge_names, gauge);
}

}  // namespace dslash
