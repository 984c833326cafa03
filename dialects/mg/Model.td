// What a model file is made of besides mathematics: models, variables, functions, training, optimizers; and the two ops that the
// compiler adds: mg.get's typed form and mg.launch.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_MODEL_TD
#define MG_MODEL_TD
include "dialects/mg/MgBase.td"

class MG_Structure<string mnemonic, list<Trait> traits = []> : Op<MG_Dialect, mnemonic, traits>;
def MG_Value : AnyTypeOf<[MG_InferType, AnyRankedTensor], "a value of the model">;

def MG_ModelOp : MG_Structure<"model", [Symbol, SymbolTable, NoTerminator, IsolatedFromAbove, NoRegionArguments, SingleBlock]> {
  let summary = "a model: its variables, functions, trainings and what it predicts";
  let description = [{
    ```mlir
    mg.model @line {
      mg.variables @w {slope: f32 = zeros}
      mg.func @predict(%x: tensor<?xf32>) -> tensor<?xf32> {
        %slope = mg.get @w::@slope
        %y = mg.multiply %x, %slope
        mg.return %y
      }
      mg.train @fit(%x: tensor<?xf32>, %target: tensor<?xf32>) {
        %y = mg.call @predict(%x)
        %loss = mg.mean_squared_error %y, %target
        mg.minimize %loss with @sgd {learning_rate = 0.1}
      }
      mg.predict @predict
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
}

def MG_VariablesOp : MG_Structure<"variables", [Symbol]> {
  let summary = "a group of trained arrays with their initializers";
  let description = [{
    `{kernel: 784x512xf32 = glorot_uniform, bias: 512xf32 = zeros}`. Initializers: `zeros`, `ones`, `constant(v)`, `uniform(low, high)`,
    `normal(mean, stddev)`, `truncated_normal(mean, stddev)` (within two stddev), `glorot_uniform`, `glorot_normal`, `he_uniform`, `he_normal`,
    `lecun_uniform`, `lecun_normal` (Keras' definitions: the normal ones are truncated; fan-in and fan-out are the last two dimensions).
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, ArrayAttr:$names, TypeArrayAttr:$types, StrArrayAttr:$initializers, ArrayAttr:$parameters);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

// Names of arguments are names of data and of slots, so they are kept in text.
def MG_NamesArguments : DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>;

class MG_Function<string mnemonic, list<Trait> traits = []>
    : MG_Structure<mnemonic, traits # [Symbol, IsolatedFromAbove, SingleBlock, MG_NamesArguments]> {
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
}
def MG_FuncOp : MG_Function<"func"> {
  let summary = "a function of the model; `?` is the batch, and is the first dimension";
  let hasVerifier = 1;
}
def MG_TrainOp : MG_Function<"train", [NoTerminator]> {
  let summary = "how the model is trained: an objective, metrics, an optimizer; its arguments are the data";
  let hasVerifier = 1;
}
def MG_OptimizerOp : MG_Structure<"optimizer", [Symbol, IsolatedFromAbove, SingleBlock, MG_NamesArguments]> {
  let summary = "an update rule for one variable, written in element-wise ops";
  let description = [{
    `(%p, %g, slot %m = 0, slot %v = 0, %step, scalar %learning_rate = 1.0e-3, …)`: the variable, its gradient, arrays of the variable's shape kept
    between steps with their first values, the step count from 1 (a float of the variable's type), and run-time scalars with defaults. Returns the new variable and the new slots.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$roles, ArrayAttr:$defaults);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}
def MG_ReturnOp : MG_Structure<"return", [Pure, Terminator]> {
  let summary = "the results of a function or optimizer";
  let arguments = (ins Variadic<MG_Value>:$values);
  let assemblyFormat = "$values attr-dict custom<OperandTypes>(ref($values), type($values))";
}
def MG_GetOp : MG_Structure<"get", [Pure]> {
  let summary = "the value of a variable at the start of the step";
  let arguments = (ins SymbolRefAttr:$variable);
  let results = (outs MG_Value:$y);
  let assemblyFormat = "$variable attr-dict custom<ResultType>(type($y))";
}
def MG_CallOp : MG_Structure<"call", [Pure]> {
  let summary = "a call of a function of the model";
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<MG_Value>:$inputs);
  let results = (outs MG_Value:$y);
  let assemblyFormat = "$callee `(` $inputs `)` attr-dict custom<VariadicTypes>(ref($inputs), type($inputs), type($y))";
}
def MG_DenseOp : MG_Structure<"dense", [Pure]> {
  let summary = "a fully connected layer: activation(x·kernel + bias) with the group's `kernel` and, if it has one, `bias`";
  let description = [{The activation is the name of any element-wise op of one operand: relu, tanh, sigmoid, gelu, gelu_tanh, silu …; or softmax.}];
  let arguments = (ins MG_Value:$x, FlatSymbolRefAttr:$variables, OptionalAttr<StrAttr>:$activation);
  let results = (outs MG_Value:$y);
  let assemblyFormat = "$x `,` $variables (`,` custom<Word>($activation)^)? attr-dict custom<Types>(type($x), type($y))";
}
def MG_MetricOp : MG_Structure<"metric"> {
  let summary = "a value a row whose weighted mean is reported under this name";
  let arguments = (ins StrAttr:$name, MG_Value:$x, Optional<MG_Value>:$weight);
  let assemblyFormat = "$name `,` $x (`weight` $weight^)? attr-dict custom<WeightedTypes>(ref($weight), type($x), type($weight))";
}
def MG_MinimizeOp : MG_Structure<"minimize"> {
  let summary = "the objective: the weighted mean, over the valid rows of the global batch, of one value or more a row";
  let arguments = (ins MG_Value:$x, Optional<MG_Value>:$weight, FlatSymbolRefAttr:$optimizer, OptionalAttr<DictionaryAttr>:$scalars);
  let assemblyFormat = "$x (`weight` $weight^)? `with` $optimizer ($scalars^)? attr-dict custom<WeightedTypes>(ref($weight), type($x), type($weight))";
}
def MG_PredictOp : MG_Structure<"predict"> {
  let summary = "what `mgrun predict` computes: a function, then optionally an op of one operand such as softmax";
  let arguments = (ins FlatSymbolRefAttr:$function, OptionalAttr<StrAttr>:$activation);
  let assemblyFormat = "$function custom<OptionalWord>($activation) attr-dict";
}
def MG_IncludeOp : MG_Structure<"include"> {
  let summary = "the optimizers and functions of another file, found beside this one or in --include folders";
  let arguments = (ins StrAttr:$file);
  let assemblyFormat = "$file attr-dict";
}

def MG_LaunchOp : MG_Structure<"launch", [Pure]> {
  let summary = "runs a kernel on whole tensors (after the kernels stage)";
  let description = [{`inplace`: [operand, result] pairs that may share memory: the kernel reads that operand only at the point that it writes.}];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyRankedTensor>:$inputs, OptionalAttr<ArrayAttr>:$inplace);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let assemblyFormat = "$kernel `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)";
}

#endif
