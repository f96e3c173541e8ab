#include "transports/tune/tune.hpp"

#include <algorithm>
#include <ctime>
#include <memory>
#include <vector>

#include "transports/machine.hpp"
#include "transports/tune/pair.hpp"
#include "transports/tune/questions.hpp"

namespace penstock::transports::tune {
namespace {

using Clock = std::chrono::steady_clock;
using cuda::Link;

/// Time limit for one point, which includes making contexts and pinning memory.
constexpr std::chrono::seconds longest_measurement{20};

/// Two devices of a link; the first sends.
struct Ends {
  Link link;
  int sender;
  int receiver;
};

/// Returns a pair of devices for each link that the machine has, the best first.
std::vector<Ends> ends_of_links(int devices) {
  std::vector<Ends> found;
  for (const Link link : {Link::nvlink, Link::pcie, Link::none, Link::same_device}) {
    for (int pair = 0; pair < devices * devices; ++pair) {
      const Ends ends{link, pair / devices, pair % devices};
      if (cuda::link_between(ends.receiver, ends.sender) != link) continue;
      found.push_back(ends);
      break;
    }
  }
  return found;
}

std::string name_of_ends(const Ends& ends) {
  const std::string sender = "GPU " + std::to_string(ends.sender);
  return ends.link == Link::same_device ? sender : sender + " to GPU " + std::to_string(ends.receiver);
}

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  char text[32] = "";
  if (::localtime_r(&now, &local) != nullptr) std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local);
  return text;
}

/// A question for one pair.
struct Step {
  const Question* question;
  Ends ends;
  std::vector<Point> points;
};

std::string name_of(const Step& step) {
  return name_of_ends(step.ends) + ", " + step.question->what;
}

class Session {
 public:
  Session(const Options& options, const Listener& listener, TuningFile& file)
      : options_(options), listener_(listener), file_(file), deadline_(Clock::now() + options.limit) {}

  void run(const MachineInfo& machine) {
    const std::vector<Step> steps = plan(machine);
    for (const Step& step : steps) all_points_ += step.points.size();
    for (const Step& step : steps) {
      const std::size_t done_then = done_points_ + step.points.size();
      if (pair_ == nullptr || pair_link_ != step.ends.link) {
        pair_ = std::make_unique<Pair>(step.ends.sender, step.ends.receiver);
        pair_link_ = step.ends.link;
      }
      if (Clock::now() < deadline_) answer(step);
      done_points_ = done_then;
    }
    pair_.reset();
    listener_.progress(all_points_, all_points_, "done");
    if (Clock::now() >= deadline_)
      listener_.say("the time was up before all was measured: the rest stays as shipped");
  }

 private:
  [[nodiscard]] std::vector<Step> plan(const MachineInfo& machine) const {
    std::uint64_t most_bytes = options_.quick ? 16u << 20 : 1u << 30;
    for (const DeviceInfo& device : machine.devices)  // other programs may be using it
      most_bytes = std::min<std::uint64_t>(most_bytes, device.memory_bytes / 8);
    std::vector<Step> steps;
    bool is_first = true;
    for (const Ends& ends : ends_of_links(static_cast<int>(machine.devices.size()))) {
      for (const Question& question : questions()) {
        const bool is_due = is_first || question.parameter->of_link != nullptr;
        if (is_due && concerns(question, ends.link))
          steps.push_back({&question, ends, points_of(question, most_bytes)});
      }
      is_first = false;
    }
    return steps;
  }

  void answer(const Step& step) {
    std::vector<Sample> samples;
    for (const Point& point : step.points) {
      if (Clock::now() >= deadline_) return;
      listener_.progress(done_points_++, all_points_, name_of(step));
      const Outcome outcome = measure(*step.question, point);
      if (!outcome.ok) {
        if (Clock::now() < deadline_) complain(step, outcome, "failed");
        pair_ = nullptr;  // its processes may still be running the task
        return;
      }
      if (outcome.transport != step.question->transport) return complain(step, outcome, "not open");
      samples.push_back({point, {outcome.median_ns, outcome.median_ns + point.settings.size()}});
    }
    const Conclusion conclusion = conclude(*step.question, samples, is_whole(*step.question, step.points));
    if (!conclusion.value) return;
    const TuningParameter& parameter = *step.question->parameter;
    file_.entries.push_back({&parameter, parameter.of_link == nullptr ? Link::none : step.ends.link,
                             *conclusion.value, conclusion.remark});
  }

  [[nodiscard]] Outcome measure(const Question& question, const Point& point) {
    Task task{};
    task.from = question.from;
    task.to = question.to;
    task.messages = question.messages;
    task.bytes = point.bytes;
    const Tuning so_far = file_.table();
    for (const std::uint64_t setting : point.settings)
      task.tables[task.variants++] = variant(question, setting, so_far);
    task.least_rounds = options_.quick ? 3 : 9;
    task.most_rounds = options_.quick ? 9 : 199;
    task.enough_ns = options_.quick ? 10'000'000 : 100'000'000;
    return pair_->measure(task,
                          std::min<std::chrono::nanoseconds>(longest_measurement, deadline_ - Clock::now()));
  }

  void complain(const Step& step, const Outcome& outcome, const char* what_of_it) const {
    std::string line =
        name_of(step) + ": " + transports::name_of(step.question->transport) + ' ' + what_of_it;
    if (outcome.what[0] != '\0') line += std::string(" (") + outcome.what;
    if (outcome.detail != 0) line += ", " + std::to_string(outcome.detail);
    if (outcome.what[0] != '\0') line += ')';
    listener_.say(line + "; " + step.question->parameter->name + " stays as shipped");
  }

  const Options& options_;
  const Listener& listener_;
  TuningFile& file_;
  const Clock::time_point deadline_;
  std::unique_ptr<Pair> pair_;
  Link pair_link_ = Link::none;
  std::size_t done_points_ = 0;
  std::size_t all_points_ = 0;
};

}  // namespace

std::string tune(const Options& options, const Listener& listener, TuningFile& file) {
  const MachineInfo machine = survey();
  if (!machine.driver_found) return "libcuda.so.1 was not found";
  if (machine.devices.empty()) return "there is no GPU";
  file = {};
  file.measured = now_text();
  file.driver_version = machine.driver_version;
  for (const DeviceInfo& device : machine.devices) file.gpus.push_back({device.uuid, device.name});
  Session(options, listener, file).run(machine);
  return file.entries.empty() ? "nothing could be measured" : "";
}

}  // namespace penstock::transports::tune
