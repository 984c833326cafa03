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

/// Moves what `file` declares into the model. Nested includes are followed once
/// each.
class Includer {
public:
  Includer(MLIRContext *context, ArrayRef<std::string> folders)
      : context(context), folders(folders) {}

  LogicalResult resolve(ModelOp model, StringRef folder) {
    for (IncludeOp include : llvm::make_early_inc_range(
             llvm::to_vector(model.getOps<IncludeOp>()))) {
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
    if (!seen.insert(path).second)
      return success();
    llvm::SourceMgr source;
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer)
      return include.emitOpError()
             << "cannot read " << path << ": " << buffer.getError().message();
    source.AddNewSourceBuffer(std::move(*buffer), {});
    SourceMgrDiagnosticHandler handler(source, context);
    OwningOpRef<ModuleOp> module = readModel(source, context, folders);
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
    }
    return success();
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
};

const char library[] =
#include "compiler/library/library.inc"
    ;

} // namespace

OwningOpRef<ModuleOp> readModel(llvm::SourceMgr &source, MLIRContext *context,
                                ArrayRef<std::string> includeFolders,
                                bool isStage) {
  auto module =
      OwningOpRef<ModuleOp>(ModuleOp::create(UnknownLoc::get(context)));
  AsmParserState state;
  ParserConfig config(context);
  const llvm::MemoryBuffer *buffer =
      source.getMemoryBuffer(source.getMainFileID());
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
  Includer includer(context, includeFolders);
  for (ModelOp model : module->getOps<ModelOp>())
    if (failed(includer.resolve(model, llvm::sys::path::parent_path(
                                           buffer->getBufferIdentifier()))))
      return nullptr;
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
