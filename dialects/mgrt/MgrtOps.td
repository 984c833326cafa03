// The ops of the scheduled form: the state layout, the entries and their commands.
// Verifiers are in MgrtOps.cpp.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_DIALECTS_MGRT_OPS
#define MG_DIALECTS_MGRT_OPS

include "dialects/mgrt/MgrtBase.td"
include "dialects/mgrt/MgrtInterfaces.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

class Mgrt_Op<string mnemonic, list<Trait> traits = []> :
    Op<Mgrt_Dialect, mnemonic, traits>;

class Mgrt_Command<string mnemonic, list<Trait> traits = []> :
    Mgrt_Op<mnemonic, !listconcat(traits, [
      HasParent<"EntryOp">,
      DeclareOpInterfaceMethods<Mgrt_CommandOpInterface>])>;

def Mgrt_RangeArrayAttr :
    TypedArrayAttrBase<Mgrt_RangeAttr, "array of ranges">;

//===-- The state layout ---------------------------------------------------===//

def Mgrt_StateOp : Mgrt_Op<"state", [
    HasParent<"ModuleOp">, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "the layout of the state region";
  let description = [{
    One a module: the size of the state region and the arrays in it. Arrays
    start at multiples of 64, do not overlap, and (role, name, owner) is unique.

    ```mlir
    mgrt.state 4224 {
      mgrt.array variable "w" : tensor<8x4xf32> at 256
      mgrt.window "fit" sums <state, 384, 256> epoch <state, 640, 64> evaluation <state, 704, 64>
    }
    ```
  }];
  let arguments = (ins I64Attr:$bytes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$bytes attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The layout of `module`, null if it has none yet.
    static StateOp find(::mlir::ModuleOp module);
    /// The array of that role, name and owner, null if there is none.
    ArrayOp findArray(ArrayRole role, ::llvm::StringRef name,
                      ::llvm::StringRef owner);
  }];
}

def Mgrt_ArrayOp : Mgrt_Op<"array", [HasParent<"StateOp">]> {
  let summary = "a named array in the state region";
  let description = [{
    `of` names the `mg.train` (or predicted function) that the array belongs to.
    A type with a signed or unsigned element is the type in the outside world;
    kernels see the same bytes as signless.
  }];
  let arguments = (ins Mgrt_ArrayRole:$role, StrAttr:$array_name,
    OptionalAttr<StrAttr>:$owner, TypeAttrOf<AnyRankedTensor>:$type,
    I64Attr:$offset, UnitAttr:$trainable);
  let assemblyFormat = [{
    $role $array_name (`of` $owner^)? `:` $type `at` $offset
    (`trainable` $trainable^)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType();
    int64_t getByteSize();
    RangeAttr getRange();
  }];
}

def Mgrt_WindowOp : Mgrt_Op<"window", [HasParent<"StateOp">]> {
  let summary = "the ranges of a train that the runtime clears as one";
  let description = [{
    `sums`: gradients, metric and check windows, cleared for a device that has no
    unit in a step. `epoch`, `evaluation`: cleared when one starts.
  }];
  let arguments = (ins StrAttr:$owner, Mgrt_RangeAttr:$sums,
    Mgrt_RangeAttr:$epoch, Mgrt_RangeAttr:$evaluation);
  let assemblyFormat =
    "$owner `sums` $sums `epoch` $epoch `evaluation` $evaluation attr-dict";
}

//===-- Entries and commands -----------------------------------------------===//

def Mgrt_EntryOp : Mgrt_Op<"entry", [
    HasParent<"ModuleOp">, IsolatedFromAbove, Symbol, SingleBlock, NoTerminator,
    NoRegionArguments]> {
  let summary = "a list of commands that a device runs from first to last";
  let description = [{
    `unit` is the number of rows of the unit, 0 for `init` and `update`.
    `arena` is the size of the temporaries' memory and `live` the most bytes of
    temporaries that are in use at once, no packing can be smaller; both are
    absent until the arena is packed, and temporaries are then numbered buffers.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Mgrt_EntryRole:$role,
    OptionalAttr<StrAttr>:$owner, I64Attr:$unit,
    OptionalAttr<I64Attr>:$arena_bytes, OptionalAttr<I64Attr>:$live_bytes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name $role (`of` $owner^)? `unit` $unit (`arena` $arena_bytes^)?
    (`live` $live_bytes^)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Mgrt_LaunchOp : Mgrt_Command<"launch", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs a kernel";
  let description = [{
    The ranges are the kernel's operands, then its results, one each and of the
    same size as the tensor in its signature.

    ```mlir
    mgrt.launch @k0(<state, 0, 128, "w">, <arena, 0, 64, "h">) -> (<arena, 64, 64, "y">) name "y"
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Mgrt_RangeArrayAttr:$reads,
    Mgrt_RangeArrayAttr:$writes, OptionalAttr<StrAttr>:$label);
  let assemblyFormat = [{
    $kernel `` custom<Ranges>($reads) `->` custom<Ranges>($writes)
    (`name` $label^)? attr-dict
  }];
}

def Mgrt_AllReduceOp : Mgrt_Command<"all_reduce"> {
  let summary = "reduces a range over all devices, in place on each";
  let description = [{
    Stands in `update` entries only: no other entry runs at the same point on
    every device. `because` says, for people, what made it necessary.
  }];
  let arguments = (ins Mgrt_Reduction:$reduction, TypeAttr:$dtype,
    Mgrt_RangeAttr:$range, OptionalAttr<StrAttr>:$label,
    OptionalAttr<StrArrayAttr>:$cause);
  let assemblyFormat = [{
    $reduction $dtype $range (`name` $label^)? (`because` $cause^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Mgrt_CopyOp : Mgrt_Command<"copy"> {
  let summary = "copies a range";
  let arguments = (ins Mgrt_RangeAttr:$source, Mgrt_RangeAttr:$target,
    OptionalAttr<StrAttr>:$label);
  let assemblyFormat =
    "$source `to` $target (`name` $label^)? attr-dict";
  let hasVerifier = 1;
}

def Mgrt_FillOp : Mgrt_Command<"fill"> {
  let summary = "sets every byte of a range to one value";
  let arguments = (ins Mgrt_RangeAttr:$target,
    ConfinedAttr<I64Attr, [IntMinValue<0>, IntMaxValue<255>]>:$byte,
    OptionalAttr<StrAttr>:$label);
  let assemblyFormat = "$target `with` $byte (`name` $label^)? attr-dict";
}

#endif // MG_DIALECTS_MGRT_OPS
