// Parsing of index strings and what follows from them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/mg/Mg.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <map>

namespace mlir::mg {
namespace {

/// One operand or result: "...mk" is an ellipsis and two letters.
struct TermText {
  bool ellipsis = false;
  StringRef letters;
};

/// A parsed index string. Strings come from op records, so a malformed one is
/// our bug.
struct IndexText {
  SmallVector<TermText> operands, results;
  std::map<char, LetterKind> kinds;

  explicit IndexText(StringRef text) {
    auto [terms, notes] = text.split(';');
    auto [in, out] = terms.split("->");
    parseTerms(in, operands);
    parseTerms(out, results);
    if (results.empty())
      results.emplace_back(); // "->": one result of rank 0
    SmallVector<StringRef> parts;
    notes.split(parts, ',', -1, false);
    for (StringRef part : parts)
      if (part.trim().contains(':'))
        kinds[part.trim()[0]] = kindOf(part.trim().drop_front(2));
  }
  LetterKind kind(char letter) const {
    auto found = kinds.find(letter);
    return found == kinds.end() ? LetterKind::Parallel : found->second;
  }

private:
  static void parseTerms(StringRef text, SmallVectorImpl<TermText> &terms) {
    if (text.trim().empty())
      return;
    SmallVector<StringRef> parts;
    text.split(parts, ',');
    for (StringRef part : parts) {
      TermText term;
      part = part.trim();
      term.ellipsis = part.consume_front("...");
      term.letters = part;
      terms.push_back(term);
    }
  }
  static LetterKind kindOf(StringRef word) {
    return llvm::StringSwitch<LetterKind>(word)
        .Case("sum", LetterKind::Sum)
        .Case("prod", LetterKind::Prod)
        .Case("max", LetterKind::Max)
        .Case("min", LetterKind::Min)
        .Case("opaque", LetterKind::Opaque);
  }
};

/// Extents of letters as operands bind them.
class Extents {
public:
  Extents(std::optional<Location> loc, StringRef opName)
      : loc(loc), opName(opName) {}

  LogicalResult bind(const IndexText &text, ValueRange operands) {
    for (auto [i, operand] : llvm::enumerate(operands))
      if (failed(bindOperand(
              i, text.operands[std::min(i, text.operands.size() - 1)],
              tensorOf(operand))))
        return failure();
    return success();
  }
  void set(char letter, int64_t extent) { sizes[letter] = {extent, 0}; }
  void append(const TermText &term, SmallVectorImpl<int64_t> &shape) const {
    if (term.ellipsis)
      shape.append(ellipsis);
    for (char letter : term.letters)
      shape.push_back(sizes.at(letter).first);
  }
  SmallVector<int64_t> ellipsis;
  bool hasEllipsis = false;

private:
  LogicalResult bindOperand(size_t i, const TermText &term,
                            RankedTensorType type) {
    int64_t extra = type.getRank() - (int64_t)term.letters.size();
    if (extra < 0 || (extra > 0 && !term.ellipsis))
      return emitOptionalError(
          loc, "'", opName, "' op operand #", i, " has rank ", type.getRank(),
          ", expected ", term.ellipsis ? "at least " : "", term.letters.size());
    if (term.ellipsis &&
        failed(bindEllipsis(i, type.getShape().take_front(extra))))
      return failure();
    for (auto [letter, extent] :
         llvm::zip(term.letters, type.getShape().drop_front(extra))) {
      auto [it, isNew] = sizes.try_emplace(letter, extent, i);
      if (!isNew && it->second.first != extent)
        return emitOptionalError(
            loc, "'", opName, "' op dimension ", std::string(1, letter), " is ",
            it->second.first, " in operand #", it->second.second, " but ",
            extent, " in operand #", i);
    }
    return success();
  }
  LogicalResult bindEllipsis(size_t i, ArrayRef<int64_t> shape) {
    if (!hasEllipsis) {
      ellipsis.assign(shape.begin(), shape.end());
      hasEllipsis = true;
      return success();
    }
    if (ArrayRef<int64_t>(ellipsis) == shape)
      return success();
    return emitOptionalError(loc, "'", opName, "' op leading dimensions are [",
                             join(ellipsis), "] in operand #0 but [",
                             join(shape), "] in operand #", i);
  }
  static std::string join(ArrayRef<int64_t> shape) {
    return llvm::join(
        llvm::map_range(shape, [](int64_t n) { return std::to_string(n); }),
        ", ");
  }

  std::optional<Location> loc;
  StringRef opName;
  std::map<char, std::pair<int64_t, size_t>> sizes;
};

/// Operands of an element-wise op, and float operands of any op, have one
/// element type.
LogicalResult checkElements(std::optional<Location> loc, StringRef opName,
                            ValueRange operands, MLIRContext *context) {
  auto name = RegisteredOperationName::lookup(opName, context);
  bool elementwise =
      name && name->hasTrait<OpTrait::mg::ElementwiseBroadcast>();
  Type first;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    Type element = tensorOf(operand).getElementType();
    if (element.isInteger(1) || (!elementwise && !isa<FloatType>(element)))
      continue;
    if (!first)
      first = element;
    if (element != first)
      return emitOptionalError(loc, "'", opName, "' op operand #", i,
                               " has element type ", element,
                               " but an earlier one ", first, "; use mg.cast");
  }
  return success();
}

Type elementOf(StringRef element, Type to, ValueRange operands,
               MLIRContext *context) {
  if (to)
    return to;
  unsigned number;
  if (element.consume_front("#") && !element.getAsInteger(10, number))
    return operands.empty() ? Type(Float32Type::get(context))
                            : tensorOf(operands[number]).getElementType();
  return llvm::StringSwitch<Type>(element)
      .Case("i1", IntegerType::get(context, 1))
      .Case("i32", IntegerType::get(context, 32))
      .Case("f64", Float64Type::get(context))
      .Default(IntegerType::get(context, 64));
}

} // namespace

