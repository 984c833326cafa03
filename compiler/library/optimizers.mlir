// The built-in optimizers. Copy one into a model file to change it; a model's own of the same name wins.
// %p: the variable, %g: its gradient (of the weighted mean loss), %step: counts from 1; slots keep the variable's shape between steps.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Keras' SGD: v = momentum·v - lr·g; p += v, or with Nesterov p += momentum·v - lr·g.
// Source: Sutskever et al., ICML 2013. @sgd is plain gradient descent and keeps no slot.
mg.optimizer @sgd(%p, %g, scalar %learning_rate = 0.01) {
  %change = mg.multiply %g, %learning_rate
  %p1     = mg.subtract %p, %change
  mg.return %p1
}
mg.optimizer @sgd_momentum(%p, %g, slot %v = 0, scalar %learning_rate = 0.01, scalar %momentum = 0.9, scalar %nesterov = 0.0) {
  %change = mg.multiply %g, %learning_rate
  %kept   = mg.multiply %v, %momentum
  %v1     = mg.subtract %kept, %change
  %ahead  = mg.multiply %v1, %momentum
  %look   = mg.subtract %ahead, %change
  %is     = mg.compare gt, %nesterov by 0.5
  %move   = mg.select %is, %look, %v1
  %p1     = mg.add %p, %move
  mg.return %p1, %v1
}

// Adam (Kingma and Ba, 2014, arXiv:1412.6980). epsilon_hat = 1: ε is added to sqrt(v) before the bias correction, the paper's
// ε-hat, as in Keras and TensorFlow; epsilon_hat = 0: to sqrt(v / (1 - beta2^t)), the paper's algorithm 1, as in PyTorch.
mg.optimizer @adam(%p, %g, slot %m = 0, slot %v = 0, %step, scalar %learning_rate = 1.0e-3, scalar %beta1 = 0.9, scalar %beta2 = 0.999,
                   scalar %epsilon = 1.0e-7, scalar %epsilon_hat = 1.0) {
  %one   = mg.constant dense<1.0> : tensor<f32>
  %q1    = mg.subtract %one, %beta1
  %q2    = mg.subtract %one, %beta2
  %mk    = mg.multiply %m, %beta1
  %mg    = mg.multiply %g, %q1
  %m1    = mg.add %mk, %mg
  %gg    = mg.multiply %g, %g
  %vk    = mg.multiply %v, %beta2
  %vg    = mg.multiply %gg, %q2
  %v1    = mg.add %vk, %vg
  %t1    = mg.power %beta1, %step
  %t2    = mg.power %beta2, %step
  %c1    = mg.subtract %one, %t1
  %c2    = mg.subtract %one, %t2
  %r2    = mg.sqrt %c2
  %hat   = mg.compare gt, %epsilon_hat by 0.5
  %es    = mg.multiply %epsilon, %r2
  %eps   = mg.select %hat, %epsilon, %es
  %lr    = mg.multiply %learning_rate, %r2
  %rate  = mg.divide %lr, %c1
  %root  = mg.sqrt %v1
  %below = mg.add %root, %eps
  %above = mg.multiply %m1, %rate
  %move  = mg.divide %above, %below
  %p1    = mg.subtract %p, %move
  mg.return %p1, %m1, %v1
}

// AdamW (Loshchilov and Hutter, 2017, arXiv:1711.05101): decay is decoupled, p -= lr·weight_decay·p.
mg.optimizer @adamw(%p, %g, slot %m = 0, slot %v = 0, %step, scalar %learning_rate = 1.0e-3, scalar %beta1 = 0.9, scalar %beta2 = 0.999,
                    scalar %epsilon = 1.0e-7, scalar %epsilon_hat = 1.0, scalar %weight_decay = 0.004) {
  %one   = mg.constant dense<1.0> : tensor<f32>
  %q1    = mg.subtract %one, %beta1
  %q2    = mg.subtract %one, %beta2
  %mk    = mg.multiply %m, %beta1
  %mg    = mg.multiply %g, %q1
  %m1    = mg.add %mk, %mg
  %gg    = mg.multiply %g, %g
  %vk    = mg.multiply %v, %beta2
  %vg    = mg.multiply %gg, %q2
  %v1    = mg.add %vk, %vg
  %t1    = mg.power %beta1, %step
  %t2    = mg.power %beta2, %step
  %c1    = mg.subtract %one, %t1
  %c2    = mg.subtract %one, %t2
  %r2    = mg.sqrt %c2
  %hat   = mg.compare gt, %epsilon_hat by 0.5
  %es    = mg.multiply %epsilon, %r2
  %eps   = mg.select %hat, %epsilon, %es
  %lr    = mg.multiply %learning_rate, %r2
  %rate  = mg.divide %lr, %c1
  %root  = mg.sqrt %v1
  %below = mg.add %root, %eps
  %above = mg.multiply %m1, %rate
  %move  = mg.divide %above, %below
  %wd    = mg.multiply %learning_rate, %weight_decay
  %decay = mg.multiply %p, %wd
  %p0    = mg.subtract %p, %decay
  %p1    = mg.subtract %p0, %move
  mg.return %p1, %m1, %v1
}

