// One step is one window of the epoch's order; the last of an epoch may be
// short.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/TrainLoop.h"
#include "runtime/checkpoint/StateTable.h"
#include "runtime/train/BadRow.h"
#include "runtime/train/Evaluation.h"

#include <algorithm>

namespace mg {

/// "1, 2 or 4": the device counts that get subtrees of these units.
static std::string subtreeCounts(Dealing dealing) {
  std::vector<int64_t> counts{1};
  const auto units = static_cast<uint64_t>(dealing.units());
  for (uint64_t share = std::bit_floor(units); share > 0; share /= 2)
    if (units % share == 0 && units > share)
      counts.push_back(static_cast<int64_t>(units / share));
  const int64_t last = counts.back();
  counts.pop_back();
  return counts.empty()
             ? fmt::format("{}", last)
             : fmt::format("{} or {}", fmt::join(counts, ", "), last);
}

Expected<Dealing> trainDealing(const Session &session, int64_t globalBatch) {
  const std::span<const uint32_t> sizes = session.unitSizes();
  const int devices = session.deviceCount();
  const int64_t window =
      globalBatch > 0 ? globalBatch : int64_t{devices} * sizes.back();
  const Dealing dealing{devices, chooseUnitRows(sizes, window, devices),
                        window};
  if (session.isDeterministic() && !dealing.dealsSubtrees())
    return failure(Code::InvalidArgument,
                   "deterministic sums of {} units of {} rows (a global batch "
                   "of {}) need {} devices, found {}",
                   dealing.units(), dealing.unitRows, window,
                   subtreeCounts(dealing), devices);
  return dealing;
}

static double meanBusy(const Session &session) {
  double sum = 0;
  for (int device = 0; device < session.deviceCount(); ++device)
    sum += session.times(device).busy;
  return sum / session.deviceCount();
}

TrainLoop::TrainLoop(Session &opened, const TrainPlan &what,
                     const Dealing &deal, Report &reportTo,
                     const std::atomic<bool> &stopFlag)
    : session(opened), plan(what), report(reportTo), stop(stopFlag),
      table(*opened.bundle().tables().trains()->Get(
          static_cast<flatbuffers::uoffset_t>(what.train))),
      dealing(deal) {
  start = plan.start.row < plan.training.rows
              ? plan.start
              : Position{plan.start.epoch + 1, 0}; // rows were more then
  outcome.position = start;
}

int64_t TrainLoop::lastEpoch() const {
  if (plan.epochs > 0)
    return plan.resume ? plan.epochs : start.epoch + plan.epochs;
  const int64_t perEpoch = dealing.windowsOf(plan.training.rows);
  const int64_t done = start.row / dealing.windowRows;
  return start.epoch + (done + plan.steps + perEpoch - 1) / perEpoch;
}

Expected<TrainOutcome> TrainLoop::run() {
  if (plan.resume && start.epoch >= lastEpoch())
    return failure(Code::InvalidArgument,
                   "the run to go on with has {} of {} epochs behind it: ask "
                   "for more epochs",
                   start.epoch, lastEpoch());
  while (outcome.position.epoch < lastEpoch() && !limitReached() && !stop)
    MG_TRY(runEpoch());
  outcome.interrupted = stop;
  return std::move(outcome);
}

Status TrainLoop::runEpoch() {
  epochBegin = std::chrono::steady_clock::now();
  epochBeginSteps = outcome.steps;
  epochBeginBusy = meanBusy(session);
  const int64_t rows = plan.training.rows, epoch = outcome.position.epoch;
  report.epochBegins(epoch + 1, lastEpoch());
  shuffleRows(plan.shuffle, rows, session.seed(), epoch, order);
  if (!plan.resume || outcome.position.row == 0)
    session.clearEpoch(plan.train);
  Gather gather(plan.training, dealing, order);
  int64_t first = outcome.position.row;
  for (; first < rows && !limitReached(); first += dealing.windowRows) {
    if (stop)
      return {};
    MG_TRY(runWindow(gather, first));
    outcome.position.row = std::min(rows, first + dealing.windowRows);
  }
  if (outcome.position.row == rows)
    outcome.position = {epoch + 1, 0};
  outcome.metrics = means(&Session::epochSums);
  MG_TRY(validate(outcome.metrics));
  const std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - epochBegin;
  report.epochEnds({epoch + 1, lastEpoch(),
                    dealing.windowsOf(std::min(first, rows)),
                    dealing.windowsOf(rows), seconds.count(), outcome.metrics});
  return {};
}

Status TrainLoop::runWindow(Gather &gather, int64_t first) {
  gather.setWindow(first,
                   std::min(dealing.windowRows, plan.training.rows - first));
  MG_TRY_ASSIGN(found,
                session.step(plan.train,
                             static_cast<uint32_t>(dealing.unitRows), gather));
  if (found.check >= 0)
    return tl::unexpected<Error>(badRow(found, *table.checks(), *table.inputs(),
                                        session.bundle().tables(),
                                        *plan.training.set, gather));
  ++outcome.steps;
  if (plan.checkReplicas > 0 && outcome.steps % plan.checkReplicas == 0)
    MG_TRY(checkReplicas(session));
  reportStep(first);
  return {};
}

ProgressFacts TrainLoop::progress(int64_t first) const {
  const std::chrono::duration<double> time =
      std::chrono::steady_clock::now() - epochBegin;
  ProgressFacts facts;
  facts.inEpoch = first / dealing.windowRows + 1;
  facts.ofEpoch = dealing.windowsOf(plan.training.rows);
  facts.steps = outcome.steps - epochBeginSteps;
  facts.seconds = time.count();
  facts.busy = (meanBusy(session) - epochBeginBusy) / time.count();
  facts.metrics = means(&Session::epochSums);
  return facts;
}

void TrainLoop::reportStep(int64_t first) {
  const bool wantsMetrics = report.wantsStepMetrics(outcome.steps),
             wantsProgress = report.wantsProgress();
  if (!wantsMetrics && !wantsProgress && !plan.onStep)
    return; // the usual step reads no sums and allocates nothing
  StepFacts facts;
  facts.step = session.stepCount();
  if (wantsMetrics)
    facts.metrics = means(&Session::stepSums);
  if (wantsProgress)
    facts.progress = progress(first);
  report.step(facts);
  if (!plan.onStep)
    return;
  std::vector<double> values;
  for (uint32_t metric = 0; metric < table.metrics()->size(); ++metric)
    values.push_back(
        session.stepSums(plan.train, static_cast<int>(metric)).mean());
  plan.onStep(facts.step, values);
}

/// A stop request during validation ends the run as one during a step does: the
/// epoch's training is done.
Status TrainLoop::validate(std::vector<MetricValue> &metrics) {
  if (!plan.validation)
    return {};
  Expected<std::vector<MetricValue>> found =
      evaluateRows(session, plan.train, plan.validation, "val_", stop);
  if (!found && found.error().code == Code::Interrupted)
    return {};
  if (!found)
    return tl::unexpected<Error>(std::move(found).error());
  metrics.insert(metrics.end(), found->begin(), found->end());
  return {};
}

std::vector<MetricValue>
TrainLoop::means(Session::Sums (Session::*sums)(int, int) const) const {
  std::vector<MetricValue> values;
  for (const schema::Metric *metric : *table.metrics())
    values.push_back(
        {metric->name()->str(),
         (session.*sums)(plan.train, static_cast<int>(values.size())).mean()});
  return values;
}

} // namespace mg
