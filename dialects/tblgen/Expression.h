// Translates the small expression language of op records (body, vjp, decompose)
// to C++ that calls a builder.
//   expr := comparison of sums of products; operands: numbers, names,
//   $attribute, "text", name(arguments, key = value)
// A name that is an op builds it; any other call is a method of the builder.
// Errors stop the build at the record.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mlir/TableGen/Operator.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TableGen/Record.h"
#include <string>

namespace mg::tblgen {

using OpTable = llvm::StringMap<mlir::tblgen::Operator>;

struct Scope {
  const mlir::tblgen::Operator &op;
  const OpTable *ops; // null: no op may be called (scalar bodies)
  llvm::StringMap<std::string> names; // name in the record -> C++ expression
};

/// The C++ expression for `text`.
std::string translate(llvm::StringRef text, const Scope &scope);

/// True if `text` is "name = expr"; splits it.
bool splitStatement(llvm::StringRef text, llvm::StringRef &name,
                    llvm::StringRef &expr);

} // namespace mg::tblgen
