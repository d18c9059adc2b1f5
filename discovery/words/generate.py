#!/usr/bin/env python3
"""Makes vectors.tsv: what common English and technical words mean, in 64 bytes each.

Each word is given to a sentence encoder by itself; what the encoder makes of it
is brought from 384 to 64 dimensions by its principal components and rounded to
signed bytes (the way of static embeddings). One vector per stem, that of its most
frequent word, most frequent first. README.md names the sources and their licences.

Needs the packages numpy, tokenizers and snowballstemmer, and:
  --model    folder with model.safetensors and tokenizer.json of all-MiniLM-L6-v2
  --words    a JSON file whose member "words" lists words, most frequent first
  --wordnet  folder with WordNet's index.noun, index.verb, index.adj, index.adv
  --tech     technical words, one a line, which come first
"""
import argparse, base64, json, re, struct
from pathlib import Path

import numpy as np
import snowballstemmer
from tokenizers import Tokenizer

DIMENSIONS, WORDS, HEADS, LAYERS, BATCH = 64, 24000, 12, 6, 256


def vocabulary(args):
    """Returns (stem, word) pairs, technical ones first, and how many those are."""
    stem = snowballstemmer.stemmer("english").stemWord
    known = set()
    for part in ("noun", "verb", "adj", "adv"):
        for line in (args.wordnet / f"index.{part}").read_text().splitlines():
            if not line.startswith(" "):
                known.add(stem(line.split(" ", 1)[0]))
    chosen = {}
    for word in args.tech.read_text().split():
        chosen.setdefault(stem(word), word)
    technical = len(chosen)
    for word in json.loads(args.words.read_text())["words"]:
        if len(chosen) == WORDS:
            break
        if re.fullmatch("[a-z]{2,20}", word) and stem(word) in known:
            chosen.setdefault(stem(word), word)
    return list(chosen.items()), technical


class Encoder:
    """The forward pass of a BERT encoder with mean pooling, enough for single words."""

    def __init__(self, folder):
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        data = (folder / "model.safetensors").read_bytes()
        size = struct.unpack("<Q", data[:8])[0]
        self.weights = {}
        for name, at in json.loads(data[8 : 8 + size]).items():
            if name != "__metadata__" and at["dtype"] == "F32":
                begin, end = at["data_offsets"]
                self.weights[name] = np.frombuffer(data[8 + size + begin : 8 + size + end], np.float32).reshape(at["shape"])

    def encode(self, words):
        ids = [e.ids for e in self.tokenizer.encode_batch(words)]
        out = np.zeros((len(words), 384), np.float32)
        for length in sorted({len(i) for i in ids}):
            rows = [n for n, i in enumerate(ids) if len(i) == length]
            for begin in range(0, len(rows), BATCH):
                part = rows[begin : begin + BATCH]
                out[part] = self.forward(np.array([ids[n] for n in part]))
        return out / np.linalg.norm(out, axis=1, keepdims=True)

    def forward(self, ids):
        w, (batch, length) = self.weights, ids.shape
        x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][:length]
        x = self.norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for n in range(LAYERS):
            at = f"encoder.layer.{n}."
            q, k, v = (
                self.linear(x, f"{at}attention.self.{p}").reshape(batch, length, HEADS, -1).transpose(0, 2, 1, 3)
                for p in ("query", "key", "value")
            )
            scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1])
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            mixed = (scores / scores.sum(-1, keepdims=True) @ v).transpose(0, 2, 1, 3).reshape(batch, length, -1)
            x = self.norm(x + self.linear(mixed, at + "attention.output.dense"), at + "attention.output.LayerNorm")
            inner = self.linear(x, at + "intermediate.dense")
            inner = 0.5 * inner * (1 + np.tanh(0.7978845608 * (inner + 0.044715 * inner * inner * inner)))
            x = self.norm(x + self.linear(inner, at + "output.dense"), at + "output.LayerNorm")
        return x.mean(1)

    def linear(self, x, name):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
        return x * self.weights[name + ".weight"] + self.weights[name + ".bias"]


def pack(chosen, technical, vectors):
    """Writes the form that vectors.go reads."""
    vectors = vectors - vectors.mean(0)
    axes = np.linalg.svd(vectors.T @ vectors)[0][:, :DIMENSIONS]
    small = vectors @ axes
    small = np.round(small / np.abs(small).max(1, keepdims=True) * 127).astype(np.int8)
    out = []
    for n, ((stem, _), row) in enumerate(zip(chosen, small)):
        rarity = 255
        if n >= technical:
            rarity = min(255, int(255 * np.log(2 + n - technical) / np.log(12000)))
        out.append(f"{stem}\t{rarity}\t{base64.b64encode(row.tobytes()).decode()}\n")
    return "".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("model", "words", "wordnet", "tech"):
        parser.add_argument("--" + name, type=Path, required=True)
    args = parser.parse_args()
    chosen, technical = vocabulary(args)
    vectors = Encoder(args.model).encode([word for _, word in chosen])
    (Path(__file__).parent / "vectors.tsv").write_text(pack(chosen, technical, vectors))


if __name__ == "__main__":
    main()