RankedTensorType tensorOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

unsigned IndexSpec::letter(char name) const {
  return llvm::find(letters, name) - letters.begin();
}

std::string shortNumber(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", number);
  return text;
}

bool fitsInMemory(ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t extent : shape) {
    if (extent < 0 || extent > kMostElements)
      return false;
    elements *= std::max<int64_t>(extent, 1);
    if (elements > kMostElements)
      return false;
  }
  return true;
}

bool compatible(TypeRange a, TypeRange b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
           auto [x, y] = pair;
           return x == y || isa<InferType>(x) || isa<InferType>(y);
         });
}

LogicalResult inferTypes(
    MLIRContext *context, std::optional<Location> loc, StringRef opName,
    StringRef element, Type to, ValueRange operands,
    SmallVectorImpl<Type> &types,
    llvm::function_ref<LogicalResult(SmallVectorImpl<int64_t> &)> shapeOf) {
  if (llvm::any_of(operands.getTypes(),
                   [](Type type) { return isa<InferType>(type); })) {
    types.push_back(InferType::get(context));
    return success();
  }
  SmallVector<int64_t> shape;
  if (failed(checkElements(loc, opName, operands, context)) ||
      failed(shapeOf(shape)))
    return failure();
  if (!fitsInMemory(shape)) {
    if (loc)
      emitError(*loc) << "'" << opName << "' op has a result of shape ["
                      << shape << "], expected at most 2^40 elements";
    return failure();
  }
  types.push_back(
      RankedTensorType::get(shape, elementOf(element, to, operands, context)));
  return success();
}

LogicalResult inferTypes(MLIRContext *context, std::optional<Location> loc,
                         StringRef opName, StringRef element, Type to,
                         ValueRange operands, SmallVectorImpl<Type> &types,
                         StringRef index, LetterExtents given) {
  return inferTypes(context, loc, opName, element, to, operands, types,
                    [&](SmallVectorImpl<int64_t> &shape) {
                      IndexText text(index);
                      Extents extents(loc, opName);
                      if (failed(extents.bind(text, operands)))
                        return failure();
                      for (auto [letter, extent] : given)
                        extents.set(letter, extent);
                      extents.append(text.results.front(), shape);
                      return success();
                    });
}

IndexSpec indexSpecOf(StringRef index, Operation *op) {
  IndexText text(index);
  Extents extents(std::nullopt, op->getName().getStringRef());
  IndexSpec spec;
  SmallVector<std::pair<TermText, RankedTensorType>> terms;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    terms.emplace_back(text.operands[std::min(i, text.operands.size() - 1)],
                       tensorOf(operand));
  size_t ellipsis = 0;
  for (auto [term, value] : llvm::zip(text.results, op->getResults())) {
    terms.insert(terms.begin(), {term, tensorOf(value)});
  }
  for (auto &[term, type] : terms)
    if (term.ellipsis)
      ellipsis = type.getRank() - term.letters.size();
  auto add = [&](char name, int64_t extent) {
    spec.letters.push_back(name);
    spec.extents.push_back(extent);
    spec.kinds.push_back(text.kind(name));
  };
  for (auto &[term, type] : terms) {
    size_t lead = term.ellipsis ? ellipsis : 0;
    for (size_t i = 0;
         i < lead && llvm::count(spec.letters, '.') < (long)ellipsis; ++i)
      add('.', type.getDimSize(i));
    for (auto [i, name] : llvm::enumerate(term.letters))
      if (!llvm::is_contained(spec.letters, name))
        add(name, type.getDimSize(lead + i));
  }
  auto mapOf = [&](const TermText &term) {
    SmallVector<unsigned> dims;
    for (unsigned i = 0; term.ellipsis && i < spec.letters.size(); ++i)
      if (spec.letters[i] == '.')
        dims.push_back(i);
    for (char name : term.letters)
      dims.push_back(spec.letter(name));
    return AffineMap::getMultiDimMapWithTargets(spec.letters.size(), dims,
                                                op->getContext());
  };
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    spec.operands.push_back(
        mapOf(text.operands[std::min(i, text.operands.size() - 1)]));
  for (const TermText &term : text.results)
    spec.results.push_back(mapOf(term));
  return spec;
}

std::optional<Bounds> boundsOf(Operation *op, unsigned positions,
                               unsigned table, int dim) {
  RankedTensorType type = tensorOf(op->getOperand(table));
  unsigned at = dim < 0 ? type.getRank() + dim : dim;
  return Bounds{positions, type.getDimSize(at), table, at};
}

} // namespace mlir::mg
