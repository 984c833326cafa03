// Text of models, variables, functions and optimizers, and what must hold of
// them before anything is inferred.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/mg/Mg.h"

#include "llvm/ADT/StringSet.h"

namespace mlir::mg {

//===-- mg.variables {kernel: 784x512xf32 = glorot_uniform, bias: 512xf32 =
// constant(0.1)}

static ParseResult parseNumber(OpAsmParser &parser, double &number) {
  bool negative = succeeded(parser.parseOptionalMinus());
  int64_t integer;
  OptionalParseResult whole = parser.parseOptionalInteger(integer);
  if (whole.has_value()) {
    number = (double)integer;
    if (failed(*whole))
      return failure();
  } else if (parser.parseFloat(number)) {
    return failure();
  }
  if (negative)
    number = -number;
  return success();
}

static ParseResult parseVariable(OpAsmParser &parser,
                                 SmallVectorImpl<Attribute> &names,
                                 SmallVectorImpl<Attribute> &types,
                                 SmallVectorImpl<Attribute> &initializers,
                                 SmallVectorImpl<Attribute> &parameters) {
  Builder &builder = parser.getBuilder();
  StringRef name, initializer;
  SmallVector<int64_t> shape;
  Type element;
  SmallVector<double> values;
  if (parser.parseKeyword(&name) || parser.parseColon() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false,
                                /*withTrailingX=*/true) ||
      parser.parseType(element) || parser.parseEqual() ||
      parser.parseKeyword(&initializer))
    return failure();
  auto one = [&]() -> ParseResult {
    return parseNumber(parser, values.emplace_back());
  };
  if (succeeded(parser.parseOptionalLParen()) &&
      (parser.parseCommaSeparatedList(one) || parser.parseRParen()))
    return failure();
  names.push_back(builder.getStringAttr(name));
  types.push_back(TypeAttr::get(RankedTensorType::get(shape, element)));
  initializers.push_back(builder.getStringAttr(initializer));
  parameters.push_back(builder.getDenseF64ArrayAttr(values));
  return success();
}

ParseResult VariablesOp::parse(OpAsmParser &parser, OperationState &state) {
  StringAttr symbol;
  SmallVector<Attribute> names, types, initializers, parameters;
  auto one = [&] {
    return parseVariable(parser, names, types, initializers, parameters);
  };
  if (parser.parseSymbolName(symbol, getSymNameAttrName(state.name),
                             state.attributes) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes) ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Braces, one))
    return failure();
  Builder &builder = parser.getBuilder();
  state.addAttribute(getNamesAttrName(state.name), builder.getArrayAttr(names));
  state.addAttribute(getTypesAttrName(state.name), builder.getArrayAttr(types));
  state.addAttribute(getInitializersAttrName(state.name),
                     builder.getArrayAttr(initializers));
  state.addAttribute(getParametersAttrName(state.name),
                     builder.getArrayAttr(parameters));
  return success();
}

static void printNumber(OpAsmPrinter &printer, FloatType type, double number) {
  FloatAttr attr = FloatAttr::get(type, number);
  printer.printAttributeWithoutType(attr);
}

void VariablesOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << " {";
  llvm::interleaveComma(
      llvm::seq<size_t>(0, getNames().size()), printer, [&](size_t i) {
        auto type =
            cast<RankedTensorType>(cast<TypeAttr>(getTypes()[i]).getValue());
        printer << cast<StringAttr>(getNames()[i]).getValue() << ": ";
        for (int64_t extent : type.getShape())
          printer << extent << 'x';
        printer << type.getElementType() << " = "
                << cast<StringAttr>(getInitializers()[i]).getValue();
        ArrayRef<double> values =
            cast<DenseF64ArrayAttr>(getParameters()[i]).asArrayRef();
        if (values.empty())
          return;
        printer << '(';
        llvm::interleaveComma(values, printer, [&](double value) {
          printNumber(printer, Float64Type::get(getContext()), value);
        });
        printer << ')';
      });
  printer << '}';
}

