#!/usr/bin/env python3
"""Repeats a record: runs the command lines of its own Repeat block in an empty folder, and says what came out the same.

    repeat.py RECORD WORK           run, then compare
    repeat.py RECORD WORK --only    compare what lies in WORK
    repeat.py RECORD WORK --take    run, then put the new data in the place of the record's

RECORD is a folder such as reports/planted-cpu. WORK is made and has to be empty, but for --only; lines that name ../
put files beside it. EXACTNESS names the
program (default: the release build of this clone). Transcripts have to be equal line by line but for their headers and
times, results in what they found; times, speeds and the host are not compared. Ends with 1 where something differs.
"""
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

# What names a moment, a machine or a speed, the command that was typed, and sentences made of other keys.
UNLIKE = {
    "micros", "machine", "backend", "host", "program", "key", "command", "seconds", "cost", "remembered", "measured",
    "plain", "says",
}

# Speeds, and the questions' order of answering: told in the results beside them.
UNCOMPARED = {"trail.jsonl", "bench.json", "bench.csv", "times.csv"}


def stop(says, code):
    """Ends with a message."""
    print(f"repeat.py: {says}", file=sys.stderr)
    sys.exit(code)


def block(record):
    """The command lines of the record's Repeat block."""
    after = (record / "report.md").read_text().split("\n## Repeat\n", 1)[1]
    return re.search(r"(`{3,})sh\n(.*?)\n\1", after, re.S)[2]


def data(record):
    """Every file of the record's data: where it lies, the folder that the record was made of, and its name there."""
    stored = json.loads((record / "record.json").read_text())
    for entry in stored["data"]:
        for folder in stored["inputs"]:
            if entry["file"].startswith(folder + "/"):
                yield record / entry["file"], folder, entry["file"][len(folder) + 1:]


def again(work, folder, name):
    """Where the lines put it: as deep as the folder was typed, or in the empty folder itself."""
    parts = [part for part in Path(folder).parts if part not in ("..", ".")]
    places = [work.joinpath(*parts[start:], name) for start in range(len(parts) + 1)]
    return next((place for place in places if place.exists()), places[-1])


def alike(value):
    """A result without what may differ."""
    if isinstance(value, dict):
        kept = {key: alike(part) for key, part in value.items() if key not in UNLIKE}
        if "proposed" in kept:
            # A transcript's length has its times in it.
            kept.pop("bytes", None)
        # The faster of two settings stands first.
        kept.get("candidates", []).sort(key=lambda tried: tried["routes"])
        return kept
    return [alike(part) for part in value] if isinstance(value, list) else value


def lines(path):
    """A file's objects: one a line, or one in all; nothing where it has none."""
    text = path.read_text()
    try:
        parsed = [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else [json.loads(text)]
    except ValueError:
        return None
    # A header names the machine, and a trail's lines their answers' digests; both are told in the results.
    return [alike(one) for one in parsed if one.get("type") != "header"]


def first(left, right, place=""):
    """The first place where two values differ; nothing where they are equal."""
    if type(left) is type(right) and isinstance(left, (dict, list)):
        named = isinstance(left, dict)
        for key in {**left, **right} if named else range(max(len(left), len(right))):
            known = key in left and key in right if named else key < min(len(left), len(right))
            found = first(left[key], right[key], f"{place}.{key}") if known else f"{place}.{key}"
            if found:
                return found
        return None
    return None if left == right else place or "."


def compared(path, new):
    """What one word says of a file."""
    if path.suffix not in (".jsonl", ".json", ".csv") or path.name in UNCOMPARED:
        return "not compared"
    if not new.exists():
        return "missing"
    if path.suffix == ".csv":
        pairs = zip(path.read_text().splitlines() + [None], new.read_text().splitlines() + [None])
        place = next((number for number, (left, right) in enumerate(pairs, 1) if left != right), None)
        return f"differs at line {place}" if place else "same"
    place = first(lines(path), lines(new))
    return f"differs at {place}" if place else "same"


def run(record, work):
    """Runs the block in an empty folder."""
    work.mkdir(parents=True, exist_ok=True)
    if any(work.iterdir()):
        stop(f"{work} is not empty", 2)
    clone = Path(__file__).resolve().parent.parent
    target = Path(os.environ.get("CARGO_TARGET_DIR", clone / "target"))
    program = Path(os.environ.get("EXACTNESS", target / "release" / "exactness")).resolve()
    if not program.exists():
        stop(f"{program} is not there; cargo build --release, or set EXACTNESS", 5)
    found = {**os.environ, "REPOSITORY": str(clone), "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}
    for line in block(record).splitlines():
        print(f"$ {line}", flush=True)
        code = subprocess.run(["bash", "-c", line], cwd=work, env=found, check=False).returncode
        if code not in (0, 1, 3):
            stop(f"that ended with {code}", code)


def main():
    """Runs and compares."""
    if len(sys.argv) not in (3, 4) or sys.argv[3:] not in ([], ["--only"], ["--take"]):
        stop(__doc__, 2)
    record, work, how = Path(sys.argv[1]), Path(sys.argv[2]).resolve(), sys.argv[3:]
    if how != ["--only"]:
        run(record, work)
    counts = {}
    for path, folder, name in data(record):
        new = again(work, folder, name)
        word = compared(path, new)
        counts.setdefault(word.split(" at ")[0], []).append(word.replace("differs", name) if " at " in word else name)
        if how == ["--take"] and new.exists():
            shutil.copyfile(new, path)
    for word, names in counts.items():
        print(f"{len(names)} {'file' if len(names) == 1 else 'files'} {word}: {', '.join(names)}")
    if not counts.get("same"):
        print("nothing was compared")
    sys.exit(1 if counts.get("differs") or counts.get("missing") or not counts.get("same") else 0)


main()
