#include "examples/particles/vessels.hpp"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "examples/support/philox.hpp"

namespace particles {
namespace {

double random_part(std::uint32_t vessel, std::uint32_t purpose, std::uint64_t seed) {
  return example::philox({{vessel, purpose, 0, 4}}, seed).word[0] / 4294967296.0;
}

/// A unit vector across a direction, turned by an angle.
Vector across(Vector direction, double angle) {
  const Vector least = std::abs(direction.x) < 0.6 ? Vector{1, 0, 0} : Vector{0, 1, 0};
  const Vector first = least - dot(least, direction) * direction;
  const Vector unit = 1 / length(first) * first;
  const Vector second{direction.y * unit.z - direction.z * unit.y,
                      direction.z * unit.x - direction.x * unit.z,
                      direction.x * unit.y - direction.y * unit.x};
  return std::cos(angle) * unit + std::sin(angle) * second;
}

/// Adds a vessel and those that branch off it. By Murray's law the cubes of the radii of two branches add up
/// to that of their parent, and the angles cost the least work: cos = (r⁴ + own⁴ − other⁴) / (2 r² own²).
/// Each is as long, over its radius, as the first.
class Tree {
 public:
  explicit Tree(const Options& options) : options_(options), long_(options.size[0] / options.radii[0]) {
    grow(1, {0, 0, 0}, {1, 0, 0}, options.radii[0], options.depth);
  }
  [[nodiscard]] std::vector<Capsule>& capsules() { return capsules_; }

 private:
  static constexpr double taper = 0.9;

  void grow(std::uint32_t vessel, Vector from, Vector direction, double radius, int depth) {
    const double end = taper * radius;
    const Vector to = from + long_ * radius * direction;
    capsules_.push_back({from, to, radius, end});
    if (depth == 0) {
      return;
    }
    const double share = 0.35 + 0.3 * random_part(vessel, 0, options_.seed);
    constexpr double full_turn = 6.283185307179586;
    const Vector aside = across(direction, full_turn * random_part(vessel, 1, options_.seed));
    const double radii[2] = {end * std::cbrt(share), end * std::cbrt(1 - share)};
    for (int branch = 0; branch < 2; ++branch) {
      const double own = radii[branch];
      const double other = radii[1 - branch];
      const double cosine =
          (std::pow(end, 4) + std::pow(own, 4) - std::pow(other, 4)) / (2 * end * end * own * own);
      const double sine = std::sqrt(1 - std::min(cosine * cosine, 1.0)) * (branch == 0 ? 1 : -1);
      grow(2 * vessel + static_cast<std::uint32_t>(branch), to, cosine * direction + sine * aside, own,
           depth - 1);
    }
  }

  const Options& options_;
  double long_;
  std::vector<Capsule> capsules_;
};

/// What is wrong in a file, with the place in the document.
struct FileError {
  std::string text;
};

double number_at(const nlohmann::json& document, const std::string& path) {
  const nlohmann::json::json_pointer pointer(path);
  if (!document.contains(pointer) || !document.at(pointer).is_number()) {
    throw FileError{path + ": expected a number"};
  }
  return document.at(pointer).get<double>();
}

Vector vector_at(const nlohmann::json& document, const std::string& path) {
  return {number_at(document, path + "/0"), number_at(document, path + "/1"),
          number_at(document, path + "/2")};
}

double radius_at(const nlohmann::json& document, const std::string& path) {
  const double radius = number_at(document, path);
  if (!(radius > 0)) {
    throw FileError{path + ": a radius is larger than 0, and this is " +
                    document.at(nlohmann::json::json_pointer(path)).dump()};
  }
  return radius;
}

std::vector<Capsule> read_capsules(const std::string& file_name) {
  std::ifstream file(file_name);
  if (!file) {
    throw FileError{"cannot read it"};
  }
  const nlohmann::json document = nlohmann::json::parse(file, nullptr, false);
  if (document.is_discarded()) {
    throw FileError{"it is not JSON"};
  }
  if (!document.is_object() || !document.contains("capsules") || !document["capsules"].is_array() ||
      document["capsules"].empty()) {
    throw FileError{"/capsules: expected a list of capsules"};
  }
  std::vector<Capsule> capsules;
  for (std::size_t index = 0; index < document["capsules"].size(); ++index) {
    const std::string path = "/capsules/" + std::to_string(index);
    capsules.push_back({vector_at(document, path + "/from"), vector_at(document, path + "/to"),
                        radius_at(document, path + "/radii/0"), radius_at(document, path + "/radii/1")});
  }
  return capsules;
}

/// What no particle could pass, or no formula holds for, or nothing.
std::string complaint_of(const std::vector<Capsule>& capsules) {
  for (std::size_t index = 0; index < capsules.size(); ++index) {
    const Capsule& capsule = capsules[index];
    const double thinnest = std::min(capsule.from_radius, capsule.to_radius);
    if (!(2 * thinnest >= 1)) {
      return "the cutoff, 1, is larger than a vessel of radius " + std::to_string(thinnest) + " (capsule " +
             std::to_string(index) + ")";
    }
    if (!(length(capsule.to - capsule.from) > std::abs(capsule.from_radius - capsule.to_radius))) {
      return "capsule " + std::to_string(index) + " is not longer than its radii differ";
    }
  }
  // Those that touch the first, and those that touch these, and so on: an end of one is no further from the
  // other than its radius.
  std::vector<bool> is_joined(capsules.size());
  std::vector<std::size_t> next{0};
  is_joined[0] = true;
  const auto touches = [](const Capsule& one, const Capsule& other) {
    return surface_of(one, other.from).distance < other.from_radius ||
           surface_of(one, other.to).distance < other.to_radius;
  };
  while (!next.empty()) {
    const Capsule& joined = capsules[next.back()];
    next.pop_back();
    for (std::size_t index = 0; index < capsules.size(); ++index) {
      if (!is_joined[index] && (touches(joined, capsules[index]) || touches(capsules[index], joined))) {
        is_joined[index] = true;
        next.push_back(index);
      }
    }
  }
  const auto alone = std::find(is_joined.begin(), is_joined.end(), false);
  return alone == is_joined.end()
             ? std::string{}
             : "capsule " + std::to_string(alone - is_joined.begin()) + " touches none of those before it";
}

}  // namespace

Vessels make_vessels(const Options& options) {
  Vessels vessels;
  try {
    if (!options.geometry.empty()) {
      vessels.capsules = read_capsules(options.geometry);
    } else if (options.shape == Shape::tree) {
      vessels.capsules = std::move(Tree(options).capsules());
    } else {
      vessels.capsules.push_back({{0, 0, 0}, {options.size[0], 0, 0}, options.radii[0], options.radii[1]});
    }
    vessels.complaint = complaint_of(vessels.capsules);
  } catch (const FileError& error) {
    vessels.complaint = error.text;
  }
  if (!vessels.complaint.empty() && !options.geometry.empty()) {
    vessels.complaint = options.geometry + ": " + vessels.complaint;
  }
  return vessels;
}

}  // namespace particles