LogicalResult VariablesOp::verify() {
  llvm::StringSet<> seen;
  for (auto [name, type] : llvm::zip(getNames(), getTypes())) {
    StringRef text = cast<StringAttr>(name).getValue();
    if (!seen.insert(text).second)
      return emitOpError() << "has two variables named '" << text << "'";
    auto array = cast<RankedTensorType>(cast<TypeAttr>(type).getValue());
    if (array.getNumElements() == 0 || !fitsInMemory(array.getShape()))
      return emitOpError() << "variable '" << text << "' is a " << array
                           << ", expected 1 to 2^40 elements";
    Type element = array.getElementType();
    if (!element.isF32() && !element.isF64())
      return emitOpError() << "variable '" << text << "' has element type "
                           << element << ", expected f32 or f64";
  }
  return success();
}

//===-- mg.func and mg.train: (%x: tensor<?x3xf32>, …) -> type {…}

/// The argument's name becomes part of its location, from where passes and
/// printers take it; numbers are no names.
static void keepName(OpAsmParser &parser, OpAsmParser::Argument &argument) {
  StringRef name = argument.ssaName.name.drop_front();
  if (name.empty() || isdigit(name.front()))
    return;
  argument.sourceLoc =
      NameLoc::get(parser.getBuilder().getStringAttr(name),
                   parser.getEncodedSourceLoc(argument.ssaName.location));
}
static void nameArguments(Region &body, OpAsmSetValueNameFn setName) {
  for (BlockArgument argument : body.getArguments())
    if (auto name = dyn_cast<NameLoc>(argument.getLoc()))
      setName(argument, name.getName());
}
void FuncOp::getAsmBlockArgumentNames(Region &body,
                                      OpAsmSetValueNameFn setName) {
  nameArguments(body, setName);
}
void TrainOp::getAsmBlockArgumentNames(Region &body,
                                       OpAsmSetValueNameFn setName) {
  nameArguments(body, setName);
}

static ParseResult parseFunction(OpAsmParser &parser, OperationState &state,
                                 StringAttr symbolName, StringAttr typeName) {
  StringAttr symbol;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Type> inputs, outputs;
  if (parser.parseSymbolName(symbol, symbolName, state.attributes) ||
      parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren,
                               /*allowType=*/true) ||
      parser.parseOptionalArrowTypeList(outputs))
    return failure();
  for (OpAsmParser::Argument &argument : arguments) {
    inputs.push_back(argument.type);
    keepName(parser, argument);
    argument.type = InferType::get(parser.getContext());
  }
  state.addAttribute(
      typeName,
      TypeAttr::get(parser.getBuilder().getFunctionType(inputs, outputs)));
  return parser.parseRegion(*state.addRegion(), arguments);
}
static void printFunction(OpAsmPrinter &printer, StringRef name,
                          FunctionType type, Region &body) {
  printer << ' ';
  printer.printSymbolName(name);
  printer << '(';
  llvm::interleaveComma(llvm::zip(body.getArguments(), type.getInputs()),
                        printer, [&](auto pair) {
                          printer << std::get<0>(pair) << ": "
                                  << std::get<1>(pair);
                        });
  printer << ')';
  printer.printOptionalArrowTypeList(type.getResults());
  printer << ' ';
  printer.printRegion(body, /*printEntryBlockArgs=*/false);
}
ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &state) {
  return parseFunction(parser, state, getSymNameAttrName(state.name),
                       getFunctionTypeAttrName(state.name));
}
void FuncOp::print(OpAsmPrinter &printer) {
  printFunction(printer, getSymName(), cast<FunctionType>(getFunctionType()),
                getBody());
}
ParseResult TrainOp::parse(OpAsmParser &parser, OperationState &state) {
  return parseFunction(parser, state, getSymNameAttrName(state.name),
                       getFunctionTypeAttrName(state.name));
}
void TrainOp::print(OpAsmPrinter &printer) {
  printFunction(printer, getSymName(), cast<FunctionType>(getFunctionType()),
                getBody());
}

