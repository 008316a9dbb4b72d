"""Writes small networks with inputs and what ONNX Runtime makes of them to operators.zip:

    python record.py

NAME.onnx is a model, NAME.txt the height, width and channels of its input and the layer
that is wanted, NAME.in and NAME.out the input and the layer, float32, little-endian, row by
row with the channels last. The archive random.zip was made likewise, of operators in a row.
Needs onnx and onnxruntime.
"""

import pathlib
import zipfile

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ARCHIVE = zipfile.ZipFile(pathlib.Path(__file__).with_name("operators.zip"), "w")
rng = np.random.default_rng(1)


class Net:
    """A network under way: nodes in a row, each of which reads the last value."""

    def __init__(self, channels, height, width, opset=17, nhwc=False, free=False):
        self.shape, self.opset, self.nhwc, self.free = (channels, height, width), opset, nhwc, free
        self.nodes, self.constants, self.count = [], [], 0
        self.last = "input"

    def constant(self, values, kind=np.float32):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, kind), name))
        return name

    def random(self, *shape, scale=0.4):
        return self.constant(rng.normal(size=shape) * scale)

    def add(self, op, *more, inputs=None, outputs=1, **settings):
        names = [f"t{self.count + i}" for i in range(outputs)]
        self.count += outputs
        given = list(inputs) if inputs is not None else [self.last, *more]
        self.nodes.append(helper.make_node(op, given, names, name=f"node{len(self.nodes)}", **settings))
        self.last = names[0]
        return self.last

    def conv(self, channels, to, height, width, group=1, bias=True, **settings):
        w = self.random(to, channels // group, height, width)
        more = [w, self.random(to)] if bias else [w]
        return self.add("Conv", *more, group=group, kernel_shape=[height, width], **settings)

    def save(self, name, layer=None):
        layer = layer or self.last
        c, h, w = self.shape
        dims = [1, h, w, c] if self.nhwc else [1, c, h, w]
        if self.free:
            dims = ["n", c, "h", "w"]
        x = helper.make_tensor_value_info("input", TensorProto.FLOAT, dims)
        y = helper.make_tensor_value_info(layer, TensorProto.FLOAT, None)
        graph = helper.make_graph(self.nodes, "g", [x], [y], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)
        data = model.SerializeToString()
        session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
        image = rng.normal(size=(h, w, c)).astype(np.float32)
        given = image[None] if self.nhwc else image.transpose(2, 0, 1)[None]
        (out,) = session.run([layer], {"input": np.ascontiguousarray(given)})
        if out.ndim == 4 and not name.startswith("nhwc"):
            out = out.transpose(0, 2, 3, 1)
        for ending, content in [
            (".onnx", data),
            (".txt", f"{h} {w} {c} {layer}\n".encode()),
            (".in", image.tobytes()),
            (".out", np.ascontiguousarray(out, np.float32).tobytes()),
        ]:
            ARCHIVE.writestr(zipfile.ZipInfo(name + ending), content, zipfile.ZIP_DEFLATED)


def main():
    # Convolutions: strides, dilations, pads of every kind, groups, many channels.
    for i, (channels, to, h, w, settings) in enumerate([
        (3, 5, 3, 3, dict(pads=[1, 1, 1, 1])),
        (3, 50, 1, 1, dict()),
        (4, 33, 3, 3, dict(strides=[2, 2], pads=[0, 0, 1, 1])),
        (4, 8, 3, 2, dict(dilations=[2, 3], pads=[2, 1, 0, 3])),
        (4, 8, 5, 5, dict(auto_pad="SAME_UPPER", strides=[2, 2])),
        (4, 8, 4, 3, dict(auto_pad="SAME_LOWER", strides=[2, 1])),
        (4, 8, 3, 3, dict(group=2, pads=[1, 1, 1, 1])),
        (4, 12, 3, 3, dict(group=4, pads=[1, 1, 1, 1])),
        (4, 4, 3, 3, dict(group=4, strides=[2, 2], pads=[1, 1, 1, 1], bias=False)),
        (3, 4, 2, 2, dict(pads=[5, 4, 3, 6])),  # windows wholly in the padding
    ]):
        n = Net(channels, 11, 9)
        n.conv(channels, to, h, w, **settings)
        n.save(f"conv{i}")
    n = Net(3, 9, 10)
    n.conv(3, 70, 3, 3)
    n.conv(70, 70, 3, 3, group=70, pads=[1, 1, 1, 1])
    n.add("Relu")
    n.conv(70, 100, 1, 1)
    n.add("Clip", n.constant(0.0), n.constant(6.0))
    n.save("wide")

    # Functions of one number.
    for op, settings in [
        ("Relu", {}), ("LeakyRelu", {}), ("LeakyRelu", dict(alpha=0.3)), ("Sigmoid", {}), ("HardSigmoid", {}),
        ("HardSwish", {}), ("Tanh", {}), ("Elu", dict(alpha=0.7)), ("Identity", {}), ("Dropout", {}),
        ("LRN", dict(size=3)), ("LRN", dict(size=5, alpha=0.5, beta=0.6, bias=2.0)),
    ]:
        n = Net(4, 5, 4)
        n.add(op, **settings)
        n.save(op.lower() + str(len(settings)))
    for opset, name in [(9, "clip9"), (13, "clip13")]:
        n = Net(2, 5, 4, opset)
        if opset < 11:
            n.add("Clip", min=-0.5, max=0.25)
        else:
            n.add("Clip", n.constant(-0.5), "")
            n.add("Clip", "", n.constant(0.25))
        n.save(name)
    n = Net(3, 5, 4)
    n.add("PRelu", n.random(3, 1, 1))
    n.save("prelu")
    n = Net(3, 7, 7)
    n.conv(3, 6, 3, 3)
    n.add("BatchNormalization", n.random(6), n.random(6), n.random(6), n.constant(rng.uniform(0.2, 2, 6)), epsilon=1e-3)
    n.add("Relu")
    n.add("BatchNormalization", n.random(6), n.random(6), n.random(6), n.constant(rng.uniform(0.2, 2, 6)))
    n.save("normalised")

    # Functions of two: of constants of several shapes, of maps, of one number for many.
    for i, op in enumerate(["Add", "Sub", "Mul", "Div"]):
        for j, shape in enumerate([(), (3, 1, 1), (1, 3, 1, 1), (3, 5, 4), (4,)]):
            n = Net(3, 5, 4)
            c = n.constant(rng.uniform(0.5, 2, shape))
            n.add(op, inputs=[n.last, c] if (i + j) % 2 else [c, n.last] if op != "Div" else [n.last, c])
            n.save(f"{op.lower()}{j}")
    n = Net(3, 8, 6)
    a = n.conv(3, 4, 3, 3, pads=[1, 1, 1, 1])
    b = n.conv(4, 4, 1, 1)
    n.add("Add", inputs=[a, b])
    n.add("Relu")
    s = n.last
    n.add("GlobalAveragePool")
    n.conv(4, 4, 1, 1)
    n.add("Sigmoid")
    n.add("Mul", inputs=[s, n.last])
    m = n.last
    n.conv(4, 1, 1, 1)
    n.add("Mul", inputs=[n.last, m])  # one channel for all
    n.add("Sub", inputs=[n.last, a])
    n.add("Mul", inputs=[n.last, n.last])
    n.save("residual")

    # Poolings.
    for i, settings in enumerate([
        dict(kernel_shape=[2, 2], strides=[2, 2]),
        dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
        dict(kernel_shape=[3, 2], strides=[2, 3], ceil_mode=1),
        dict(kernel_shape=[3, 3], strides=[2, 2], pads=[0, 1, 1, 0], ceil_mode=1),
        dict(kernel_shape=[3, 3], auto_pad="SAME_UPPER", strides=[2, 2]),
        dict(kernel_shape=[2, 3], auto_pad="SAME_LOWER", strides=[1, 2]),
    ]):
        for op in ["MaxPool", "AveragePool"]:
            n = Net(3, 10, 9)
            n.add(op, **settings)
            n.save(f"{op.lower()}{i}")
    n = Net(3, 10, 9)
    n.add("MaxPool", kernel_shape=[3, 2], dilations=[2, 3])
    n.save("maxpooldilated")
    for i, settings in enumerate([dict(), dict(ceil_mode=1), dict(ceil_mode=1, strides=[3, 2])]):
        n = Net(3, 10, 9, 19)
        n.add("AveragePool", **{**dict(kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2], count_include_pad=1), **settings})
        n.save(f"averagepadded{i}")
    for op in ["GlobalAveragePool", "GlobalMaxPool"]:
        n = Net(3, 6, 5)
        n.add(op)
        n.add("Flatten")
        n.save(op.lower())
    for opset in [13, 18]:
        for keep in [0, 1]:
            n = Net(3, 6, 5, opset)
            if opset < 18:
                n.add("ReduceMean", axes=[-1, 2], keepdims=keep)
            else:
                n.add("ReduceMean", n.constant([2, 3], np.int64), keepdims=keep)
            n.save(f"reducemean{opset}{keep}")

    # Shapes.
    n = Net(3, 4, 5)
    n.add("Flatten")
    n.add("Gemm", n.random(60, 7), n.random(7), alpha=0.5, beta=2.0)
    n.add("Relu")
    n.add("Gemm", n.random(5, 7), n.random(1, 5), transB=1)
    n.add("Softmax", axis=1)
    n.save("gemm")
    n = Net(3, 4, 5)
    n.add("Reshape", n.constant([0, -1], np.int64))
    n.add("MatMul", n.random(60, 50))
    n.add("Add", n.random(50))
    n.save("matmul")
    n = Net(3, 4, 5)
    n.add("GlobalAveragePool")
    n.add("Squeeze", n.constant([2, 3], np.int64))
    n.add("Unsqueeze", n.constant([2, 3], np.int64))
    n.conv(3, 9, 1, 1)
    n.add("Squeeze", n.constant([3], np.int64))
    n.add("Squeeze", n.constant([-1], np.int64))
    n.save("squeeze")
    n = Net(3, 6, 5, 11)
    n.add("GlobalMaxPool")
    n.add("Squeeze", axes=[2, 3])
    n.add("Unsqueeze", axes=[2])
    n.save("squeeze11")
    n = Net(3, 6, 5)
    a = n.conv(3, 2, 3, 3, pads=[1, 1, 1, 1])
    b = n.conv(2, 4, 1, 1)
    n.add("Concat", inputs=["input", a, b], axis=1)
    c = n.last
    n.conv(9, 9, 3, 3, group=9, pads=[1, 1, 1, 1])
    n.add("Concat", inputs=[n.last, c], axis=-1)
    n.add("Concat", inputs=[n.last, n.last], axis=2)
    n.save("concat")
    n = Net(3, 6, 5)
    n.add("Pad", n.constant([0, 1, 1, 2, 0, 2, 0, 1], np.int64), n.constant(0.5))
    n.add("MaxPool", kernel_shape=[2, 2])
    n.save("pad")
    n = Net(2, 6, 5, 10)
    n.add("Pad", pads=[0, 0, 1, 2, 0, 0, 0, 1])
    n.conv(2, 3, 2, 2)
    n.save("pad10")
    n = Net(4, 6, 5)  # the channels shuffled
    n.conv(4, 8, 1, 1)
    n.add("Reshape", n.constant([1, 2, 4, 6, 5], np.int64))
    n.add("Transpose", perm=[0, 2, 1, 3, 4])
    n.add("Reshape", n.constant([1, 8, 6, -1], np.int64))
    n.conv(8, 3, 3, 3)
    n.save("shuffle")
    n = Net(3, 6, 5)
    n.add("Transpose", perm=[0, 3, 1, 2])
    n.add("Mul", n.random(5, 1, 1))
    n.add("Transpose", perm=[0, 2, 1, 3])
    n.save("transpose")
    n = Net(3, 6, 5, nhwc=True)
    n.add("Transpose", perm=[0, 3, 1, 2])
    n.conv(3, 6, 3, 3)
    n.add("Relu")
    n.add("Transpose", perm=[0, 2, 3, 1])
    n.add("Add", n.random(6))
    n.save("nhwcmap")
    n.add("ReduceMean", axes=[1, 2], keepdims=0)
    n.save("nhwcpooled")
    n = Net(3, 6, 5)  # a shape that is computed
    n.conv(3, 4, 3, 3)
    x = n.last
    n.add("Shape")
    n.add("Gather", n.constant(0, np.int64), axis=0)
    n.add("Unsqueeze", n.constant([0], np.int64))
    n.add("Concat", n.constant([-1], np.int64), axis=0)
    n.add("Reshape", inputs=[x, n.last])
    n.save("computedshape")
    n = Net(3, 9, 7, free=True)  # an input of any size
    n.conv(3, 4, 3, 3)
    n.add("GlobalAveragePool")
    n.add("Flatten")
    n.save("anysize")

    # Constants of other kinds.
    n = Net(3, 6, 5)
    half = n.constant(rng.normal(size=(4, 3, 2, 2)), np.float16)
    w = n.add("Cast", inputs=[half], to=TensorProto.FLOAT)
    double = n.constant(rng.normal(size=4), np.float64)
    b = n.add("Cast", inputs=[double], to=TensorProto.FLOAT)
    n.add("Conv", inputs=["input", w, b])
    n.add("Constant", inputs=[], value=numpy_helper.from_array(rng.normal(size=(4, 1, 1)).astype(np.float32)))
    n.add("Mul", inputs=[n.nodes[-2].output[0], n.last])
    x = n.last
    n.add("Constant", inputs=[], value_float=1.5)
    n.add("Add", inputs=[x, n.last])
    n.save("constants")
    n = Net(3, 6, 5)
    listed = helper.make_tensor("c0", TensorProto.FLOAT, [2, 3, 1, 1], rng.normal(size=6).astype(np.float32))
    n.constants.append(listed)
    n.add("Conv", "c0")
    n.save("listed")
    # A layer in the middle, which what comes after must not change.
    n = Net(3, 6, 5)
    wanted = n.conv(3, 4, 3, 3)
    n.add("Relu")
    n.save("middle", wanted)


main()
ARCHIVE.close()
