#!/usr/bin/env bash
# From a fresh machine to a trained network: packages, build, MNIST, mgc, mgrun. Later runs take seconds, offline.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: ./examples/mnist/run.sh [what else `mgrun train` shall be told, such as --devices=4 --seed=1]
# MG_MNIST_DIR: a folder that holds the four MNIST files already, instead of a download.
set -euo pipefail
# shellcheck source=examples/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"

mg_check_machine
mg_check_packages "${mg_packages[@]}"
mg_leave_sudo "$mg_root/examples/mnist/run.sh" "$@"
mg_build_targets OFF mgc mgrun

here=$mg_root/examples/mnist
data=$here/data
bundle=$mg_build/mnist.mgb
python3 "$here/get_mnist.py" --out "$data"
"$mg_build/bin/mgc" "$here/mlp.mlir" -o "$bundle"
exec "$mg_build/bin/mgrun" train "$bundle" \
  --train image="$data/train-images-idx3-ubyte" label="$data/train-labels-idx1-ubyte" --validation-split=5000 \
  --test image="$data/t10k-images-idx3-ubyte" label="$data/t10k-labels-idx1-ubyte" \
  --epochs=5 --devices=2 "$@"
