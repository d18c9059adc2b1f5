"""Scores Presidio's pattern recognizers on the data sets that airlock's detectors
are tested with, by the same measure: a value counts when its span is exact.

    python3 -m venv /tmp/presidio
    /tmp/presidio/bin/pip install presidio-analyzer==2.2.366 phonenumbers==9.0.43
    /tmp/presidio/bin/python scripts/presidio-compare.py ../shared/data/pii

No language model runs: names and places in prose are outside of this comparison.
airlock's figures come from `go test -v -run 'Synthetic|Recognizer' ./pii/detect`.
"""

import argparse
import json
import pathlib
import time
from collections import defaultdict
from importlib.metadata import version

import tldextract
from presidio_analyzer import EntityRecognizer
from presidio_analyzer import predefined_recognizers as known

# The list of top-level domains that comes with the package, so that nothing is fetched.
tldextract.extract = tldextract.TLDExtract(suffix_list_urls=())

# Presidio's recognizer and entity by the name that airlock gives the type.
RECOGNIZERS = {
    "BANK_ACCOUNT": [("UsBankRecognizer", "US_BANK_NUMBER")],
    "CA_SIN": [("CaSinRecognizer", "CA_SIN")],
    "CREDIT_CARD": [("CreditCardRecognizer", "CREDIT_CARD")],
    "CRYPTO": [("CryptoRecognizer", "CRYPTO")],
    "DRIVER_LICENSE": [("UsLicenseRecognizer", "US_DRIVER_LICENSE"), ("UkDrivingLicenceRecognizer", "UK_DRIVING_LICENCE")],
    "EMAIL": [("EmailRecognizer", "EMAIL_ADDRESS")],
    "IBAN": [("IbanRecognizer", "IBAN_CODE")],
    "IP": [("IpRecognizer", "IP_ADDRESS")],
    "MAC": [("MacAddressRecognizer", "MAC_ADDRESS")],
    "PASSPORT": [("UsPassportRecognizer", "US_PASSPORT"), ("UkPassportRecognizer", "UK_PASSPORT")],
    "PHONE": [("PhoneRecognizer", "PHONE_NUMBER")],
    "UK_NHS": [("NhsRecognizer", "UK_NHS")],
    "UK_NINO": [("UkNinoRecognizer", "UK_NINO")],
    "US_ABA": [("AbaRoutingRecognizer", "ABA_ROUTING_NUMBER")],
    "US_ITIN": [("UsItinRecognizer", "US_ITIN")],
    "US_MBI": [("UsMbiRecognizer", "US_MBI")],
    "US_NPI": [("UsNpiRecognizer", "US_NPI")],
    "US_SSN": [("UsSsnRecognizer", "US_SSN")],
}
SYNTHETIC = ["CREDIT_CARD", "EMAIL", "IBAN", "IP", "PHONE", "US_SSN"]


class Finder:
    """All recognizers of one type."""

    def __init__(self, name):
        self.entities = [entity for _, entity in RECOGNIZERS[name]]
        self.recognizers = [getattr(known, r)(supported_language="en") for r, _ in RECOGNIZERS[name]]

    def find(self, text, least):
        found = []
        for r in self.recognizers:
            found += r.analyze(text, r.supported_entities, None) or []
        found = [f for f in EntityRecognizer.remove_duplicates(found) if f.score >= least]
        return {(f.start, f.end) for f in found}


def count(score, want, optional, got):
    score[0] += len(got & (want | optional))
    score[1] += len(want - got)
    score[2] += len(got - want - optional)


def synthetic(folder, finders, least):
    scores = defaultdict(lambda: [0, 0, 0])
    rows = json.loads((folder / "synth_dataset_v2.json").read_text("utf-8"))
    for row in rows:
        for name in SYNTHETIC:
            want = {(s["start_position"], s["end_position"]) for s in row["spans"] if s["entity_type"] in finders[name].entities}
            count(scores[name], want, set(), finders[name].find(row["full_text"], least))
    return scores


def cases(folder, finders, least):
    scores = defaultdict(lambda: [0, 0, 0])
    names = {entity: name for name, pairs in RECOGNIZERS.items() for _, entity in pairs}
    for line in (folder / "recognizer_cases.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        name = names.get(row["target"])
        if name is None:
            continue
        want = {(e["start"], e["end"]) for e in row["entities"] if e["presidio_score"] >= 0.3}
        optional = {(e["start"], e["end"]) for e in row["entities"]} - want
        count(scores[name], want, optional, finders[name].find(row["text"], least))
    return scores


def table(title, scores):
    print(f"\n{title}\n{'type':16} {'hits':>5} {'miss':>5} {'false':>5} {'precision':>9} {'recall':>7} {'F2':>7}")
    for name, (tp, fn, fp) in sorted(scores.items()):
        precision = tp / (tp + fp) if tp + fp else 1
        recall = tp / (tp + fn) if tp + fn else 1
        f2 = 5 * tp / (5 * tp + 4 * fn + fp) if tp + fn + fp else 1
        print(f"{name:16} {tp:5} {fn:5} {fp:5} {precision:9.3f} {recall:7.3f} {f2:7.3f}")


def speed(folder, finders):
    rows = json.loads((folder / "synth_dataset_v2.json").read_text("utf-8"))
    size = sum(len(row["full_text"].encode()) for row in rows)
    begun = time.process_time()
    for row in rows:
        for finder in finders.values():
            finder.find(row["full_text"], 0)
    print(f"\nspeed: {size / (time.process_time() - begun) / 1e6:.3f} MB/s of CPU time over {size} bytes, {len(finders)} types")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="the folder with the data sets")
    parser.add_argument("--least", type=float, default=0.3, help="score from which on a finding counts (0.3)")
    args = parser.parse_args()
    print("presidio-analyzer", version("presidio-analyzer"), "phonenumbers", version("phonenumbers"))
    finders = {name: Finder(name) for name in RECOGNIZERS}
    table("synthetic sentences", synthetic(args.folder, finders, args.least))
    table("recognizer cases", cases(args.folder, finders, args.least))
    speed(args.folder, finders)


if __name__ == "__main__":
    main()
