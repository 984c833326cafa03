// The passes of the schedule stage, in the order in which they run.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_COMPILER_SCHEDULE_PASSES
#define MG_COMPILER_SCHEDULE_PASSES

include "mlir/Pass/PassBase.td"

def AssignState : Pass<"mg-assign-state", "::mlir::ModuleOp"> {
  let summary = "Give every stored array a fixed offset in the state region";
  let description = [{
    Reads `mg.interface` and adds one `mgrt.state`. The trainable variables of a
    dtype are contiguous, in the order of the interface; gradients and each slot
    lie at equal inner offsets. Gradients, metric windows and check windows of a
    train are one range, so are its epoch sums and its evaluation sums.
  }];
  let dependentDialects = ["::mlir::mgrt::MgrtDialect"];
}

def ScheduleEntries : Pass<"mg-schedule-entries", "::mlir::ModuleOp"> {
  let summary = "Turn entry functions into command lists over memory ranges";
  let description = [{
    Commands keep program order. A value that an entry returns is computed where
    its array lies if nothing reads the array's old value afterwards, else it is
    copied there at the end. A result takes the buffer of an operand that dies at
    its launch where the launch allows it. All other values get numbered
    temporaries. All-reduces work in place: on the window of a train, on a dying
    temporary, or else on a copy.
  }];
  let dependentDialects = ["::mlir::mgrt::MgrtDialect"];
}

def BucketAllReduces : Pass<"mg-bucket-all-reduces", "::mlir::mgrt::EntryOp"> {
  let summary = "Merge all-reduces of adjacent state into one";
  let description = [{
    Two all-reduces of one kind and dtype become one if nothing but padding lies
    between their ranges and one of them can move to the other: no command
    between them touches its range. `max-bytes` bounds a bucket; 0 is no bound.
  }];
  let options = [
    Option<"maxBytes", "max-bytes", "int64_t", /*default=*/"0",
           "Largest merged range, 0 for no bound">
  ];
  let dependentDialects = ["::mlir::mgrt::MgrtDialect"];
}

def PackArena : Pass<"mg-pack-arena", "::mlir::mgrt::EntryOp"> {
  let summary = "Place temporaries at fixed offsets in one arena";
  let description = [{
    Best fit over lifetimes. What was packed is then verified by running the
    command list symbolically (VerifyPacking.cpp), which shares no code with the
    lifetime analysis. `check` puts red zones between buffers and fills memory
    with 0xFF (NaN) before the first command and behind each last use.
  }];
  let options = [
    Option<"check", "check", "bool", /*default=*/"false",
           "Red zones, and NaN in dead memory">,
    Option<"report", "report", "bool", /*default=*/"false",
           "Remark the size against the live-bytes lower bound">
  ];
  let dependentDialects = ["::mlir::mgrt::MgrtDialect"];
}

#endif // MG_COMPILER_SCHEDULE_PASSES
