// Gives Precompiled.h a library to belong to.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