// Nadam (Dozat, 2016): Keras' form with the momentum schedule u_t = beta1·(1 - 0.5·0.96^t); %u keeps Π u_t.
mg.optimizer @nadam(%p, %g, slot %m = 0, slot %v = 0, slot %u = 1, %step, scalar %learning_rate = 1.0e-3, scalar %beta1 = 0.9,
                    scalar %beta2 = 0.999, scalar %epsilon = 1.0e-7) {
  %one   = mg.constant dense<1.0> : tensor<f32>
  %half  = mg.constant dense<0.5> : tensor<f32>
  %base  = mg.constant dense<0.96> : tensor<f32>
  %next  = mg.add %step, %one
  %d1    = mg.power %base, %step
  %d2    = mg.power %base, %next
  %h1    = mg.multiply %d1, %half
  %h2    = mg.multiply %d2, %half
  %k1    = mg.subtract %one, %h1
  %k2    = mg.subtract %one, %h2
  %ut    = mg.multiply %beta1, %k1
  %un    = mg.multiply %beta1, %k2
  %u1    = mg.multiply %u, %ut
  %u2    = mg.multiply %u1, %un
  %q1    = mg.subtract %one, %beta1
  %q2    = mg.subtract %one, %beta2
  %mk    = mg.multiply %m, %beta1
  %mg    = mg.multiply %g, %q1
  %m1    = mg.add %mk, %mg
  %gg    = mg.multiply %g, %g
  %vk    = mg.multiply %v, %beta2
  %vg    = mg.multiply %gg, %q2
  %v1    = mg.add %vk, %vg
  %t2    = mg.power %beta2, %step
  %c2    = mg.subtract %one, %t2
  %z1    = mg.subtract %one, %u1
  %z2    = mg.subtract %one, %u2
  %ma    = mg.multiply %m1, %un
  %mb    = mg.divide %ma, %z2
  %w     = mg.subtract %one, %ut
  %ga    = mg.multiply %g, %w
  %gb    = mg.divide %ga, %z1
  %mh    = mg.add %mb, %gb
  %vh    = mg.divide %v1, %c2
  %root  = mg.sqrt %vh
  %below = mg.add %root, %epsilon
  %above = mg.multiply %mh, %learning_rate
  %move  = mg.divide %above, %below
  %p1    = mg.subtract %p, %move
  mg.return %p1, %m1, %v1, %u1
}

// RMSprop (Hinton, lecture 6e): v = rho·v + (1 - rho)·g²; with momentum, b = momentum·b + lr·g / sqrt(v + ε). Keras' form.
mg.optimizer @rmsprop(%p, %g, slot %v = 0, slot %b = 0, scalar %learning_rate = 1.0e-3, scalar %rho = 0.9, scalar %momentum = 0.0,
                      scalar %epsilon = 1.0e-7) {
  %one   = mg.constant dense<1.0> : tensor<f32>
  %q     = mg.subtract %one, %rho
  %gg    = mg.multiply %g, %g
  %vk    = mg.multiply %v, %rho
  %vg    = mg.multiply %gg, %q
  %v1    = mg.add %vk, %vg
  %in    = mg.add %v1, %epsilon
  %root  = mg.sqrt %in
  %step  = mg.multiply %g, %learning_rate
  %move  = mg.divide %step, %root
  %kept  = mg.multiply %b, %momentum
  %b1    = mg.add %kept, %move
  %p1    = mg.subtract %p, %b1
  mg.return %p1, %v1, %b1
}
