"""The sentence encoder all-MiniLM-L6-v2, put together from its weights in OpenVINO."""

import json
import struct

import numpy as np
import openvino
from openvino import opset13 as op
from tokenizers import Tokenizer

HEADS, LAYERS, BATCH, MAX_TOKENS = 12, 6, 128, 64


class Encoder:
    """Turns sentences into unit vectors of 384 numbers: BERT with mean pooling."""

    def __init__(self, folder):
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(MAX_TOKENS)
        self.weights = read_weights(folder / "model.safetensors")
        ids, places = op.parameter([-1, -1], np.int64, "ids"), op.parameter([-1], np.int64, "places")
        mean = op.reduce_mean(self.layers(self.embed(ids, places)), op.constant(np.array([1], np.int64)))
        self.model = openvino.Core().compile_model(openvino.Model([mean], [ids, places]), "CPU")

    def encode(self, sentences):
        ids = [e.ids for e in self.tokenizer.encode_batch(sentences)]
        out = np.zeros((len(ids), 384), np.float32)
        for length in sorted({len(i) for i in ids}):
            rows = [n for n, i in enumerate(ids) if len(i) == length]
            for begin in range(0, len(rows), BATCH):
                part = rows[begin : begin + BATCH]
                given = [np.array([ids[n] for n in part], np.int64), np.arange(length, dtype=np.int64)]
                out[part] = next(iter(self.model(given).values()))
        return out / np.linalg.norm(out, axis=1, keepdims=True)

    def constant(self, name):
        return op.constant(self.weights[name])

    def embed(self, ids, places):
        axis = op.constant(np.int64(0))
        words = op.gather(self.constant("embeddings.word_embeddings.weight"), ids, axis)
        at = op.gather(self.constant("embeddings.position_embeddings.weight"), places, axis)
        kind = op.constant(self.weights["embeddings.token_type_embeddings.weight"][0])
        return self.norm(op.add(op.add(words, at), kind), "embeddings.LayerNorm")

    def layers(self, x):
        split, merge = op.constant(np.array([0, 0, HEADS, 32], np.int64)), op.constant(np.array([0, 0, 384], np.int64))
        swap = op.constant(np.array([0, 2, 1, 3], np.int64))
        for n in range(LAYERS):
            at = f"encoder.layer.{n}."
            q, k, v = (
                op.transpose(op.reshape(self.linear(x, f"{at}attention.self.{p}"), split, True), swap) for p in ("query", "key", "value")
            )
            scores = op.softmax(op.multiply(op.matmul(q, k, False, True), op.constant(np.float32(32**-0.5))), -1)
            mixed = op.reshape(op.transpose(op.matmul(scores, v, False, False), swap), merge, True)
            x = self.norm(op.add(x, self.linear(mixed, at + "attention.output.dense")), at + "attention.output.LayerNorm")
            inner = op.gelu(self.linear(x, at + "intermediate.dense"), "erf")
            x = self.norm(op.add(x, self.linear(inner, at + "output.dense")), at + "output.LayerNorm")
        return x

    def linear(self, x, name):
        return op.add(op.matmul(x, self.constant(name + ".weight"), False, True), self.constant(name + ".bias"))

    def norm(self, x, name):
        x = op.mvn(x, op.constant(np.array([2], np.int64)), True, 1e-12, "inside_sqrt")
        return op.add(op.multiply(x, self.constant(name + ".weight")), self.constant(name + ".bias"))


def read_weights(path):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    weights = {}
    for name, at in json.loads(data[8 : 8 + size]).items():
        if name != "__metadata__" and at["dtype"] == "F32":
            begin, end = at["data_offsets"]
            weights[name] = np.frombuffer(data[8 + size + begin : 8 + size + end], np.float32).reshape(at["shape"])
    return weights
