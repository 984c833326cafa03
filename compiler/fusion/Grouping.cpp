// Greedy, in program order: an op joins the group of a producer if it works at
// the same points and no cycle arises; then what is only used by one later
// group moves into it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/fusion/Grouping.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallSet.h"
#include <functional>

namespace mlir::mg {

bool isComputed(Operation *op) {
  auto math = dyn_cast<MathOp>(op);
  return math && math.hasBody();
}
bool isStreamed(OpOperand &operand) {
  auto op = cast<MathOp>(operand.getOwner());
  IndexSpec spec = op.getIndexSpec();
  if (op->getNumOperands() == 1 && !op.onlyMoves() &&
      llvm::is_contained(spec.kinds, LetterKind::Opaque))
    return false;
  AffineMap map = spec.operands[operand.getOperandNumber()];
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    auto letter = dyn_cast<AffineDimExpr>(expr);
    if (!letter || spec.extents[letter.getPosition()] !=
                       tensorOf(operand.get()).getDimSize(dim))
      return false;
  }
  return true;
}
bool isFree(Operation *op) {
  // What a view, a collective or the return takes has to be in memory.
  if (!isComputed(op) || llvm::any_of(op->getUses(), [](OpOperand &use) {
        return !isComputed(use.getOwner()) || !isStreamed(use);
      }))
    return false;
  if (op->getNumOperands() == 0)
    return true;
  auto math = cast<MathOp>(op);
  return math.onlyMoves() && tensorOf(op->getResult(0)).getNumElements() >
                                 tensorOf(op->getOperand(0)).getNumElements();
}
bool isReduction(Operation *op) {
  IndexSpec spec = cast<MathOp>(op).getIndexSpec();
  for (unsigned letter = 0; letter < spec.letters.size(); ++letter)
    if (spec.isReduction(letter))
      return true;
  return false;
}
bool isContraction(Operation *op) {
  return isReduction(op) && op->getNumOperands() == 2 &&
         cast<MathOp>(op).isLinearIn(1) && cast<MathOp>(op).isLinearIn(2);
}

namespace {

/// A kernel's code is generated in more than linear time, and one this long has
/// enough work a byte that a store and a load do not show.
constexpr size_t kMostOps = 48;

class Grouping {
public:
  explicit Grouping(Block &block) {
    for (Operation &op : block) {
      findProducers(&op);
      // A view, collective or return is a node of its own, so that order and
      // cycles are seen.
      if (isFree(&op))
        freeOps.insert(&op);
      else
        ops.push_back(&op);
    }
  }

  SmallVector<Group> run() {
    for (Operation *op : ops)
      place(op);
    bool changed = true;
    while (changed) {
      changed = false;
      for (size_t g = 0; g < groups.size(); ++g)
        changed |= sink(g);
    }
    return ordered();
  }

private:
  static ArrayRef<int64_t> shapeOf(Operation *op) {
    return tensorOf(op->getResult(0)).getShape();
  }

  size_t newGroup(Operation *op) {
    groups.emplace_back();
    Group &group = groups.back();
    group.ops.push_back(op);
    if (isComputed(op)) {
      group.root = isReduction(op) ? op : nullptr;
      group.shape.assign(shapeOf(op).begin(), shapeOf(op).end());
    }
    groupOf[op] = groups.size() - 1;
    return groups.size() - 1;
  }

  void place(Operation *op) {
    if (isComputed(op) && !isReduction(op)) {
      // Prefer the group of a root, then the latest.
      std::optional<size_t> best;
      for (Value operand : op->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        auto found = groupOf.find(producer);
        if (found == groupOf.end() || !isComputed(producer))
          continue;
        size_t g = found->second;
        if (ArrayRef<int64_t>(groups[g].shape) == shapeOf(op) &&
            groups[g].ops.size() < kMostOps && usesAtSamePoint(op, producer) &&
            !wouldCycle(op, g) &&
            (!best || (groups[g].root && !groups[*best].root) ||
             (!groups[*best].root && g > *best)))
          best = g;
      }
      if (best) {
        groups[*best].ops.push_back(op);
        groupOf[op] = *best;
        joinOthers(op, *best);
        return;
      }
    }
    newGroup(op);
  }

  /// Point-wise groups of the same shape that feed `op` too become part of its
  /// group.
  void joinOthers(Operation *op, size_t into) {
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      auto found = groupOf.find(producer);
      if (found == groupOf.end() || found->second == into ||
          !isComputed(producer))
        continue;
      size_t g = found->second;
      if (!groups[g].root && groups[g].shape == groups[into].shape &&
          fitTogether(g, into) && usesAtSamePoint(op, producer) &&
          !reachableOutside(g, into) && !loadsFrom(into, g))
        merge(g, into);
    }
  }

  bool fitTogether(size_t a, size_t b) const {
    return groups[a].ops.size() + groups[b].ops.size() <= kMostOps;
  }

  static bool usesAtSamePoint(Operation *op, Operation *producer) {
    IndexSpec spec = cast<MathOp>(op).getIndexSpec();
    for (auto [operand, map] : llvm::zip(op->getOperands(), spec.operands))
      if (operand.getDefiningOp() == producer && map != spec.results.front())
        return false;
    return !readsElsewhere(op);
  }
  /// True if `op` loads some operand itself, which then cannot be computed
  /// in the same kernel.
  static bool readsElsewhere(Operation *op) {
    return llvm::any_of(op->getOpOperands(), [](OpOperand &operand) {
      return !isStreamed(operand);
    });
  }

