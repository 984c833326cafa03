// The mg dialect: registration and the shared `custom<Types>` directive.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/mg/Rules.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mg;

#include "dialects/mg/MgDialect.cpp.inc"
#include "dialects/mg/MgEnums.cpp.inc"
#include "dialects/mg/MgInterfaces.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/mg/MgTypes.cpp.inc"

//===-- Types in text: none while they are !mg.infer, else ": operands ->
// result"

static Type inferred(OpAsmParser &parser) {
  return InferType::get(parser.getContext());
}
static bool isOpen(Type type) { return !type || isa<InferType>(type); }

/// Parses ": a, b -> y" into `types` (the last is the result), or leaves all
/// `!mg.infer`.
static ParseResult parseTypeList(OpAsmParser &parser, ArrayRef<Type *> types) {
  if (failed(parser.parseOptionalColon())) {
    for (Type *type : types)
      *type = inferred(parser);
    return success();
  }
  for (Type *type : types.drop_back())
    if (parser.parseType(*type) ||
        (type != types.drop_back().back() && parser.parseComma()))
      return failure();
  return failure(parser.parseArrow() || parser.parseType(*types.back()));
}
static void printTypeList(OpAsmPrinter &printer, ArrayRef<Type> types) {
  if (llvm::any_of(types, isOpen))
    return;
  printer << ": ";
  llvm::interleaveComma(types.drop_back(), printer);
  printer << " -> " << types.back();
}

static ParseResult parseTypes(OpAsmParser &parser, Type &x, Type &y) {
  return parseTypeList(parser, {&x, &y});
}
static void printTypes(OpAsmPrinter &printer, Operation *, Type x, Type y) {
  printTypeList(printer, {x, y});
}
static ParseResult parseTypes(OpAsmParser &parser, Type &a, Type &b, Type &y) {
  return parseTypeList(parser, {&a, &b, &y});
}
static void printTypes(OpAsmPrinter &printer, Operation *, Type a, Type b,
                       Type y) {
  printTypeList(printer, {a, b, y});
}
static ParseResult parseTypes(OpAsmParser &parser, Type &a, Type &b, Type &c,
                              Type &y) {
  return parseTypeList(parser, {&a, &b, &c, &y});
}
static void printTypes(OpAsmPrinter &printer, Operation *, Type a, Type b,
                       Type c, Type y) {
  printTypeList(printer, {a, b, c, y});
}

/// A binary op whose second operand may be a number (`by`).
static ParseResult
parseBinaryTypes(OpAsmParser &parser,
                 const std::optional<OpAsmParser::UnresolvedOperand> &second,
                 Type &a, Type &b, Type &y) {
  if (!second)
    return parseTypeList(parser, {&a, &y});
  return parseTypeList(parser, {&a, &b, &y});
}
static void printBinaryTypes(OpAsmPrinter &printer, Operation *, Value second,
                             Type a, Type b, Type y) {
  if (second)
    printTypeList(printer, {a, b, y});
  else
    printTypeList(printer, {a, y});
}
/// A value and its optional weight, no result.
static ParseResult
parseWeightedTypes(OpAsmParser &parser,
                   const std::optional<OpAsmParser::UnresolvedOperand> &second,
                   Type &x, Type &weight) {
  if (second)
    weight = inferred(parser);
  x = inferred(parser);
  if (failed(parser.parseOptionalColon()))
    return success();
  return failure(parser.parseType(x) ||
                 (second && (parser.parseComma() || parser.parseType(weight))));
}
static void printWeightedTypes(OpAsmPrinter &printer, Operation *, Value second,
                               Type x, Type weight) {
  if (isOpen(x))
    return;
  printer << ": " << x;
  if (second)
    printer << ", " << weight;
}

static ParseResult parseResultType(OpAsmParser &parser, Type &y) {
  y = inferred(parser);
  return succeeded(parser.parseOptionalColon()) ? parser.parseType(y)
                                                : ParseResult(success());
}
static void printResultType(OpAsmPrinter &printer, Operation *, Type y) {
  if (!isOpen(y))
    printer << ": " << y;
}

static ParseResult
parseOperandTypes(OpAsmParser &parser,
                  ArrayRef<OpAsmParser::UnresolvedOperand> operands,
                  SmallVectorImpl<Type> &types) {
  types.assign(operands.size(), inferred(parser));
  if (operands.empty() || failed(parser.parseOptionalColon()))
    return success();
  types.clear();
  return parser.parseTypeList(types);
}
static void printOperandTypes(OpAsmPrinter &printer, Operation *, OperandRange,
                              TypeRange types) {
  if (types.empty() || llvm::any_of(types, isOpen))
    return;
  printer << ": ";
  llvm::interleaveComma(types, printer);
}

static ParseResult
parseVariadicTypes(OpAsmParser &parser,
                   ArrayRef<OpAsmParser::UnresolvedOperand> operands,
                   SmallVectorImpl<Type> &types, Type &y) {
  types.assign(operands.size(), inferred(parser));
  y = inferred(parser);
  if (failed(parser.parseOptionalColon()))
    return success();
  types.clear();
  return failure((!operands.empty() && parser.parseTypeList(types)) ||
                 parser.parseArrow() || parser.parseType(y));
}
static void printVariadicTypes(OpAsmPrinter &printer, Operation *, OperandRange,
                               TypeRange types, Type y) {
  if (isOpen(y) || llvm::any_of(types, isOpen))
    return;
  printer << ": ";
  llvm::interleaveComma(types, printer);
  printer << " -> " << y;
}

static ParseResult parseWord(OpAsmParser &parser, StringAttr &word) {
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  word = parser.getBuilder().getStringAttr(keyword);
  return success();
}
static void printWord(OpAsmPrinter &printer, Operation *, StringAttr word) {
  if (word)
    printer << word.getValue();
}

/// A word on its own; `mg.train`, the next op, is none although it is a keyword
/// to the lexer.
static ParseResult parseOptionalWord(OpAsmParser &parser, StringAttr &word) {
  StringRef ahead(parser.getCurrentLocation().getPointer());
  ahead = ahead.take_while(
      [](char c) { return isalnum(c) || c == '_' || c == '.' || c == '$'; });
  return ahead.empty() || ahead.contains('.') ? ParseResult(success())
                                              : parseWord(parser, word);
}
static void printOptionalWord(OpAsmPrinter &printer, Operation *,
                              StringAttr word) {
  if (word)
    printer << word.getValue();
}

#define GET_OP_CLASSES
#include "dialects/mg/MgOps.cpp.inc"

void MGDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/mg/MgOps.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/mg/MgTypes.cpp.inc"
      >();
}

Operation *MGDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                          Type type, Location loc) {
  auto elements = dyn_cast<DenseElementsAttr>(value);
  return elements
             ? ConstantOp::create(builder, loc, type, elements).getOperation()
             : nullptr;
}
