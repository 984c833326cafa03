// Functions are polynomials on whole vectors: a kernel of f32 calls nothing, in a prediction, in a training step and in its update.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mgc %s --emit=asm --cpu=x86-64-v3 | FileCheck %s --implicit-check-not=call --implicit-check-not=@PLT
// RUN: mgc %s --emit=asm --cpu=x86-64-v4 | FileCheck %s --implicit-check-not=call --implicit-check-not=@PLT

// CHECK: vfmadd{{[0-9]+}}ps {{.*}}%{{[yz]}}mm
mg.model @functions {
  mg.variables @layer {kernel: 33x10xf32 = glorot_uniform, bias: 10xf32 = zeros}
  mg.func @all(%x: tensor<?x33xf32>) -> tensor<?x33xf32> {
    %a = mg.exponential %x
    %b = mg.tanh %a
    %c = mg.sigmoid %b
    %d = mg.log %c
    %e = mg.erf %d
    %f = mg.sine %e
    %g = mg.cosine %f
    %h = mg.exponential_minus_one %g
    %i = mg.log_plus_one %h
    %j = mg.gelu %i
    %k = mg.gelu_tanh %j
    %l = mg.silu %k
    %m = mg.rsqrt %l
    %n = mg.sqrt %m
    %o = mg.floor %n
    %p = mg.round_nearest_even %o
    %q = mg.softmax %p
    %r = mg.log_softmax %q
    mg.return %r
  }
  mg.predict @all
  mg.train @fit(%x: tensor<?x33xf32>, %label: tensor<?xui8>) {
    %h = mg.dense %x, @layer, tanh
    %s = mg.sigmoid %h
    %loss = mg.sparse_cross_entropy %s, %label
    mg.minimize %loss with @sgd {learning_rate = 0.1}
  }
}
