// The mg dialect, its types, and the record that every op is. Start with MG_Op's fields: each fact about an op stands in one of
// them, and mg-tblgen generates shapes, verifier, sharding, loop nest, derivative, docs and tests from it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_BASE_TD
#define MG_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/mg/MgInterfaces.td"

def MG_Dialect : Dialect {
  let name = "mg";
  let cppNamespace = "::mlir::mg";
  let summary = "Compute graphs of dense tensors, with variables, training and optimizers.";
  let description = [{
    A model file is written in this dialect; see `mg.model`. In a model file values have no type: each is `!mg.infer`, and the
    `model` stage fills it in. After that stage every value is a ranked tensor of static shape.
  }];
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
}

def MG_InferType : TypeDef<MG_Dialect, "Infer"> {
  let mnemonic = "infer";
  let summary = "a type that the model stage will infer";
}

class MG_TensorOf<list<Type> elements, string what>
    : AnyTypeOf<[MG_InferType, RankedTensorOf<elements>], "tensor of " # what>;
def MG_Float : MG_TensorOf<[F32, F64, F16, BF16], "f32 or f64">;
def MG_Int : MG_TensorOf<[AnyInteger], "integers">;
def MG_Bool : MG_TensorOf<[I1], "i1">;
def MG_Number : MG_TensorOf<[F32, F64, F16, BF16, AnyInteger], "floats or integers">;

// Operands of equal shape; the model stage inserts broadcasts to make them so.
def MG_Elementwise : NativeOpTrait<"ElementwiseBroadcast"> { let cppNamespace = "::mlir::mg"; }

// Has its second operand as a value or as a number (`by`), and not both.
def MG_SecondOperand : NativeOpTrait<"SecondOperand"> { let cppNamespace = "::mlir::mg"; }

// Reduces the dimensions in `axes`.
def MG_ReducesAxes : NativeOpTrait<"ReducesAxes"> { let cppNamespace = "::mlir::mg"; }
// Prints its result type, or nothing while it is to be inferred.
def MG_SurfaceTyped : NativeOpTrait<"SurfaceTyped"> { let cppNamespace = "::mlir::mg"; }

def MG_ComparisonAttr : I32EnumAttr<"Comparison", "which comparison", [
    I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>, I32EnumAttrCase<"lt", 2>,
    I32EnumAttrCase<"le", 3>, I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>]> {
  let cppNamespace = "::mlir::mg";
}

// One record holds every fact about an op.
class MG_Op<string mnemonic, list<Trait> traits = []>
    : Op<MG_Dialect, mnemonic, traits # [Pure,
        DeclareOpInterfaceMethods<InferTypeOpInterface>,
        DeclareOpInterfaceMethods<MG_MathOpInterface>]> {
  let extraClassDeclaration = "static bool isCompatibleReturnTypes(::mlir::TypeRange a, ::mlir::TypeRange b);";

  // Letters of each operand and result: "mk,kn->mn", "...,...->...", "...c->...; c:max". "Custom": X::customIndex(), which
  // then also gives the shape by X::inferShape(). See RATIONALE D1.
  string index = "Custom";
  // Element type of the result: an operand's name, "i1", "i64", "f64", or "$to" (a type attribute).
  string element = "";
  // Scalar code at one point of the loop nest, over operand names. "Custom": X::customBody(). "": a composite or a view.
  string body = "";
  // One expression an operand ("none": no gradient flows), over operands, results and d_RESULT; earlier entries may be "name = expr".
  // "Custom": X::customVjp().
  list<string> vjp = [];
  // Why there is no derivative. Exactly one of vjp, noGradient and a decomposition that can be differentiated is needed.
  string noGradient = "";
  // A composite's meaning: "name = expr" statements, then the value. "Custom": X::customDecompose().
  list<string> decompose = [];
  // The same outside training (evaluate, predict), where it differs.
  list<string> outsideTraining = [];
  // Operand sets in which the op is linear, other operands fixed: "a|b" (either alone), "a,b" (jointly).
  string linear = "";
  // "labels < logits": the values of `labels` must be valid positions along the last dimension of `logits` ("< table[0]":
  // along dimension 0). A violation stops the step, naming row, value and range.
  string bounds = "";
  // NumPy expression with operands and attributes by name, that tests compare with.
  string reference = "";
  // A call in the model language, and its operands' types: the doc example, compiled and run by the numeric walk.
  string example = "";
  string sample = "";
  // Formula's source, for the docs.
  string source = "";
}

#endif
