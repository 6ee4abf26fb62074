"""Records speculative rounds for `exactness check-algebra`: copy this file into an engine. Standard library only.

    with Recorder("w4.jsonl", "w4", [prompt_ids], width=4, max_tokens=200, eos_ids=[2], ignore_eos=False) as record:
        record.prefill(0, token, cache_len=len(prompt_ids))
        record.round(0, bonus, draft, target, accepted, emitted, cache_before=..., cache_after=...)
        record.footer(0, "length")

Leave out what you do not know; never write zero for it. Lines are flushed, so a crash loses none.
"""
import json


class Recorder:
    def __init__(self, path, arm, prompts, kind="speculative", **header):
        """`prompts`: the ids of each sequence. `header`: any key of the format's header."""
        self.file = open(path, "x", encoding="utf-8")
        self.streams, self.counts = {}, {}
        prompts = [{"sequence": n, "ids": list(ids)} for n, ids in enumerate(prompts)]
        self.line("header", format="exactness.transcript", version=1, arm=arm, kind=kind, prompts=prompts, **header)

    def line(self, type_, /, **keys):
        self.file.write(json.dumps({"type": type_, **keys}, separators=(",", ":")) + "\n")
        self.file.flush()

    def prefill(self, sequence, token, **keys):
        """The token sampled from the prompt's last row."""
        self.streams[sequence] = [token]
        self.line("prefill", sequence=sequence, token=token, **keys)

    def step(self, sequence, token, **keys):
        """Plain decoding: one token, fed with the one before it."""
        stream = self.streams[sequence]
        self.line("step", sequence=sequence, index=len(stream), input=stream[-1], token=token, **keys)
        stream.append(token)

    def round(self, sequence, bonus, draft, target, accepted, emitted, **keys):
        """`target`: the argmax of all len(draft) + 1 rows, read before anything is cut off."""
        counts = self.counts.setdefault(sequence, {"rounds": 0, "drafted": 0, "accepted": 0})
        self.line("round", sequence=sequence, round=counts["rounds"], width=len(draft) + 1, bonus=bonus,
                  draft=list(draft), target=list(target), accepted=accepted, emitted=list(emitted), **keys)
        counts["rounds"] += 1
        counts["drafted"] += len(draft)
        counts["accepted"] += keys.get("walked") or accepted
        self.streams[sequence].extend(emitted)

    def footer(self, sequence, finish_reason=None, complete=True, **keys):
        """`finish_reason`: stop, stop_string, length, context or aborted. Pass `tokens` as the client got them."""
        keys.setdefault("tokens", self.streams.get(sequence))
        keys.setdefault("counters", self.counts.get(sequence))
        self.line("footer", sequence=sequence, complete=complete, finish_reason=finish_reason, **keys)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.file.close()
