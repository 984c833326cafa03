// Softmax, losses and row metrics: composites, with a derivative of their own where that is more exact or cheaper.
// A loss or metric gives one value a row; what is minimised is their weighted mean over the valid rows (DESIGN, objective).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_LOSS_TD
#define MG_LOSS_TD
include "dialects/mg/MgBase.td"

def MG_SoftmaxOp : MG_Op<"softmax"> {
  let summary = "e^x / Σ e^x along the last dimension, shifted by the maximum so that nothing overflows";
  let arguments = (ins MG_Float:$x);
  let results = (outs MG_Float:$y);
  let index = "...c->...c; c:opaque";
  let element = "x";
  let decompose = ["e = exponential(x - expand_last(reduce_last(\"max\", x), x))", "e / expand_last(reduce_last(\"sum\", e), x)"];
  let vjp = ["(d_y - expand_last(reduce_last(\"sum\", d_y * y), y)) * y"];
  let reference = "numpy.exp(x) / numpy.sum(numpy.exp(x), axis=-1, keepdims=True)";
  let example = "mg.softmax %x";
  let sample = "x: ?x4xf64";
  let assemblyFormat = "$x attr-dict custom<Types>(type($x), type($y))";
}
def MG_LogSoftmaxOp : MG_Op<"log_softmax"> {
  let summary = "logarithm of softmax along the last dimension, without computing softmax first";
  let arguments = (ins MG_Float:$x);
  let results = (outs MG_Float:$y);
  let index = "...c->...c; c:opaque";
  let element = "x";
  let decompose = ["s = x - expand_last(reduce_last(\"max\", x), x)", "s - expand_last(log(reduce_last(\"sum\", exponential(s))), x)"];
  let vjp = ["d_y - exponential(y) * expand_last(reduce_last(\"sum\", d_y), y)"];
  let reference = "x - numpy.log(numpy.sum(numpy.exp(x), axis=-1, keepdims=True))";
  let example = "mg.log_softmax %x";
  let sample = "x: ?x4xf64";
  let assemblyFormat = "$x attr-dict custom<Types>(type($x), type($y))";
}

def MG_SparseCrossEntropyOp : MG_Op<"sparse_cross_entropy"> {
  let summary = "-log softmax(logits)[label]: one value a row, from logits";
  let description = [{
    A label outside 0 … classes - 1 stops the step before anything changes, naming row, label and range (Keras:
    SparseCategoricalCrossentropy(from_logits=True)).
  }];
  let arguments = (ins MG_Float:$logits, MG_Int:$labels);
  let results = (outs MG_Float:$loss);
  let index = "...c,...->...; c:opaque";
  let bounds = "labels < logits";
  let element = "logits";
  let decompose = ["p = log_softmax(logits)", "-reduce_last(\"sum\", at_label(labels, p, 0))"];
  let vjp = ["p = softmax(logits)", "at_label(labels, p - 1, p) * expand_last(d_loss, logits)", "none"];
  let reference = "-numpy.take_along_axis(logits - numpy.log(numpy.sum(numpy.exp(logits), axis=-1, keepdims=True)), labels[:, None].astype(int), 1)[:, 0]";
  let example = "mg.sparse_cross_entropy %logits, %labels";
  let sample = "logits: ?x4xf64, labels: ?xui8 below 4";
  let assemblyFormat = "$logits `,` $labels attr-dict custom<Types>(type($logits), type($labels), type($loss))";
}
def MG_CrossEntropyOp : MG_Op<"cross_entropy"> {
  let summary = "-Σ targets·log softmax(logits): one value a row, targets are probabilities";
  let arguments = (ins MG_Float:$logits, MG_Float:$targets);
  let results = (outs MG_Float:$loss);
  let index = "...c,...c->...; c:opaque";
  let element = "logits";
  let decompose = ["-reduce_last(\"sum\", targets * log_softmax(logits))"];
  let reference = "-numpy.sum(targets * (logits - numpy.log(numpy.sum(numpy.exp(logits), axis=-1, keepdims=True))), axis=-1)";
  let example = "mg.cross_entropy %logits, %targets";
  let sample = "logits: ?x4xf64, targets: ?x4xf64";
  let assemblyFormat = "$logits `,` $targets attr-dict custom<Types>(type($logits), type($targets), type($loss))";
}
def MG_BinaryCrossEntropyOp : MG_Op<"binary_cross_entropy", [MG_Elementwise]> {
  let summary = "max(x, 0) - x·t + log(1 + e^-|x|): binary cross-entropy from logits, element by element";
  let arguments = (ins MG_Float:$logits, MG_Float:$targets);
  let results = (outs MG_Float:$loss);
  let index = "...,...->...";
  let element = "logits";
  let decompose = ["relu(logits) - logits * targets + log_plus_one(exponential(-abs(logits)))"];
  let vjp = ["d_loss * (sigmoid(logits) - targets)", "-(d_loss * logits)"];
  let reference = "numpy.maximum(logits, 0) - logits * targets + numpy.log1p(numpy.exp(-numpy.abs(logits)))";
  let example = "mg.binary_cross_entropy %logits, %targets";
  let sample = "logits: ?x4xf64, targets: ?x4xf64";
  let assemblyFormat = "$logits `,` $targets attr-dict custom<Types>(type($logits), type($targets), type($loss))";
}
def MG_MeanSquaredErrorOp : MG_Op<"mean_squared_error", [MG_Elementwise]> {
  let summary = "mean of (prediction - target)² over all dimensions but the first: one value a row";
  let arguments = (ins MG_Float:$prediction, MG_Float:$target);
  let results = (outs MG_Float:$loss);
  let element = "prediction";
  let decompose = ["d = prediction - target", "row_mean(d * d)"];
  let reference = "numpy.mean((prediction - target) ** 2, axis=tuple(range(1, prediction.ndim)))";
  let example = "mg.mean_squared_error %prediction, %target";
  let sample = "prediction: ?x4xf64, target: ?x4xf64";
  let assemblyFormat = "$prediction `,` $target attr-dict custom<Types>(type($prediction), type($target), type($loss))";
}
def MG_CorrectOp : MG_Op<"correct"> {
  let summary = "1 where the largest score stands at the label, else 0: its row mean is the accuracy";
  let description = [{The first of several equal scores counts, as in Keras and NumPy.}];
  let arguments = (ins MG_Float:$scores, MG_Int:$labels);
  let results = (outs MG_Float:$y);
  let index = "...c,...->...; c:opaque";
  let bounds = "labels < scores";
  let element = "scores";
  let decompose = ["select(arg_max(scores) == cast_like(labels, \"i64\"), like(1, labels, scores), like(0, labels, scores))"];
  let noGradient = "a count of right answers has no derivative";
  let reference = "(numpy.argmax(scores, axis=-1) == labels).astype(scores.dtype)";
  let example = "mg.correct %scores, %labels";
  let sample = "scores: ?x4xf64, labels: ?xui8 below 4";
  let assemblyFormat = "$scores `,` $labels attr-dict custom<Types>(type($scores), type($labels), type($y))";
}

#endif
