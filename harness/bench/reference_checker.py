#!/usr/bin/env python3
"""The laws of `exactness laws` that hold within one arm, in plain Python: the yardstick of judge.sh.

It parses with the standard library and checks what it parsed, one pass, sequences apart. It prints the first broken
law of each sequence and what it counted; exit status 1 when a law is broken.
"""
import json
import sys
from collections import defaultdict

EXPLAINED = ("stop_string", "context", "aborted")


class Sequence:
    def __init__(self, prompt):
        self.prompt, self.stream, self.held = prompt, [], None
        self.next_round = self.drafted = self.accepted = self.walked = self.rounds = 0
        self.slot, self.per_position, self.broken = None, [], []


def round_laws(head, seq, r, footer, others):
    """The laws of one round, in order; `footer` is set when it is the last round."""
    width, draft, target = r["width"], r["draft"], r["target"]
    accepted, emitted, n = r["accepted"], r["emitted"], r["width"] - 1
    size, eos = head.get("vocab_size"), head.get("eos_ids")
    ends = set(eos) if eos and not head.get("ignore_eos") else set()
    if size is not None and not all(0 <= t < size for t in (r["bonus"], *target, *emitted)):
        yield "vocabulary"
    if r["round"] != seq.next_round:
        yield "round-sequence"
    if len(draft) != n:
        yield "draft-length"
    if len(target) != width:
        yield "target-length"
    if not 0 <= accepted <= n:
        yield "accept-range"
    if ends and any(t in ends for t in seq.stream[-width:]):
        yield "round-after-stop"
    if r["bonus"] != seq.stream[-1]:
        yield "bonus-chain"
    before, after = r.get("cache_before"), r.get("cache_after")
    if before is not None and before != seq.prompt + len(seq.stream) - 1:
        yield "cache-length"
    if r.get("state_read") is not None and seq.slot is not None and r["state_read"] != seq.slot:
        yield "state-slot"
    if r.get("shared_cache") is not None and r["shared_cache"] != before:
        yield "shared-cache-length"
    sane = len(draft) == n and len(target) == width and 0 <= accepted <= n
    chosen = draft[:accepted] + [target[accepted]] if sane else []
    if sane:
        walk = 0
        while walk < n and draft[walk] == target[walk]:
            walk += 1
        if r.get("walked", walk) not in (walk, None):
            yield "accepted-prefix"
        elif accepted != walk and not (head.get("window") == "clamp" and accepted < walk):
            yield "accepted-prefix"
        others[r["round"]].append((r["sequence"], target))
    if not emitted:
        yield "emission-empty"
    elif sane and emitted != chosen:
        if any(s != r["sequence"] and t[:len(emitted)] == emitted for s, t in others[r["round"]]):
            yield "row-leak"
        if chosen[:len(emitted)] != emitted or not footer:
            yield "emission"
        elif not (head.get("max_tokens") is None or len(seq.stream) + len(emitted) >= head["max_tokens"]
                  or emitted[-1] in ends or footer.get("finish_reason") in EXPLAINED):
            yield "truncation"
    kept = range(len(emitted) if footer else accepted + 1, accepted + 2)
    if before is not None and after is not None and after - before not in kept:
        yield "cache-length"
    if r.get("state_kept") is not None and r["state_kept"] not in kept:
        yield "state-kept"
    if (head.get("drafter") or {}).get("cache") == "autoregressive" and r.get("draft_cache_after") is not None:
        if r["draft_cache_after"] not in (before + accepted + 1, before + accepted + (accepted != n)):
            yield "draft-cache-length"
    yield from row_laws(r, before, len(seq.stream))


def row_laws(r, before, emitted):
    rows = r.get("rows")
    if rows is None:
        return
    if len(rows) != r["width"]:
        yield "row-choice"
    for i, (row, token) in enumerate(zip(rows, r["target"])):
        if row.get("top") and row["top"][0][0] != token:
            yield "row-choice"
        if before is not None and row.get("position") not in (None, before + i):
            yield "row-position"
        if row.get("index") is not None and (i > r["accepted"] or row["index"] != emitted + i):
            yield "row-position"


