// Errors as values: a code tells the caller what to do, the message tells the
// person. Start here; everything in runtime/ returns Status or Expected<T>. No
// exceptions cross an interface.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fmt/format.h>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace mg {

enum class Code {
  InvalidArgument, // the caller asked for something that does not exist or does
                   // not fit
  BadInput,        // a file or its contents are wrong
  Unsupported,     // this build or machine cannot do it
  OutOfMemory,     // names the largest buffers
  Io,              // the operating system refused
  BadData,         // a row of the data is wrong (label out of range); state is
                   // untouched
  Interrupted,     // a signal asked to stop
  Internal,        // a fault of this program
};

/// What went wrong, where, found and expected, what to do: lower case, no
/// period.
struct Error {
  Code code;
  std::string message;

  /// The same error with "where: " in front; context grows on the way up.
  Error in(std::string_view where) && {
    message = fmt::format("{}: {}", where, message);
    return std::move(*this);
  }
};

template <typename T> using Expected = tl::expected<T, Error>;
using Status = tl::expected<void, Error>;

template <typename... Args>
[[nodiscard]] tl::unexpected<Error>
failure(Code code, fmt::format_string<Args...> text, Args &&...args) {
  return tl::unexpected<Error>(
      Error{code, fmt::format(text, std::forward<Args>(args)...)});
}

} // namespace mg

/// Returns the error of `expression` from the enclosing function, if it has
/// one.
#define MG_TRY(expression)                                                     \
  if (auto mgStatus = (expression); !mgStatus)                                 \
  return ::tl::unexpected<::mg::Error>(std::move(mgStatus).error())

/// Declares `name` as the value of `expression`, or returns its error.
#define MG_TRY_ASSIGN(name, expression)                                        \
  auto name##OrError = (expression);                                           \
  if (!name##OrError)                                                          \
    return ::tl::unexpected<::mg::Error>(std::move(name##OrError).error());    \
  auto &name = *name##OrError