  /// True if an op of group `g` loads what group `from` makes.
  bool loadsFrom(size_t g, size_t from) const {
    return llvm::any_of(groups[g].ops, [&](Operation *op) {
      return isComputed(op) &&
             llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
               auto made = groupOf.find(operand.get().getDefiningOp());
               return made != groupOf.end() && made->second == from &&
                      !isStreamed(operand);
             });
    });
  }

  void findProducers(Operation *op) {
    llvm::SmallSetVector<Operation *, 4> found;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp()) {
        if (freeOps.contains(producer))
          found.insert_range(producersOf[producer]);
        else
          found.insert(producer);
      }
    producersOf[op].assign(found.begin(), found.end());
  }
  /// The ops that are not free and that `op` takes values from, through free
  /// ops.
  ArrayRef<Operation *> producers(Operation *op) const {
    return producersOf.find(op)->second;
  }
  /// True if `to` is reachable from group `from` by a path through at least one
  /// other group.
  bool reachableOutside(size_t from, size_t to) const {
    // Walk backwards from `to`; direct edges from `from` are fine.
    llvm::SmallSet<size_t, 16> seen;
    SmallVector<size_t> work;
    auto push = [&](Operation *producer, bool direct) {
      auto found = groupOf.find(producer);
      if (found == groupOf.end())
        return false;
      size_t g = found->second;
      if (g == from)
        return !direct;
      if (g != to && seen.insert(g).second)
        work.push_back(g);
      return false;
    };
    bool hit = false;
    for (Operation *op : groups[to].ops)
      for (Operation *producer : producers(op))
        hit |= push(producer, true);
    while (!work.empty() && !hit)
      for (Operation *op : groups[work.pop_back_val()].ops)
        for (Operation *producer : producers(op))
          hit |= push(producer, false);
    return hit;
  }
  /// Would group `g` with `op` in it depend on itself?
  bool wouldCycle(Operation *op, size_t g) const {
    llvm::SmallSet<size_t, 16> seen;
    SmallVector<size_t> work;
    for (Operation *producer : producers(op)) {
      auto found = groupOf.find(producer);
      if (found != groupOf.end() && found->second != g &&
          seen.insert(found->second).second)
        work.push_back(found->second);
    }
    bool hit = false;
    while (!work.empty() && !hit)
      for (Operation *member : groups[work.pop_back_val()].ops)
        for (Operation *producer : producers(member)) {
          auto found = groupOf.find(producer);
          if (found == groupOf.end())
            continue;
          hit |= found->second == g;
          if (seen.insert(found->second).second)
            work.push_back(found->second);
        }
    return hit;
  }

  /// A point-wise group whose values only one later group uses, at any points,
  /// is computed there; a contraction's operands are not, since each element is
  /// used many times.
  bool sink(size_t g) {
    if (groups[g].ops.empty() || groups[g].root ||
        !isComputed(groups[g].ops.front()))
      return false;
    std::optional<size_t> target;
    for (Operation *op : groups[g].ops)
      if (!onlyUser(op, g, target))
        return false;
    if (!target || !isComputed(groups[*target].ops.front()) ||
        !fitTogether(g, *target) || reachableOutside(g, *target))
      return false;
    Group &into = groups[*target];
    if (into.root && isContraction(into.root))
      return false;
    if (!into.root && into.shape != groups[g].shape)
      return false;
    for (Operation *user : into.ops)
      if (readsElsewhere(user))
        return false;
    merge(g, *target);
    return true;
  }
  bool onlyUser(Operation *op, size_t g, std::optional<size_t> &target) const {
    for (Operation *user : op->getUsers()) {
      if (freeOps.contains(user)) {
        if (!onlyUser(user, g, target))
          return false;
        continue;
      }
      auto found = groupOf.find(user);
      if (found == groupOf.end())
        return false;
      if (found->second == g)
        continue;
      if (target && *target != found->second)
        return false;
      target = found->second;
    }
    return true;
  }

  void merge(size_t from, size_t into) {
    for (Operation *op : groups[from].ops) {
      groups[into].ops.push_back(op);
      groupOf[op] = into;
    }
    groups[from].ops.clear();
    llvm::sort(groups[into].ops, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });
  }

  /// Kahn's order, the earliest in the program first.
  SmallVector<Group> ordered() {
    SmallVector<Group> result;
    llvm::SmallSet<size_t, 32> done;
    std::function<void(size_t)> emit = [&](size_t g) {
      if (!done.insert(g).second)
        return;
      for (Operation *op : groups[g].ops)
        for (Operation *producer : producers(op)) {
          auto found = groupOf.find(producer);
          if (found != groupOf.end() && found->second != g)
            emit(found->second);
        }
      if (!groups[g].ops.empty())
        result.push_back(groups[g]);
    };
    for (Operation *op : ops)
      emit(groupOf[op]);
    return result;
  }

  SmallVector<Operation *> ops;
  llvm::DenseSet<Operation *> freeOps;
  llvm::DenseMap<Operation *, SmallVector<Operation *, 0>> producersOf;
  std::vector<Group> groups;
  llvm::DenseMap<Operation *, size_t> groupOf;
};

} // namespace

SmallVector<Group> groupOps(Block &block) { return Grouping(block).run(); }

} // namespace mlir::mg