def end_laws(head, seq, footer):
    """The laws at a sequence's end, in order."""
    eos, budget, reason = set(head.get("eos_ids") or ()), head.get("max_tokens"), footer.get("finish_reason")
    tokens = footer.get("tokens")
    stream = seq.stream if tokens is None else tokens
    judged = not head.get("ignore_eos")
    if judged and any(t in eos for t in stream[:-1]):
        yield "after-eos"
    if budget is not None and len(stream) > budget:
        yield "budget"
    if judged and ((reason == "length" and (len(stream) < (budget or 0) or any(t in eos for t in stream[:-1])))
                   or (reason == "stop" and (not stream or stream[-1] not in eos))):
        yield "finish-reason"
    if tokens is not None and tokens != seq.stream:
        yield "stream-assembly"
    counters = footer.get("counters") or {}
    for key, value in (("rounds", seq.rounds), ("drafted", seq.drafted), ("accepted", seq.walked)):
        if counters.get(key) not in (None, value):
            yield "counter-" + key
    told = counters.get("per_position")
    if told is not None and (sorted(told, reverse=True) != told or told != seq.per_position):
        yield "counter-per-position"
    usage = footer.get("usage") or {}
    if usage.get("completion_tokens") not in (None, len(stream), len(stream) + 1):
        yield "usage"
    logprobs = footer.get("logprobs")
    if logprobs is not None and len(logprobs) not in (len(stream), len(stream) + 1):
        yield "logprob-length"
    if logprobs is not None and len(logprobs) > 3 and len(set(logprobs)) == 1:
        yield "logprob-constant"


def release(head, seq, footer, others):
    """Judges the round that waited to know whether another follows."""
    r, seq.held = seq.held, None
    if r is None:
        return
    seq.broken.extend((law, r["round"]) for law in round_laws(head, seq, r, footer, others))
    seq.stream += r["emitted"]
    walk = r.get("walked") or r["accepted"]
    seq.next_round, seq.slot, seq.rounds = r["round"] + 1, r.get("state_committed"), seq.rounds + 1
    seq.drafted, seq.walked = seq.drafted + len(r["draft"]), seq.walked + walk
    seq.per_position += [0] * (len(r["draft"]) - len(seq.per_position))
    for i in range(min(walk, len(r["draft"]))):
        seq.per_position[i] += 1


def token_laws(seq, line, index):
    row = line.get("row") or {}
    if line.get("cache_len") not in (None, seq.prompt + index):
        yield "cache-length"
    if row.get("top") and row["top"][0][0] != line["token"]:
        yield "row-choice"
    if row.get("position") not in (None, seq.prompt + index - 1):
        yield "row-position"
    if line["type"] == "step" and (line["index"] != index or line["input"] != seq.stream[-1]):
        yield "step-chain"


def main():
    rounds, head, sequences, broken, others = 0, None, {}, [], defaultdict(list)
    with open(sys.argv[1], "rb") as lines:
        for text in lines:
            line = json.loads(text)
            kind = line["type"]
            if kind == "header":
                head = line
                sequences = {p["sequence"]: Sequence(len(p["ids"])) for p in line["prompts"]}
                continue
            seq = sequences[line["sequence"]]
            release(head, seq, line if kind == "footer" else None, others)
            if kind == "round":
                seq.held, rounds = line, rounds + 1
            elif kind == "footer":
                seq.broken.extend((law, None) for law in end_laws(head, seq, line))
                broken += [(line["sequence"], *law) for law in seq.broken]
                seq.stream = []
                if not any(s.stream for s in sequences.values()):
                    others.clear()
            else:
                index = len(seq.stream)
                seq.broken.extend((law, None) for law in token_laws(seq, line, index))
                seq.stream.append(line["token"])
    for entry in broken:
        print(*entry)
    print(f"{'inconsistent' if broken else 'consistent'}: {rounds} rounds judged")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