/// Arguments are ranked tensors of supported elements; only the first dimension
/// may be `?`.
static LogicalResult verifyArguments(Operation *op, FunctionType type,
                                     Region &body) {
  if (type.getNumInputs() != body.getNumArguments())
    return op->emitOpError() << "has " << body.getNumArguments()
                             << " arguments, its type " << type.getNumInputs();
  for (auto [i, input] : llvm::enumerate(type.getInputs())) {
    auto tensor = dyn_cast<RankedTensorType>(input);
    if (!tensor)
      return op->emitOpError()
             << "argument #" << i << " has type " << input
             << ", expected a tensor such as tensor<?x28x28xui8>";
    for (int64_t extent :
         tensor.getShape().drop_front(tensor.getRank() ? 1 : 0))
      if (ShapedType::isDynamic(extent))
        return op->emitOpError()
               << "argument #" << i << " has type " << input
               << ": only the first dimension, the batch, may be `?`";
    if (!fitsInMemory(tensor.getShape().drop_front(tensor.getRank() ? 1 : 0)))
      return op->emitOpError() << "argument #" << i << " has type " << input
                               << ", expected at most 2^40 elements a row";
  }
  return success();
}
LogicalResult FuncOp::verify() {
  auto type = cast<FunctionType>(getFunctionType());
  if (failed(verifyArguments(*this, type, getBody())))
    return failure();
  auto result = dyn_cast<ReturnOp>(getBody().front().getTerminator());
  if (!result)
    return emitOpError("must end in mg.return");
  if (result.getValues().size() != type.getNumResults())
    return result.emitOpError()
           << "returns " << result.getValues().size()
           << " values, the function's type has " << type.getNumResults();
  return success();
}
/// Names are keys of mgrun's JSON lines, beside val_NAME and test_NAME.
static LogicalResult verifyMetricName(MetricOp metric) {
  StringRef name = metric.getName();
  if (name.empty() || llvm::any_of(name, [](char c) { return !isprint(c); }))
    return metric.emitOpError(
        "name: expected one or more printable ASCII characters");
  if (name.starts_with("val_") || name.starts_with("test_"))
    return metric.emitOpError()
           << "name \"" << name
           << "\": names that begin with val_ or test_ are kept for what is "
              "measured on validation and test data";
  return success();
}
LogicalResult TrainOp::verify() {
  if (failed(verifyArguments(*this, cast<FunctionType>(getFunctionType()),
                             getBody())))
    return failure();
  llvm::StringSet<> metrics;
  MinimizeOp objective;
  for (Operation &op : getBody().front()) {
    if (auto metric = dyn_cast<MetricOp>(op)) {
      if (failed(verifyMetricName(metric)))
        return failure();
      if (metric.getName() == "loss" ||
          !metrics.insert(metric.getName()).second)
        return metric.emitOpError()
               << "name \"" << metric.getName() << "\" is taken"
               << (metric.getName() == "loss" ? " by the objective" : "");
    }
    if (auto minimize = dyn_cast<MinimizeOp>(op)) {
      if (objective)
        return minimize
                   .emitOpError("is the second objective; one mg.train has one")
                   .attachNote(objective.getLoc())
               << "the first is here";
      objective = minimize;
    }
  }
  return objective ? success()
                   : emitOpError(
                         "has no objective: add mg.minimize %loss with @adam");
}

//===-- mg.optimizer @adam(%p, %g, slot %m = 0, slot %v = 0, %step, scalar
//%learning_rate = 1.0e-3)

