// mg-tblgen: mlir-tblgen plus the generators of op rules (-gen-mg-rules), of
// the page of ops (-gen-mg-docs) and of the table that numeric tests walk
// (-gen-mg-json), all from the fields of MG_Op (dialects/mg/MgBase.td).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/tblgen/Expression.h"

#include "mlir/TableGen/GenInfo.h"
#include "mlir/Tools/mlir-tblgen/MlirTblgenMain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/TableGen/Error.h"

using namespace llvm;
using mlir::tblgen::Operator;
using namespace mg::tblgen;

namespace {

/// One op's record with its fields read and checked.
struct OpRecord {
  explicit OpRecord(const Record *def)
      : def(def), op(def), index(text("index")), element(text("element")),
        body(text("body")), vjp(def->getValueAsListOfStrings("vjp")),
        noGradient(text("noGradient")),
        decompose(def->getValueAsListOfStrings("decompose")),
        outsideTraining(def->getValueAsListOfStrings("outsideTraining")),
        linear(text("linear")) {
    check();
  }
  StringRef text(StringRef field) const { return def->getValueAsString(field); }
  StringRef mnemonic() const { return StringRef(name).drop_front(3); }
  bool isCustom(const std::vector<StringRef> &list) const {
    return list.size() == 1 && list[0] == "Custom";
  }

