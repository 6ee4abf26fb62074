#!/usr/bin/env python3
"""Writes a lawful speculative transcript of a given size, as this project's engine writes one.

Random drafts against random targets, kept rows with digests and top entries, cache lengths, timings; several
sequences interleaved round by round. The same arguments write the same bytes.

    generate_transcript.py OUT.jsonl [--megabytes 1024] [--width 4] [--sequences 4] [--top 8] [--tokens 4096]
"""
import argparse
import hashlib
import json
import random


class Sequence:
    """One sequence on its way to its token budget."""

    def __init__(self, number, prompt, first):
        self.number, self.prompt, self.stream = number, prompt, [first]
        self.round = self.drafted = self.accepted = 0
        self.per_position = []


def row(rng, token, index, position, options):
    """A recorded row whose best entry is `token`."""
    logit = round(rng.uniform(14, 30) * 8) / 8
    top = [[token, logit]]
    for _ in range(options.top - 1):
        logit -= rng.randrange(1, 9) / 8
        top.append([rng.randrange(options.vocab), logit])
    digest = hashlib.sha256(b"%d %d %d" % (token, position, rng.randrange(1 << 30))).hexdigest()
    return {"index": index, "position": position, "sha256": digest, "dtype": "bfloat16", "top": top}


def round_line(rng, seq, options):
    """One lawful round, and the sequence after it."""
    proposals = options.width - 1
    target = [rng.randrange(10, options.vocab) for _ in range(options.width)]
    accepted = min(proposals, int(rng.expovariate(0.5)))
    draft = target[:proposals]
    if accepted < proposals:
        draft = draft[:accepted] + [(target[accepted] + 1) % options.vocab] + draft[accepted + 1:]
    emitted = target[:accepted + 1][:options.tokens - len(seq.stream)]
    before = seq.prompt + len(seq.stream) - 1
    rows = [row(rng, token, len(seq.stream) + i if i < len(emitted) else None, before + i, options)
            for i, token in enumerate(target)]
    line = {"type": "round", "sequence": seq.number, "round": seq.round, "width": options.width,
            "bonus": seq.stream[-1], "draft": draft, "target": target, "accepted": accepted, "emitted": emitted,
            "cache_before": before, "cache_after": before + accepted + 1, "state_kept": accepted + 1, "rows": rows,
            "micros": {"draft": round(rng.uniform(900, 2000), 1), "verify": round(rng.uniform(4000, 9000), 1),
                       "sync": round(rng.uniform(10, 90), 1), "rewind": round(rng.uniform(10, 90), 1)}}
    seq.stream += emitted
    seq.round, seq.drafted, seq.accepted = seq.round + 1, seq.drafted + proposals, seq.accepted + accepted
    seq.per_position = seq.per_position or [0] * proposals
    for i in range(accepted):
        seq.per_position[i] += 1
    return line


def footer_line(seq):
    counters = {"rounds": seq.round, "drafted": seq.drafted, "accepted": seq.accepted,
                "per_position": seq.per_position}
    return {"type": "footer", "sequence": seq.number, "complete": True, "finish_reason": "length",
            "tokens": seq.stream, "counters": counters}


def sequences_for(options):
    """How many sequences make the size, from the size of one round."""
    sample = len(dump(round_line(random.Random(0), Sequence(0, 512, 11), options)))
    per_sequence = sample * options.tokens / min(options.width, 2.3) + options.tokens * 7
    total = max(options.sequences, round(options.megabytes * 1e6 / per_sequence))
    return total + -total % options.sequences


def dump(line):
    return json.dumps(line, separators=(",", ":")) + "\n"


def write(out, options):
    rng = random.Random(options.seed)
    total = sequences_for(options)
    prompts = [{"sequence": n, "ids": [rng.randrange(10, options.vocab) for _ in range(64)]} for n in range(total)]
    out.write(dump({
        "type": "header", "format": "exactness.transcript", "version": 1, "arm": f"w{options.width}",
        "kind": "speculative", "prompts": prompts, "width": options.width,
        "drafter": {"name": "random", "cache": "none"}, "window": "per-row", "max_tokens": options.tokens,
        "eos_ids": [2], "ignore_eos": False, "vocab_size": options.vocab}))
    for start in range(0, total, options.sequences):
        running = []
        for number in range(start, start + options.sequences):
            seq = Sequence(number, 64, rng.randrange(10, options.vocab))
            out.write(dump({"type": "prefill", "sequence": number, "token": seq.stream[0], "cache_len": 64,
                            "row": row(rng, seq.stream[0], 0, 63, options)}))
            running.append(seq)
        while running:
            for seq in list(running):
                out.write(dump(round_line(rng, seq, options)))
                if len(seq.stream) >= options.tokens:
                    out.write(dump(footer_line(seq)))
                    running.remove(seq)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--megabytes", type=float, default=1024)
    parser.add_argument("--width", type=int, default=4)
    parser.add_argument("--sequences", type=int, default=4, help="verified together")
    parser.add_argument("--tokens", type=int, default=4096, help="budget of a sequence")
    parser.add_argument("--top", type=int, default=8)
    parser.add_argument("--vocab", type=int, default=151936)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with open(options.out, "w", encoding="ascii", buffering=1 << 20) as out:
        write(out, options)


if __name__ == "__main__":
    main()
