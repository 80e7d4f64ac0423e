"""Numbers that remember how they were made, so that a loss knows its derivatives: the chain rule and nothing else."""
import math


class Scalar:
    def __init__(self, value, parents=()):
        self.value, self.parents, self.gradient = value, parents, 0.0

    def __add__(self, o):
        o = lift(o)
        return Scalar(self.value + o.value, ((self, 1.0), (o, 1.0)))

    def __mul__(self, o):
        o = lift(o)
        return Scalar(self.value * o.value, ((self, o.value), (o, self.value)))

    def __pow__(self, n):
        return Scalar(self.value ** n, ((self, n * self.value ** (n - 1)),))

    def __neg__(self):
        return self * -1

    def __sub__(self, o):
        return self + -lift(o)

    def __rsub__(self, o):
        return lift(o) - self

    def __truediv__(self, o):
        return self * lift(o) ** -1

    def __rtruediv__(self, o):
        return lift(o) * self ** -1

    def __lt__(self, o):
        return self.value < lift(o).value

    def __gt__(self, o):
        return self.value > lift(o).value

    __radd__, __rmul__ = __add__, __mul__


def lift(v):
    return v if isinstance(v, Scalar) else Scalar(float(v))


def exp(v):
    e = math.exp(lift(v).value)
    return Scalar(e, ((lift(v), e),))


def log(v):
    return Scalar(math.log(v.value), ((v, 1 / v.value),))


def sigmoid(v):
    return 1 / (1 + exp(-v))


def tanh(v):
    return 2 * sigmoid(2 * v) - 1


def total(values):
    """The sum of many, as one step."""
    values = [lift(v) for v in values]
    return Scalar(sum(v.value for v in values), tuple((v, 1.0) for v in values))


def differentiate(loss):
    """Adds to the gradient of everything that the loss was made of its derivative; gradients of what is made anew begin with 0."""
    order, seen, stack = [], set(), [(loss, False)]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((p, False) for p, _ in node.parents)
    loss.gradient = 1.0
    for node in reversed(order):
        for parent, factor in node.parents:
            parent.gradient += factor * node.gradient
