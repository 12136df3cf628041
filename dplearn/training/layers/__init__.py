"""Per-example gradients of each kind of layer, from its input and its output's gradient.

A rule is a function ``(module, inputs, grad) -> {parameter name: gradients}``: `inputs` are the
module's tensors as it was called, `grad` is the gradient of its output, both with one row per
example. Gradients are a tensor of shape ``(B, *parameter shape)``, or one of the cheaper forms
of `dplearn.training.layers.per_example`. Modules without a rule are differentiated one example at a
time; a rule only makes them faster:

    @rule(Scale)
    def _scale(module, inputs, grad):
        return {"weight": (inputs[0] * grad).flatten(2).sum(2)}

A *substitute* is a forward pass ``(module, record, *args, **kwargs)`` that computes what the
module does from products on record, where one rule for the whole would need what no hook sees:
``record(rule, inputs, {}, product)`` notes each of them.
"""

from dplearn.training.layers import attention, recurrence
from dplearn.training.layers.registry import (
    RULES,
    SUBSTITUTES,
    Rule,
    refuse_mixing,
    registered,
    rule,
    trainable,
    trained,
)
from dplearn.training.layers.usual import reads_inputs

__all__ = [
    "RULES",
    "SUBSTITUTES",
    "Rule",
    "attention",
    "reads_inputs",
    "recurrence",
    "refuse_mixing",
    "registered",
    "rule",
    "trainable",
    "trained",
]
