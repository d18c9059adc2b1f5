#!/usr/bin/env python3
"""Makes vectors.tsv: what common English and technical words mean, in 96 bytes each.

A sentence encoder says what some 260,000 short sentences mean. The vectors of the
words are then fitted so that their sum points where the encoder's vector of the
sentence does, brought to 96 dimensions by its principal components. So a vector's
length says how much its word tells within a sentence, and a sentence costs no more
than a few additions. Words by themselves count as sentences too, which keeps rare
ones in place. README.md names the sources and their licences.

Needs the packages numpy, scipy, openvino, tokenizers and snowballstemmer, and:
  --model         folder with model.safetensors and tokenizer.json of all-MiniLM-L6-v2
  --wordnet       folder with WordNet's index.* and data.*
  --descriptions  files of short descriptions of programs, one a line
  --words         a JSON file whose member "words" lists words, most frequent first
  --tech          technical words, one a line, which are never common
"""
import argparse, base64, collections, json, random, re
from pathlib import Path

import numpy as np
import scipy.sparse
import snowballstemmer

from encoder import Encoder

DIMENSIONS, WORDS, COMMON, DESCRIPTIONS = 96, 22000, 24000, 100_000
ROUNDS, BATCH, ALONE, LEAST, LEAST_COMMON = 12, 16384, 3, 6, 2

stemmer = snowballstemmer.stemmer("english").stemWord
memory = {}


def stem(word):
    if word not in memory:
        memory[word] = stemmer(word)
    return memory[word]


def split(text):
    return [w for w in re.findall(r"[a-z0-9]+", re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text).lower()) if len(w) <= 40]


def sentences(args):
    """Returns WordNet's definitions and examples, and descriptions of programs."""
    found = []
    for part in ("noun", "verb", "adj", "adv"):
        for line in (args.wordnet / f"data.{part}").read_text().splitlines():
            if line.startswith(" "):
                continue
            fields, _, gloss = line.partition("|")
            fields = fields.split()
            lemmas = [re.sub(r"\(.*\)", "", fields[4 + 2 * i].replace("_", " ")) for i in range(int(fields[3], 16))]
            if part == "noun" and lemmas[0][0].isupper() and random.random() < 0.8:
                continue  # names of people and places
            meaning = re.sub(r'"[^"]*"', "", gloss).strip("; ")
            found += [meaning, ", ".join(lemmas) + ": " + meaning] if len(meaning) > 3 else []
            found += re.findall(r'"([^"]+)"', gloss)
    random.shuffle(found)
    programs = [line for path in args.descriptions for line in path.read_text(errors="ignore").splitlines()]
    programs = [line for line in programs if 25 <= len(line) <= 200 and line.isascii() and " " in line]
    random.shuffle(programs)
    return list(dict.fromkeys(found[:170_000] + programs[:DESCRIPTIONS]))


def rarities(args):
    """Returns by stem how rare a word is: 0 for the commonest, 255 for technical and unknown ones."""
    known, technical, ranks = set(), {stem(w) for w in args.tech.read_text().split()}, {}
    for part in ("noun", "verb", "adj", "adv"):
        known |= {stem(line.split(" ", 1)[0]) for line in (args.wordnet / f"index.{part}").read_text().splitlines() if not line.startswith(" ")}
    for word in json.loads(args.words.read_text())["words"]:
        if len(ranks) < COMMON and re.fullmatch("[a-z]{2,20}", word) and stem(word) in known - technical:
            ranks.setdefault(stem(word), len(ranks))
    return {s: min(255, int(255 * np.log(2 + n) / np.log(12000))) for s, n in ranks.items()}


def vocabulary(texts, common):
    """Returns stems, most frequent first, and the most frequent word of each."""
    counts, forms = collections.Counter(), collections.defaultdict(collections.Counter)
    for words in texts:
        for word in words:
            counts[stem(word)] += 1
            forms[stem(word)][word] += 1
    stems = [s for s, n in counts.most_common() if n >= (LEAST_COMMON if s in common else LEAST) and not s.isdigit()][:WORDS]
    return stems, [forms[s].most_common(1)[0][0] for s in stems]


def fit(texts, stems, taught):
    """Returns the vectors whose sums over a text point where taught does."""
    number = {s: i for i, s in enumerate(stems)}
    rows = [sorted({number[stem(w)] for w in words if stem(w) in number}) for words in texts]
    ends = np.cumsum([0] + [len(r) for r in rows])
    held = scipy.sparse.csr_matrix((np.ones(ends[-1], np.float32), [i for r in rows for i in r], ends), (len(rows), len(stems)))
    taught = taught - taught.mean(0)
    goal = taught @ np.linalg.eigh(taught.T @ taught)[1][:, ::-1][:, :DIMENSIONS]
    goal /= np.linalg.norm(goal, axis=1, keepdims=True)
    some = ends[1:] > ends[:-1]
    held, goal = held[some], goal[some]
    vectors = (held.T @ goal / (np.asarray(held.sum(0)).T + 3)).astype(np.float32)
    first, second, rate, step = np.zeros_like(vectors), np.zeros_like(vectors), 0.02, 0
    for _ in range(ROUNDS):
        order = np.random.default_rng(step).permutation(len(goal))
        for begin in range(0, len(order), BATCH):
            part = order[begin : begin + BATCH]
            sums = held[part] @ vectors
            lengths = np.linalg.norm(sums, axis=1, keepdims=True) + 1e-6
            units = sums / lengths
            cosines = (units * goal[part]).sum(1, keepdims=True)
            slope = held[part].T @ ((units * cosines - goal[part]) / lengths / len(part) * 1000) + 0.0005 * vectors
            step += 1  # Adam
            first, second = 0.9 * first + 0.1 * slope, 0.99 * second + 0.01 * slope * slope
            vectors -= rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-5)
        rate *= 0.94
    return vectors


def pack(stems, vectors, rarity):
    """Writes the form that vectors.go reads. All vectors share one scale."""
    scale = np.percentile(np.abs(vectors), 99.9)
    small = np.clip(np.round(vectors / scale * 127), -127, 127).astype(np.int8)
    return "".join(f"{s}\t{rarity.get(s, 255)}\t{base64.b64encode(row.tobytes()).decode()}\n" for s, row in zip(stems, small))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("model", "wordnet", "words", "tech"):
        parser.add_argument("--" + name, type=Path, required=True)
    parser.add_argument("--descriptions", type=Path, nargs="*", default=[])
    args = parser.parse_args()
    random.seed(7)
    encoder, rarity, said = Encoder(args.model), rarities(args), sentences(args)
    texts = [split(s) for s in said]
    stems, words = vocabulary(texts, rarity)
    taught = np.concatenate([encoder.encode(said)] + [encoder.encode(words)] * ALONE)
    texts += [[w] for w in words] * ALONE
    (Path(__file__).parent / "vectors.tsv").write_text(pack(stems, fit(texts, stems, taught), rarity))


if __name__ == "__main__":
    main()