  const Record *def;
  Operator op;
  std::string name = op.getOperationName();
  std::string cpp = op.getCppClassName().str();
  StringRef index, element, body;
  std::vector<StringRef> vjp;
  StringRef noGradient;
  std::vector<StringRef> decompose, outsideTraining;
  StringRef linear;

private:
  void check() const {
    auto fail = [&](const Twine &why) {
      PrintFatalError(def->getLoc(), name + ": " + why);
    };
    if (element.empty())
      fail("lacks 'element', the element type of the result");
    if (!noGradient.empty() && !vjp.empty())
      fail("has both 'vjp' and 'noGradient'");
    if (noGradient.empty() && vjp.empty() && decompose.empty())
      fail("lacks 'vjp' (or 'noGradient', or 'decompose')");
    if (op.getSummary().empty())
      fail("lacks 'summary'");
    if (index != "Custom" && index.count("->") != 1)
      fail("index \"" + index + "\" needs one '->'");
    if (text("reference").empty() != text("example").empty())
      fail("'reference' and 'example' come together");
  }
};

std::vector<OpRecord> readOps(const RecordKeeper &records) {
  std::vector<const Record *> defs;
  llvm::append_range(defs, records.getAllDerivedDefinitions("MG_Op"));
  llvm::sort(defs, [](const Record *a, const Record *b) {
    return a->getID() < b->getID();
  }); // as they stand in the files
  return std::vector<OpRecord>(defs.begin(), defs.end());
}

OpTable tableOf(ArrayRef<OpRecord> ops) {
  OpTable table;
  for (const OpRecord &record : ops)
    table.try_emplace(record.mnemonic(), record.op);
  return table;
}

//===-- Rules

Scope scopeOf(const OpRecord &record, const OpTable *ops, bool scalar) {
  Scope scope{record.op, ops, {}};
  for (int i = 0, e = record.op.getNumOperands(); i != e; ++i) {
    StringRef name = record.op.getOperand(i).name;
    scope.names[name] =
        scalar ? "operands[" + std::to_string(i) + "]"
               : "::mlir::mg::Term(" + record.op.getGetterName(name) + "())";
  }
  for (int i = 0, e = record.op.getNumResults(); i != e && !scalar; ++i) {
    std::string result = "getOperation()->getResult(" + std::to_string(i) + ")";
    scope.names[record.op.getResult(i).name] =
        "::mlir::mg::Term(" + result + ")";
    scope.names[("d_" + record.op.getResult(i).name).str()] =
        "::mlir::mg::Term(gradients[" + std::to_string(i) + "])";
  }
  if (scalar && record.index != "Custom")
    for (char letter : record.index.split(';').first)
      if (isalpha(letter) && !scope.names.contains(StringRef(&letter, 1)))
        scope.names[StringRef(&letter, 1)] = std::string("'") + letter + "'";
  return scope;
}

/// Statements and values of a vjp or decomposition, each value pushed onto
/// `out`.
std::string emitValues(const OpRecord &record, ArrayRef<StringRef> lines,
                       const OpTable &ops, StringRef out) {
  Scope scope = scopeOf(record, &ops, /*scalar=*/false);
  std::string code;
  for (StringRef line : lines) {
    StringRef name, expr;
    if (splitStatement(line, name, expr)) {
      code +=
          ("  auto v_" + name + " = ").str() + translate(expr, scope) + ";\n";
      scope.names[name] = ("v_" + name).str();
    } else if (line == "none") {
      code += ("  " + out + ".push_back(nullptr);\n").str();
    } else {
      code += ("  " + out + ".push_back(b.value(" + translate(line, scope) +
               ")); // " + line + "\n")
                  .str();
    }
  }
  return code;
}

std::string emitBody(const OpRecord &record) {
  if (record.body.empty())
    return "  llvm_unreachable(\"op without scalar code\");\n";
  if (record.body == "Custom")
    return "  customBody(*this, b, operands, results);\n";
  return "  results.push_back(b.result(" +
         translate(record.body, scopeOf(record, nullptr, true)) + "));\n";
}

std::string emitVjp(const OpRecord &record, const OpTable &ops) {
  if (record.isCustom(record.vjp))
    return "  customVjp(*this, b, gradients, operandGradients);\n";
  return emitValues(record, record.vjp, ops, "operandGradients");
}

std::string emitDecomposition(const OpRecord &record, const OpTable &ops) {
  if (record.decompose.empty())
    return "  return ::mlir::failure();\n";
  std::string code;
  if (!record.outsideTraining.empty())
    code += "  if (!training) {\n" +
            emitValues(record, record.outsideTraining, ops, "results") +
            "  return ::mlir::success();\n  }\n";
  if (record.isCustom(record.decompose))
    return code + "  return customDecompose(*this, b, results);\n";
  return code + emitValues(record, record.decompose, ops, "results") +
         "  return ::mlir::success();\n";
}

/// "a|b,c" over operand names as a list of bit masks.
std::string linearMasks(const OpRecord &record) {
  std::string masks;
  SmallVector<StringRef> sets;
  record.linear.split(sets, '|', -1, false);
  for (StringRef set : sets) {
    unsigned mask = 0;
    SmallVector<StringRef> names;
    set.split(names, ',', -1, false);
    for (StringRef name : names)
      for (int i = 0, e = record.op.getNumOperands(); i != e; ++i)
        if (record.op.getOperand(i).name == name)
          mask |= record.op.getOperand(i).isVariadic() ? ~0u : 1u << i;
    if (!mask)
      PrintFatalError(record.def->getLoc(), record.name + ": linear \"" +
                                                record.linear +
                                                "\" names no operand");
    masks += std::to_string(mask) + "u, ";
  }
  return masks;
}

/// The scalar code is the operand itself, or there is none because the op is a
/// view; and nothing is reduced.
bool onlyMoves(const OpRecord &record) {
  bool view = record.body.empty() && record.decompose.empty() &&
              record.op.getNumOperands() == 1;
  return (record.body == "x" || view) &&
         !record.def->isSubClassOf("MG_Reduction");
}

/// "labels < table[0]" as a Bounds initializer.
std::string boundsCode(const OpRecord &record) {
  StringRef bounds = record.text("bounds");
  if (bounds.empty())
    return "std::nullopt";
  auto [positions, extent] = bounds.split(" < ");
  auto [table, dim] = extent.split('[');
  std::string code = "::mlir::mg::boundsOf(getOperation(), ";
  for (StringRef name : {positions, table}) {
    int index = -1;
    for (int i = 0, e = record.op.getNumOperands(); i != e; ++i)
      if (record.op.getOperand(i).name == name)
        index = i;
    if (index < 0)
      PrintFatalError(record.def->getLoc(),
                      record.name + ": bounds name no operand '" + name + "'");
    code += std::to_string(index) + ", ";
  }
  return code + (dim.empty() ? "-1" : dim.drop_back().str()) + ")";
}

const char *rulesTemplate = R"(
//===-- {0}
::mlir::LogicalResult {1}::inferReturnTypes(::mlir::MLIRContext *context, std::optional<::mlir::Location> loc,
    ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes, ::mlir::OpaqueProperties properties,
    ::mlir::RegionRange regions, ::llvm::SmallVectorImpl<::mlir::Type> &types) {{
  Adaptor adaptor(operands, attributes, properties, regions);
  (void)adaptor;
  {2}
}
bool {1}::isCompatibleReturnTypes(::mlir::TypeRange a, ::mlir::TypeRange b) {{ return ::mlir::mg::compatible(a, b); }
::mlir::mg::IndexSpec {1}::getIndexSpec() {{ {3} }
bool {1}::hasBody() {{ return {4}; }
void {1}::emitBody(::mlir::mg::ScalarBuilder &b, ::mlir::ValueRange operands, ::llvm::SmallVectorImpl<::mlir::Value> &results) {{
{5}}
bool {1}::hasVjp() {{ return {6}; }
::llvm::StringRef {1}::getNoGradientReason() {{ return "{7}"; }
void {1}::buildVjp(::mlir::mg::RuleBuilder &b, ::mlir::ValueRange gradients, ::llvm::SmallVectorImpl<::mlir::Value> &operandGradients) {{
{8}}
bool {1}::isComposite() {{ return {9}; }
::mlir::LogicalResult {1}::buildDecomposition(::mlir::mg::RuleBuilder &b, bool training, ::llvm::SmallVectorImpl<::mlir::Value> &results) {{
{10}}
bool {1}::isLinearIn(unsigned operandMask) {{
  for (unsigned mask : std::initializer_list<unsigned>{{{11}})
    if (operandMask && (operandMask & mask) == operandMask && (mask == ~0u || operandMask == mask))
      return true;
  return false;
}
bool {1}::onlyMoves() {{ return {13}; }
std::optional<::mlir::mg::Bounds> {1}::getBounds() {{ return {12}; }
)";

std::string inferCode(const OpRecord &record) {
  std::string to = "nullptr";
  std::string element = record.element.str();
  if (record.element.starts_with("$"))
    to = "::mlir::mg::elementType(adaptor." +
         record.op.getGetterName(record.element.drop_front()) + "())";
  for (int i = 0, e = record.op.getNumOperands(); i != e; ++i)
    if (record.op.getOperand(i).name == record.element)
      element = "#" + std::to_string(i);
  std::string call = "return ::mlir::mg::inferTypes(context, loc, \"" +
                     record.name + "\", \"" + element + "\", " + to +
                     ", operands, types, ";
  if (record.index == "Custom")
    return call + "[&](::llvm::SmallVectorImpl<int64_t> &shape) { return "
                  "inferShape(adaptor, loc, shape); });";
  std::string extents;
  SmallVector<StringRef> notes;
  record.index.split(';').second.split(notes, ',', -1, false);
  for (StringRef note : notes)
    if (note.contains('='))
      extents +=
          "{'" + note.trim().take_front().str() + "', (int64_t)adaptor." +
          record.op.getGetterName(note.split('=').second.trim()) + "()}, ";
  return (extents.empty()
              ? ""
              : "std::pair<char, int64_t> extents[] = {" + extents + "};\n  ") +
         call + "\"" + record.index.str() + "\", " +
         (extents.empty() ? "{}" : "extents") + ");";
}

void emitDeclarations(const OpRecord &record, raw_ostream &os) {
  if (record.index == "Custom") {
    os << "::mlir::LogicalResult inferShape(" << record.cpp
       << "::Adaptor op, std::optional<::mlir::Location> loc, "
       << "::llvm::SmallVectorImpl<int64_t> &shape);\n";
    os << "::mlir::mg::IndexSpec customIndex(" << record.cpp << " op);\n";
  }
  if (record.body == "Custom")
    os << "void customBody(" << record.cpp
       << " op, ::mlir::mg::ScalarBuilder &b, ::mlir::ValueRange operands, "
       << "::llvm::SmallVectorImpl<::mlir::Value> &results);\n";
  if (record.isCustom(record.vjp))
    os << "void customVjp(" << record.cpp
       << " op, ::mlir::mg::RuleBuilder &b, ::mlir::ValueRange gradients, "
       << "::llvm::SmallVectorImpl<::mlir::Value> &operandGradients);\n";
  if (record.isCustom(record.decompose))
    os << "::mlir::LogicalResult customDecompose(" << record.cpp
       << " op, ::mlir::mg::RuleBuilder &b, "
       << "::llvm::SmallVectorImpl<::mlir::Value> &results);\n";
}

bool emitRules(const RecordKeeper &records, raw_ostream &os) {
  std::vector<OpRecord> ops = readOps(records);
  OpTable table = tableOf(ops);
  os << "// Generated by mg-tblgen -gen-mg-rules from dialects/mg/*.td.\n";
  for (const OpRecord &record : ops) {
    std::string index = record.index == "Custom"
                            ? "return customIndex(*this);"
                            : ("return ::mlir::mg::indexSpecOf(\"" +
                               record.index + "\", getOperation());")
                                  .str();
    os << formatv(rulesTemplate, record.name, record.cpp, inferCode(record),
                  index, record.body.empty() ? "false" : "true",
                  emitBody(record), record.vjp.empty() ? "false" : "true",
                  record.noGradient, emitVjp(record, table),
                  record.decompose.empty() ? "false" : "true",
                  emitDecomposition(record, table), linearMasks(record),
                  boundsCode(record), onlyMoves(record) ? "true" : "false");
  }
  return false;
}

bool emitRuleDecls(const RecordKeeper &records, raw_ostream &os) {
  os << "// Generated by mg-tblgen -gen-mg-rule-decls from dialects/mg/*.td.\n";
  for (const OpRecord &record : readOps(records))
    emitDeclarations(record, os);
  return false;
}

//===-- Docs and the test table

std::string joined(ArrayRef<StringRef> list) {
  std::string text;
  for (StringRef item : list)
    text += (text.empty() ? "`" : "; `") + item.str() + "`";
  return text;
}

bool emitDocs(const RecordKeeper &records, raw_ostream &os) {
  os << "# The ops of mg\n\nGenerated from `dialects/mg/*.td`; do not edit. "
        "Structure (`mg.model`, `mg.train` …) is in "
        "`dialects/mg/Model.td`.\n\n";
  for (const OpRecord &record : readOps(records)) {
    os << "## `" << record.name << "`\n\n" << record.op.getSummary() << ".\n\n";
    StringRef description = record.op.getDescription().trim();
    if (!description.empty()) {
      SmallVector<StringRef> lines;
      description.split(lines, '\n');
      for (StringRef line : lines)
        os << line.trim() << "\n";
      os << "\n";
    }
    if (!record.text("example").empty())
      os << "```mlir\n%y = " << record.text("example") << "   // "
         << record.text("sample") << "\n```\n\n";
    os << "| fact | |\n|---|---|\n";
    auto row = [&](StringRef name, const std::string &value) {
      if (!value.empty()) {
        std::string escaped = value;
        for (size_t at = 0; (at = escaped.find('|', at)) != std::string::npos;
             at += 2)
          escaped.insert(at, "\\");
        os << "| " << name << " | " << escaped << " |\n";
      }
    };
    row("index", record.index == "Custom" ? "from the attributes"
                                          : ("`" + record.index + "`").str());
    row("at a point", record.body.empty() || record.body == "Custom"
                          ? ""
                          : ("`" + record.body + "`").str());
    row("is", record.isCustom(record.decompose) ? "built from other ops"
                                                : joined(record.decompose));
    row("outside training", joined(record.outsideTraining));
    row("derivative", record.noGradient.empty()
                          ? (record.isCustom(record.vjp) ? "by rule in C++"
                                                         : joined(record.vjp))
                          : "none: " + record.noGradient.str());
    row("NumPy", record.text("reference").empty()
                     ? ""
                     : ("`" + record.text("reference") + "`").str());
    row("source", record.text("source").str());
    os << "\n";
  }
  return false;
}

bool emitJson(const RecordKeeper &records, raw_ostream &os) {
  json::Array array;
  for (const OpRecord &record : readOps(records)) {
    json::Array operands;
    for (int i = 0, e = record.op.getNumOperands(); i != e; ++i)
      operands.push_back(record.op.getOperand(i).name);
    array.push_back(json::Object{{"op", record.name},
                                 {"example", record.text("example")},
                                 {"sample", record.text("sample")},
                                 {"reference", record.text("reference")},
                                 {"differentiable", record.noGradient.empty()},
                                 {"operands", std::move(operands)}});
  }
  os << formatv("{0:2}", json::Value(std::move(array))) << "\n";
  return false;
}

mlir::GenRegistration rules("gen-mg-rules",
                            "Generate shape, index, body and derivative rules",
                            emitRules);
mlir::GenRegistration decls("gen-mg-rule-decls",
                            "Declare what records leave to C++", emitRuleDecls);
mlir::GenRegistration docs("gen-mg-docs", "Generate the page of ops", emitDocs);
mlir::GenRegistration
    json_("gen-mg-json",
          "Generate the table of records that numeric tests walk", emitJson);

} // namespace

int main(int argc, char **argv) { return mlir::MlirTblgenMain(argc, argv); }
