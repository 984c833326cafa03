// Every check of the tables has a bundle that fails it and nothing else. One
// row a check: what is wrong, and the words that the message must hold.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/ToyBundle.h"

#include <gtest/gtest.h>

namespace mg::test {
namespace {

using namespace schema;

struct Wrong {
  const char *part;
  std::function<void(BundleT &)> change;
};

LaunchT &firstLaunch(BundleT &b) {
  for (auto &entry : b.entries)
    for (auto &command : entry->commands)
      if (auto *launch = command->op.AsLaunch())
        return *launch;
  std::abort();
}

EntryT &entryOf(BundleT &b, Role role) {
  for (auto &entry : b.entries)
    if (entry->role == role)
      return *entry;
  std::abort();
}

CollectiveT &firstCollective(BundleT &b) {
  return *entryOf(b, Role::Update).commands[0]->op.AsCollective();
}
FillT &firstFill(BundleT &b) {
  return *entryOf(b, Role::AccumulateFirst).commands[0]->op.AsFill();
}

/// Puts a copy into Init.
void addCopy(BundleT &b, Range from, Range to) {
  CopyT copy;
  copy.from = std::make_unique<Range>(from);
  copy.to = std::make_unique<Range>(to);
  auto command = std::make_unique<CommandT>();
  command->op.Set(std::move(copy));
  entryOf(b, Role::Init).commands.push_back(std::move(command));
}

void placeImage(BundleT &b, uint64_t offset, uint64_t bytes) {
  *b.targets[0]->image = Blob(offset, bytes, b.targets[0]->image->crc32c());
}

void setBytes(Range &range, uint64_t bytes) {
  range = Range(range.region(), range.offset(), bytes);
}

template <typename T> void duplicate(std::vector<std::unique_ptr<T>> &list) {
  list.push_back(std::make_unique<T>(*list[0]));
}

void addSlot(BundleT &b, uint32_t variable, uint32_t train) {
  auto slot = std::make_unique<SlotT>();
  slot->array = std::make_unique<ArrayT>(*b.variables[0]->array);
  slot->array->name = "m";
  slot->array->offset = b.state_bytes;
  b.state_bytes += 64;
  slot->variable = variable;
  slot->train = train;
  b.slots.push_back(std::move(slot));
}

void expectRefusals(const std::vector<Wrong> &table) {
  BundleBuilder good = toyBundle({2, 4});
  good.images[0].assign(100, std::byte{1});
  for (const Wrong &wrong : table) {
    TemporaryFile file(good.file(wrong.change));
    auto bundle = mg::Bundle::open(file.path());
    if (bundle) {
      ADD_FAILURE() << "accepted: " << wrong.part;
      continue;
    }
    EXPECT_EQ(bundle.error().code, Code::BadInput);
    EXPECT_NE(bundle.error().message.find(wrong.part), std::string::npos)
        << "no '" << wrong.part << "' in: " << bundle.error().message;
  }
}

TEST(Verify, ChangesThatAreFineAreAccepted) {
  BundleBuilder good = toyBundle({2, 4});
  TemporaryFile file(good.file([](BundleT &b) {
    addSlot(b, 0, 0);
    addCopy(b, Range(Region::Arena, 0, 8),
            Range(Region::State, b.variables[0]->array->offset, 8));
    addCopy(b, Range(Region::Arena, 0, 8), Range(Region::Arena, 64, 8));
  }));
  auto bundle = mg::Bundle::open(file.path());
  EXPECT_TRUE(bundle) << bundle.error().message;
}

TEST(Verify, WrongWholes) {
  expectRefusals({
      {"the model's name is empty", [](BundleT &b) { b.name = ""; }},
      {"holds the control character 0x1b",
       [](BundleT &b) { b.name = "\x1b[2J"; }},
      {"the compiler's version is empty", [](BundleT &b) { b.compiler = ""; }},
      {"a region of 140737488355329 bytes",
       [](BundleT &b) { b.state_bytes = (uint64_t(1) << 47) + 1; }},
      {"a region of 18446744073709551615 bytes",
       [](BundleT &b) { b.arena_bytes = UINT64_MAX; }},
      {"no unit size is listed", [](BundleT &b) { b.units = {}; }},
      {"found 2 after 4", [](BundleT &b) { b.units = {4, 2}; }},
      {"found 0 after 0", [](BundleT &b) { b.units = {0, 4}; }},
      {"no target is listed", [](BundleT &b) { b.targets.clear(); }},
      {"target 0: cpu is empty", [](BundleT &b) { b.targets[0]->cpu = ""; }},
      {"target 0: kind is empty", [](BundleT &b) { b.targets[0]->kind = ""; }},
      {"feature 0: the name is empty",
       [](BundleT &b) { b.targets[0]->features = {""}; }},
      {"target 0: 6 grids for 5 kernels",
       [](BundleT &b) { b.kernels.pop_back(); }},
      {"target 0: grid 0: a side of 0 in 1 x 0 x 1 blocks",
       [](BundleT &b) { b.targets[0]->grids[0] = Grid(1, 0, 1); }},
      {"more than 2^40",
       [](BundleT &b) {
         b.targets[0]->grids[0] = Grid(1u << 20, 1u << 20, 2);
       }},
      {"more than 2^40",
       [](BundleT &b) {
         b.targets[0]->grids[0] = Grid(1u << 31, 1u << 31, 1u << 31);
       }},
      {"more than 2^40",
       [](BundleT &b) { b.targets[0]->grids[0] = Grid(~0u, ~0u, ~0u); }},
      {"the code image is missing",
       [](BundleT &b) { b.targets[0]->image = nullptr; }},
      {"do not fit in a file",
       [](BundleT &b) {
         placeImage(b, b.targets[0]->image->offset(), UINT64_MAX);
       }},
      {"do not fit in a file",
       [](BundleT &b) { placeImage(b, UINT64_MAX - 4095, 100); }},
      {"is not a multiple of 4096",
       [](BundleT &b) { placeImage(b, 8191, 100); }},
      {"lies in the tables", [](BundleT &b) { placeImage(b, 0, 100); }},
      {"constants (offset",
       [](BundleT &b) {
         b.constants = std::make_unique<Blob>(*b.targets[0]->image);
       }},
      {"overlaps image of target", [](BundleT &b) { duplicate(b.targets); }},
      {"the table of control values is missing",
       [](BundleT &b) { b.control = nullptr; }},
      {"control value 'step': offset 4 is",
       [](BundleT &b) { *b.control = Control(64, 4, 128, 192); }},
      {"control value 'rows': 8 bytes",
       [](BundleT &b) { *b.control = Control(0, 64, 128, UINT64_MAX - 7); }},
      {"control value 'seed'",
       [](BundleT &b) { *b.control = Control(0, 64, 0, 192); }},
      {"a second kernel of the name",
       [](BundleT &b) { b.kernels[1]->name = b.kernels[0]->name; }},
      {"kernel 0: the name is empty",
       [](BundleT &b) { b.kernels[0]->name = ""; }},
      {"kernel 0: index 3 of location",
       [](BundleT &b) { b.kernels[0]->location = 3; }},
  });
}

TEST(Verify, WrongArrays) {
  expectRefusals({
      {"variable 0: 'w': dtype 13 does not exist",
       [](BundleT &b) { b.variables[0]->array->dtype = DType(13); }},
      {"variable 0: 'w': dtype 200",
       [](BundleT &b) { b.variables[0]->array->dtype = DType(200); }},
      {"9 bytes, but dtype and shape need 8",
       [](BundleT &b) { b.variables[0]->array->bytes = 9; }},
      {"dimension -1", [](BundleT &b) { b.variables[0]->array->shape = {-1}; }},
      {"more than 2^64 bytes",
       [](BundleT &b) {
         b.variables[0]->array->shape = {int64_t(1) << 40, int64_t(1) << 40};
       }},
      {"is not a multiple of 64",
       [](BundleT &b) { b.variables[0]->array->offset += 8; }},
      {"do not fit in a state region",
       [](BundleT &b) { b.variables[0]->array->offset = uint64_t(1) << 60; }},
      {"do not fit in a state region",
       [](BundleT &b) { b.variables[0]->array->offset = UINT64_MAX - 63; }},
      {"variable 0: the name is empty",
       [](BundleT &b) { b.variables[0]->array->name = ""; }},
      {"a second variable of the name 'w'",
       [](BundleT &b) { duplicate(b.variables); }},
      {"variable 'w' (offset",
       [](BundleT &b) {
         b.inputs[0]->array->offset = b.variables[0]->array->offset;
       }},
      {"variable 0: index -2 of location",
       [](BundleT &b) { b.variables[0]->location = -2; }},
      {"index 0 of location, but there are 0",
       [](BundleT &b) { b.variables[0]->location = 0; }},
      {"input 0: 'x' has 4 rows, expected 8",
       [](BundleT &b) { b.units = {2, 8}; }},
      {"'x' has rows of 5 bytes",
       [](BundleT &b) { b.inputs[0]->row_bytes = 5; }},
      {"'x' has rows of 4611686018427387908 bytes",
       [](BundleT &b) { b.inputs[0]->row_bytes += uint64_t(1) << 62; }},
      {"output 0: 'y' has 0 rows",
       [](BundleT &b) {
         b.outputs[0]->array->shape = {};
         b.outputs[0]->array->bytes = 4;
       }},
      {"slot 0: index 1 of variable", [](BundleT &b) { addSlot(b, 1, 0); }},
      {"slot 0: index 1 of train", [](BundleT &b) { addSlot(b, 0, 1); }},
      {"a second slot of the name 'm'",
       [](BundleT &b) {
         addSlot(b, 0, 0);
         addSlot(b, 0, 0);
       }},
      {"scalar 0: index 4 of train",
       [](BundleT &b) { b.scalars[0]->train = 4; }},
      {"scalar 0: dtype 7",
       [](BundleT &b) { b.scalars[0]->array->dtype = DType::I64; }},
      {"has rank 1, expected 0",
       [](BundleT &b) { b.scalars[0]->array->shape = {1}; }},
  });
}

void setSum(BundleT &b, size_t i, uint64_t offset, uint64_t bytes) {
  b.trains[0]->sums[i] = {DType::F64, offset, bytes};
}

TEST(Verify, WrongTrainsAndPredicts) {
  expectRefusals({
      {"a second train of the name 'fit'",
       [](BundleT &b) { duplicate(b.trains); }},
      {"train 0: input 0: index 2 of input",
       [](BundleT &b) { b.trains[0]->inputs = {2}; }},
      {"the window: the range is missing",
       [](BundleT &b) { b.trains[0]->window = nullptr; }},
      {"the epoch sums: the range is missing",
       [](BundleT &b) { b.trains[0]->epoch = nullptr; }},
      {"must lie in the state region, found Arena",
       [](BundleT &b) {
         b.trains[0]->window = std::make_unique<Range>(Region::Arena, 0, 16);
       }},
      {"do not fit in a state region",
       [](BundleT &b) { setBytes(*b.trains[0]->window, UINT64_MAX); }},
      {"the epoch sums of train 'fit' (offset",
       [](BundleT &b) { setBytes(*b.trains[0]->epoch, 65); }},
      {"sum 0: dtype 7, expected F32 or F64",
       [](BundleT &b) { b.trains[0]->sums[0] = {DType::I64, 0, 16}; }},
      {"sum 1: 16 bytes at offset 8", [](BundleT &b) { setSum(b, 1, 8, 16); }},
      {"sum 0: 12 bytes at offset",
       [](BundleT &b) { setSum(b, 0, b.trains[0]->sums[0].offset(), 12); }},
      {"do not lie, aligned to 64, in the window's",
       [](BundleT &b) {
         setSum(b, 0, b.trains[0]->sums[0].offset(), 1 << 20);
       }},
      {"a sum (offset",
       [](BundleT &b) { b.trains[0]->sums[1] = b.trains[0]->sums[0]; }},
      {"the first metric of 'fit' must be 'loss'",
       [](BundleT &b) { b.trains[0]->metrics.clear(); }},
      {"the first metric of 'fit' must be 'loss'",
       [](BundleT &b) { b.trains[0]->metrics[0]->name = "mse"; }},
      {"a second metric of the name 'loss'",
       [](BundleT &b) { duplicate(b.trains[0]->metrics); }},
      {"window of the metric: 16 bytes",
       [](BundleT &b) { b.trains[0]->metrics[0]->window += 4; }},
      {"window of the metric: 16 bytes",
       [](BundleT &b) { b.trains[0]->metrics[0]->window = 0; }},
      {"epoch sums of the metric: 16 bytes",
       [](BundleT &b) { b.trains[0]->metrics[0]->epoch += 8; }},
      {"evaluation sums of the metric: 16 bytes",
       [](BundleT &b) {
         b.trains[0]->metrics[0]->evaluation = UINT64_MAX - 7;
       }},
      {"window of the check: 16 bytes",
       [](BundleT &b) { b.trains[0]->checks[0]->window = UINT64_MAX - 15; }},
      {"evaluation record of the check: 16 bytes",
       [](BundleT &b) { b.trains[0]->checks[0]->evaluation = 0; }},
      {"overlaps window of the",
       [](BundleT &b) {
         b.trains[0]->checks[0]->window = b.trains[0]->metrics[0]->window;
       }},
      {"check 0: index 9 of location",
       [](BundleT &b) { b.trains[0]->checks[0]->location = 9; }},
      {"a second predict of the name 'y'",
       [](BundleT &b) { duplicate(b.predicts); }},
      {"predict 0: input 1: index 9 of input",
       [](BundleT &b) { b.predicts[0]->inputs = {0, 9}; }},
      {"predict 0: output 0: index 1 of output",
       [](BundleT &b) { b.predicts[0]->outputs = {1}; }},
      {"a check of predict 'y': offset",
       [](BundleT &b) { b.predicts[0]->checks[0]->evaluation += 1; }},
      {"a check of predict 'y'",
       [](BundleT &b) {
         b.predicts[0]->checks[0]->evaluation = b.variables[0]->array->offset;
       }},
  });
}

TEST(Verify, WrongEntries) {
  expectRefusals({
      {"role 6 does not exist",
       [](BundleT &b) { b.entries[0]->role = Role(6); }},
      {"entry 0: Init: owner 0, expected -1",
       [](BundleT &b) { b.entries[0]->owner = 0; }},
      {"Update: index 1 of train",
       [](BundleT &b) { entryOf(b, Role::Update).owner = 1; }},
      {"Predict: index -1 of predict",
       [](BundleT &b) { entryOf(b, Role::Predict).owner = -1; }},
      {"Init: unit 2 is not 0", [](BundleT &b) { b.entries[0]->unit = 2; }},
      {"AccumulateFirst: unit 3 is not a listed unit size",
       [](BundleT &b) { entryOf(b, Role::AccumulateFirst).unit = 3; }},
      {"a second entry for owner 0 and unit 2",
       [](BundleT &b) {
         entryOf(b, Role::Accumulate).role = Role::AccumulateFirst;
       }},
      {"there is no Init entry",
       [](BundleT &b) { b.entries.erase(b.entries.begin()); }},
      {"train 'fit': there is no Update entry",
       [](BundleT &b) { b.entries.pop_back(); }},
      {"unit 2 has only one of",
       [](BundleT &b) { b.entries.erase(b.entries.begin() + 1); }},
      {"command 0: index 7 of location",
       [](BundleT &b) { b.entries[0]->commands[0]->location = 7; }},
      {"launch: index 99 of kernel",
       [](BundleT &b) { firstLaunch(b).kernel = 99; }},
      {"binding 0: region 3 is none of",
       [](BundleT &b) { firstLaunch(b).bindings[0] = Range(Region(3), 0, 8); }},
      {"binding 0: 1 bytes at offset",
       [](BundleT &b) {
         firstLaunch(b).bindings[0] = Range(Region::Arena, b.arena_bytes, 1);
       }},
      {"binding 1: offset 8 is not a multiple of 64",
       [](BundleT &b) {
         firstLaunch(b).bindings[1] = Range(Region::State, 8, 8);
       }},
      {"do not fit in a constant region",
       [](BundleT &b) {
         firstLaunch(b).bindings[0] = Range(Region::Constant, 0, 8);
       }},
      {"do not fit in an arena",
       [](BundleT &b) {
         firstLaunch(b).bindings[0] = Range(Region::Arena, 64, UINT64_MAX);
       }},
  });
}

TEST(Verify, WrongCollectivesCopiesAndFills) {
  expectRefusals({
      {"kind 1 with reduction 0",
       [](BundleT &b) { firstCollective(b).kind = CollectiveKind(1); }},
      {"kind 0 with reduction 4",
       [](BundleT &b) { firstCollective(b).reduction = Reduction(4); }},
      {"dtype 2 cannot be all-reduced",
       [](BundleT &b) { firstCollective(b).dtype = DType::F16; }},
      {"collective: the range is missing",
       [](BundleT &b) { firstCollective(b).range = nullptr; }},
      {"are not a whole number of F64",
       [](BundleT &b) { setBytes(*firstCollective(b).range, 12); }},
      {"only update entries may hold one",
       [](BundleT &b) {
         auto &update = entryOf(b, Role::Update).commands;
         entryOf(b, Role::Accumulate)
             .commands.push_back(std::move(update.front()));
         update.erase(update.begin());
       }},
      {"fill: the range is missing",
       [](BundleT &b) { firstFill(b).to = nullptr; }},
      {"fill: 18446744073709551615 bytes",
       [](BundleT &b) { setBytes(*firstFill(b).to, UINT64_MAX); }},
      {"fill: the range is written but lies in the constant region",
       [](BundleT &b) { *firstFill(b).to = Range(Region::Constant, 0, 0); }},
      {"copy: 8 bytes into 4",
       [](BundleT &b) {
         addCopy(b, Range(Region::Arena, 0, 8), Range(Region::State, 0, 4));
       }},
      {"destination at 0 overlap",
       [](BundleT &b) {
         addCopy(b, Range(Region::Arena, 0, 8), Range(Region::Arena, 0, 8));
       }},
      {"copy: source: 8 bytes",
       [](BundleT &b) {
         addCopy(b, Range(Region::Constant, 0, 8), Range(Region::Arena, 0, 8));
       }},
  });
}

} // namespace
} // namespace mg::test