ParseResult OptimizerOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  StringAttr symbol;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Attribute> roles, defaults;
  auto one = [&]() -> ParseResult {
    StringRef role = "value";
    double value = 0;
    if (succeeded(parser.parseOptionalKeyword("slot")))
      role = "slot";
    else if (succeeded(parser.parseOptionalKeyword("scalar")))
      role = "scalar";
    if (parser.parseArgument(arguments.emplace_back()))
      return failure();
    arguments.back().type = InferType::get(parser.getContext());
    keepName(parser, arguments.back());
    if (role != "value" && (parser.parseEqual() || parseNumber(parser, value)))
      return failure();
    roles.push_back(builder.getStringAttr(role));
    defaults.push_back(builder.getF64FloatAttr(value));
    return success();
  };
  if (parser.parseSymbolName(symbol, getSymNameAttrName(state.name),
                             state.attributes) ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, one))
    return failure();
  // Argument names matter: a slot's and scalar's is its name in checkpoints and
  // on the command line.
  for (auto [role, argument] : llvm::zip(roles, arguments))
    if (cast<StringAttr>(role).getValue() == "value") {
      StringRef name = argument.ssaName.name.drop_front();
      role = builder.getStringAttr(name);
    }
  SmallVector<Attribute> named;
  for (auto [role, argument] : llvm::zip(roles, arguments)) {
    StringRef text = cast<StringAttr>(role).getValue(),
              name = argument.ssaName.name.drop_front();
    named.push_back(text == "slot" || text == "scalar"
                        ? Attribute(builder.getStringAttr(text + " " + name))
                        : role);
  }
  state.addAttribute(getRolesAttrName(state.name), builder.getArrayAttr(named));
  state.addAttribute(getDefaultsAttrName(state.name),
                     builder.getArrayAttr(defaults));
  return parser.parseRegion(*state.addRegion(), arguments);
}

void OptimizerOp::getAsmBlockArgumentNames(Region &body,
                                           OpAsmSetValueNameFn setName) {
  for (auto [role, argument] : llvm::zip(getRoles(), body.getArguments())) {
    auto [kind, name] = cast<StringAttr>(role).getValue().split(' ');
    setName(argument, name.empty() ? kind : name);
  }
}

void OptimizerOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << '(';
  llvm::interleaveComma(
      llvm::seq<size_t>(0, getRoles().size()), printer, [&](size_t i) {
        auto [kind, name] =
            cast<StringAttr>(getRoles()[i]).getValue().split(' ');
        if (!name.empty())
          printer << kind << ' ';
        printer << getBody().getArgument(i);
        if (name.empty())
          return;
        printer << " = ";
        printNumber(printer, Float64Type::get(getContext()),
                    cast<FloatAttr>(getDefaults()[i]).getValueAsDouble());
      });
  printer << ") ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult OptimizerOp::verify() {
  size_t slots = 0;
  llvm::StringSet<> seen;
  for (Attribute role : getRoles()) {
    StringRef text = cast<StringAttr>(role).getValue();
    auto [kind, name] = text.split(' ');
    slots += kind == "slot";
    if (!seen.insert(name.empty() ? kind : name).second)
      return emitOpError() << "names '" << (name.empty() ? kind : name)
                           << "' twice";
    if (name.empty() && kind != "p" && kind != "g" && kind != "step")
      return emitOpError()
             << "argument '%" << kind
             << "' is neither %p (the variable), %g (its gradient) nor %step; "
                "write `slot` or `scalar` before it";
  }
  for (StringRef needed : {"p", "g"})
    if (!seen.contains(needed))
      return emitOpError() << "lacks %" << needed
                           << (needed == "p" ? ", the variable"
                                             : ", its gradient");
  auto result = dyn_cast<ReturnOp>(getBody().front().getTerminator());
  if (!result)
    return emitOpError("must end in mg.return");
  if (result.getValues().size() != slots + 1)
    return result.emitOpError()
           << "returns " << result.getValues().size() << " values, expected "
           << slots + 1 << ": the variable and " << slots << " slots";
  return success();
}

} // namespace mlir::mg
