// Reading model text: names of values kept as NameLocs, includes, the built-in
// library.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/model/Passes.h"
#include "dialects/mg/Mg.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace mlir::mg {
namespace {

/// "%h1" in the text -> h1; numbers are no names.
StringRef nameAt(llvm::SMRange range) {
  StringRef text(range.Start.getPointer(),
                 range.End.getPointer() - range.Start.getPointer());
  text.consume_front("%");
  text = text.split(':').first;
  return text.empty() || isdigit(text.front()) ? StringRef() : text;
}

Location named(Location loc, StringRef name) {
  if (name.empty() || isa<NameLoc>(loc))
    return loc;
  return NameLoc::get(StringAttr::get(loc.getContext(), name), loc);
}

void nameValues(const AsmParserState &state) {
  for (const AsmParserState::OperationDefinition &definition :
       state.getOpDefs())
    if (!definition.resultGroups.empty())
      definition.op->setLoc(
          named(definition.op->getLoc(),
                nameAt(definition.resultGroups.front().definition.loc)));
  for (const AsmParserState::BlockDefinition &definition : state.getBlockDefs())
    for (auto [argument, use] :
         llvm::zip(definition.block->getArguments(), definition.arguments))
      argument.setLoc(named(argument.getLoc(), nameAt(use.loc)));
}

OwningOpRef<ModuleOp> parse(llvm::SourceMgr &source, MLIRContext *context,
                            bool isStage);

/// Moves what `file` declares into the model. Nested includes are followed once
/// each.
class Includer {
public:
  Includer(MLIRContext *context, ArrayRef<std::string> folders)
      : context(context), folders(folders) {}

  LogicalResult resolve(ModelOp model, StringRef file) {
    seen.insert(realPath(file));
    for (IncludeOp include : model.getOps<IncludeOp>())
      pending.push_back({include, llvm::sys::path::parent_path(file).str()});
    for (size_t i = 0; i < pending.size(); ++i) { // loading adds to them
      auto [include, folder] = pending[i];
      if (failed(load(include, model, folder)))
        return failure();
      include.erase();
    }
    return success();
  }

private:
  LogicalResult load(IncludeOp include, ModelOp model, StringRef folder) {
    std::string path = find(include.getFile(), folder);
    if (path.empty()) {
      InFlightDiagnostic error = include.emitOpError()
                                 << "finds no file \"" << include.getFile()
                                 << "\" beside the model";
      for (const std::string &extra : folders)
        error << " or in " << extra;
      return error << "; name its folder with --include";
    }
    if (!seen.insert(realPath(path)).second)
      return success();
    if (!llvm::sys::fs::is_regular_file(path))
      return include.emitOpError() << path << " is no file";
    llvm::SourceMgr source;
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer)
      return include.emitOpError()
             << "cannot read " << path << ": " << buffer.getError().message();
    source.AddNewSourceBuffer(std::move(*buffer), {});
    SourceMgrDiagnosticHandler handler(source, context);
    OwningOpRef<ModuleOp> module = parse(source, context, /*isStage=*/false);
    if (!module)
      return failure();
    SymbolTable symbols(model);
    Block &target = model.getBody().front();
    SmallVector<Operation *> loaded;
    for (Operation &op : *module->getBody()) {
      if (auto inner = dyn_cast<ModelOp>(op))
        for (Operation &member : inner.getBody().front())
          loaded.push_back(&member);
      else
        loaded.push_back(&op);
    }
    for (Operation *op : loaded) {
      auto symbol = dyn_cast<SymbolOpInterface>(op);
      if (symbol && symbols.lookup(symbol.getName()))
        return include.emitOpError() << "brings '@" << symbol.getName()
                                     << "', which the model has already";
      op->remove();
      target.push_front(op);
      if (auto nested = dyn_cast<IncludeOp>(op))
        pending.push_back({nested, llvm::sys::path::parent_path(path).str()});
    }
    return success();
  }
  static std::string realPath(StringRef path) {
    llvm::SmallString<128> real;
    return llvm::sys::fs::real_path(path, real) ? path.str()
                                                : std::string(real);
  }
  std::string find(StringRef file, StringRef folder) const {
    SmallVector<StringRef> places{folder};
    for (const std::string &extra : folders)
      places.push_back(extra);
    for (StringRef place : places) {
      llvm::SmallString<128> path(place);
      llvm::sys::path::append(path, file);
      if (llvm::sys::fs::exists(path))
        return std::string(path);
    }
    return "";
  }

  MLIRContext *context;
  ArrayRef<std::string> folders;
  llvm::StringSet<> seen;
  SmallVector<std::pair<IncludeOp, std::string>> pending; // and its folder
};

const char library[] =
#include "compiler/library/library.inc"
    ;

} // namespace

namespace {
/// Includes are not resolved.
OwningOpRef<ModuleOp> parse(llvm::SourceMgr &source, MLIRContext *context,
                            bool isStage) {
  auto module =
      OwningOpRef<ModuleOp>(ModuleOp::create(UnknownLoc::get(context)));
  AsmParserState state;
  ParserConfig config(context);
  if (failed(parseAsmSourceFile(source, module->getBody(), config, &state)))
    return nullptr;
  if (!isStage)
    nameValues(state);
  // The file may be a whole module (a printed stage): then that one is the
  // module.
  if (llvm::hasSingleElement(*module->getBody()))
    if (auto inner = dyn_cast<ModuleOp>(module->getBody()->front())) {
      inner->remove();
      module = inner;
    }
  return module;
}
} // namespace

OwningOpRef<ModuleOp> readModel(llvm::SourceMgr &source, MLIRContext *context,
                                ArrayRef<std::string> includeFolders,
                                bool isStage) {
  OwningOpRef<ModuleOp> module = parse(source, context, isStage);
  if (!module)
    return nullptr;
  StringRef file =
      source.getMemoryBuffer(source.getMainFileID())->getBufferIdentifier();
  for (ModelOp model : module->getOps<ModelOp>())
    if (failed(Includer(context, includeFolders).resolve(model, file)))
      return nullptr;
  for (IncludeOp include : module->getOps<IncludeOp>()) {
    include.emitOpError("stands outside the mg.model that it is for");
    return nullptr;
  }
  return module;
}

StringRef builtinLibrary() { return library; }

LogicalResult addLibrary(ModuleOp module) {
  for (ModelOp model : module.getOps<ModelOp>()) {
    SmallVector<FlatSymbolRefAttr> wanted;
    model.walk([&](MinimizeOp minimize) {
      if (!model.lookupSymbol(minimize.getOptimizer()))
        wanted.push_back(minimize.getOptimizerAttr());
    });
    if (wanted.empty())
      continue;
    llvm::SourceMgr source;
    source.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(
                                  builtinLibrary(), "builtin optimizers"),
                              {});
    OwningOpRef<ModuleOp> builtin = readModel(source, module.getContext(), {});
    if (!builtin)
      return failure();
    for (FlatSymbolRefAttr name : wanted)
      if (Operation *optimizer = SymbolTable::lookupSymbolIn(*builtin, name))
        if (!model.lookupSymbol(name)) {
          optimizer->remove();
          model.getBody().front().push_front(optimizer);
        }
  }
  return success();
}

} // namespace mlir::mg
