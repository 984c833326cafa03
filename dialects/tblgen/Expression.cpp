// Recursive-descent translator; one method a precedence level.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/tblgen/Expression.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/TableGen/Error.h"
#include <cctype>

using namespace llvm;

namespace mg::tblgen {
namespace {

class Translator {
public:
  Translator(StringRef text, const Scope &scope)
      : text(text), rest(text), scope(scope) {}

  std::string run() {
    std::string code = bits();
    skip();
    if (!rest.empty())
      fail("unexpected '" + rest + "'");
    return code;
  }

private:
  [[noreturn]] void fail(const Twine &why) {
    PrintFatalError(scope.op.getLoc(),
                    scope.op.getOperationName() + ": \"" + text + "\": " + why);
  }
  void skip() { rest = rest.ltrim(); }
  bool eat(StringRef token) {
    skip();
    return rest.consume_front(token);
  }
  static std::string call(StringRef method, const std::string &a,
                          const std::string &b) {
    return ("b." + method + "(" + a + ", " + b + ")").str();
  }

  std::string bits() {
    std::string lhs = comparison();
    for (;;) {
      if (eat("&"))
        lhs = call("bitAnd", lhs, comparison());
      else if (eat("|"))
        lhs = call("bitOr", lhs, comparison());
      else if (eat("^"))
        lhs = call("bitXor", lhs, comparison());
      else
        return lhs;
    }
  }
  std::string comparison() {
    std::string lhs = sum();
    static const std::pair<StringRef, StringRef> comparisons[] = {
        {"==", "eq"}, {"!=", "ne"}, {"<=", "le"},
        {">=", "ge"}, {"<", "lt"},  {">", "gt"}};
    for (auto [token, method] : comparisons)
      if (eat(token))
        return call(method, lhs, sum());
    return lhs;
  }
  std::string sum() {
    std::string lhs = product();
    for (;;) {
      if (eat("+"))
        lhs = call("add", lhs, product());
      else if (eat("-"))
        lhs = call("sub", lhs, product());
      else
        return lhs;
    }
  }
  std::string product() {
    std::string lhs = unary();
    for (;;) {
      if (eat("*"))
        lhs = call("mul", lhs, unary());
      else if (eat("/"))
        lhs = call("div", lhs, unary());
      else
        return lhs;
    }
  }
  std::string unary() {
    skip();
    if (rest.size() > 1 && rest[0] == '-' && !isdigit(rest[1])) {
      eat("-");
      return "b.neg(" + unary() + ")";
    }
    return primary();
  }
  std::string primary() {
    if (eat("(")) {
      std::string inner = bits();
      if (!eat(")"))
        fail("missing ')'");
      return inner;
    }
    skip();
    if (!rest.empty() && (isdigit(rest[0]) || rest[0] == '-'))
      return number();
    if (eat("\""))
      return text_();
    if (eat("$"))
      return attribute(word());
    StringRef name = word();
    if (eat("("))
      return application(name);
    auto found = scope.names.find(name);
    if (found == scope.names.end())
      fail("'" + name +
           "' is no operand, result, result gradient or earlier name");
    return found->second;
  }
  std::string number() {
    size_t length = rest.find_first_not_of("0123456789.eE", 1);
    StringRef digits = rest.take_front(length);
    rest = rest.drop_front(digits.size());
    return ("b.number(" + digits + ")").str();
  }
  std::string text_() {
    auto [inside, after] = rest.split('"');
    rest = after;
    return ("\"" + inside + "\"").str();
  }
  std::string attribute(StringRef name) {
    for (const mlir::tblgen::NamedAttribute &attr : scope.op.getAttributes())
      if (attr.name == name)
        return "this->" + scope.op.getGetterName(name) + "Attr()";
    fail("there is no attribute '$" + name + "'");
  }
  StringRef word() {
    skip();
    StringRef name =
        rest.take_while([](char c) { return isalnum(c) || c == '_'; });
    if (name.empty())
      fail("expected a name at '" + rest + "'");
    rest = rest.drop_front(name.size());
    return name;
  }

  /// Arguments of `name(`; key = value pairs are attributes of an op.
  std::string application(StringRef name) {
    std::vector<std::string> arguments, attributes;
    while (!eat(")")) {
      StringRef before = rest;
      skip();
      StringRef key =
          rest.take_while([](char c) { return isalnum(c) || c == '_'; });
      StringRef after = rest.drop_front(key.size()).ltrim();
      if (!key.empty() && after.starts_with("=") && !after.starts_with("==")) {
        rest = after.drop_front(1);
        attributes.push_back(("b.attribute(\"" + key + "\", ").str() + bits() +
                             ")");
      } else {
        rest = before;
        arguments.push_back(bits());
      }
      if (!eat(",") && !rest.ltrim().starts_with(")"))
        fail("expected ',' or ')' at '" + rest + "'");
    }
    return emit(name, arguments, attributes);
  }
  std::string emit(StringRef name, ArrayRef<std::string> arguments,
                   ArrayRef<std::string> attributes) {
    if (scope.ops) {
      auto found = scope.ops->find(name);
      if (found != scope.ops->end()) {
        int operands = found->second.getNumOperands();
        if (operands != (int)arguments.size() && !found->second.isVariadic())
          fail("mg." + name + " takes " + Twine(operands) + " operands, got " +
               Twine(arguments.size()));
        return ("b.op(\"mg." + name + "\", {" + join(arguments, ", ") + "}, {" +
                join(attributes, ", ") + "})")
            .str();
      }
    }
    if (!attributes.empty())
      fail("'" + name + "' is no op, so it takes no attributes");
    return ("b." + name + "(" + join(arguments, ", ") + ")").str();
  }

  StringRef text, rest;
  const Scope &scope;
};

} // namespace

std::string translate(StringRef text, const Scope &scope) {
  return Translator(text, scope).run();
}

bool splitStatement(StringRef text, StringRef &name, StringRef &expr) {
  size_t at = text.find(" = ");
  if (at == StringRef::npos || !all_of(text.take_front(at), [](char c) {
        return isalnum(c) || c == '_';
      }))
    return false;
  name = text.take_front(at);
  expr = text.drop_front(at + 3);
  return true;
}

} // namespace mg::tblgen
