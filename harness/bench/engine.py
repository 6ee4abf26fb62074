"""Times plain greedy decoding of one prompt by exactness and by mlx-lm, pair by pair.

    engine.py pairs BINARY MODEL [PAIRS] [TOKENS] [LENGTH]   prints a line a pair and the medians
    engine.py mlx-lm MODEL IDS TOKENS                      one run of mlx-lm, as JSON

Each run is a process of its own: what is timed is prefill and decoding, not loading; memory is the peak of the
process. Within a pair the side that goes first changes, so that neither gains from a machine that warms up.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

DTYPE = os.environ.get("DTYPE", "f32")


def decode_with_mlx_lm(folder, ids, tokens):
    import mlx.core as mx
    from mlx_lm.generate import generate_step

    model = load_for_mlx_lm(folder)
    dtype = {"f32": mx.float32, "f16": mx.float16, "bf16": mx.bfloat16}[DTYPE]
    model.set_dtype(dtype)
    mx.eval(model.parameters())
    start = time.perf_counter()
    stream, first = [], None
    # mlx-lm computes one token ahead, so it is asked for one less and left to finish the last by itself.
    for token, _ in generate_step(mx.array(ids), model, max_tokens=tokens):
        first = first or time.perf_counter()
        stream.append(token)
    end = time.perf_counter()
    print(json.dumps({"prefill": first - start, "decode": end - first, "ids": stream}))


def load_for_mlx_lm(path):
    """A checkpoint folder as mlx-lm loads it; a GGUF file's tensors in mlx-lm's llama."""
    if path.endswith(".gguf"):
        sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "models"))
        import mlx.core as mx
        from smollm2_against_mlx_lm import model_of

        return model_of(*mx.load(path, return_metadata=True))
    from pathlib import Path

    from mlx_lm.utils import load_model

    return load_model(Path(path))[0]


def measured(command):
    """Output and peak memory in MiB of a process that must succeed."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            sys.exit(f"{' '.join(command[:3])} … ended with status {status}")
        output.seek(0)
        return output.read(), usage.ru_maxrss / 1024


def ours(binary, folder, ids, tokens):
    out = tempfile.mkdtemp()
    try:
        command = [binary, "run-arm", "--classic", "--rows=none", "--ignore-eos", "--model", folder]
        command += ["--prompt-ids", ",".join(map(str, ids)), "--max-tokens", str(tokens), "--dtype", DTYPE]
        text, peak = measured([*command, "--format", "json", "--out", os.path.join(out, "run")])
        # The second of the two runs: the first also pays for what is set up once.
        run = json.loads(text)["runs"][1]
        with open(run["file"], encoding="utf-8") as lines:
            stream = json.loads(lines.readlines()[-1])["tokens"]
    finally:
        shutil.rmtree(out)
    return {"prefill": run["prefill_seconds"], "decode": run["decode_seconds"], "ids": stream, "peak": peak}


def theirs(folder, ids, tokens):
    command = [sys.executable, __file__, "mlx-lm", folder, ",".join(map(str, ids)), str(tokens)]
    text, peak = measured(command)
    return {**json.loads(text), "peak": peak}


def prompt(path, length):
    vocabulary = 4096  # every vocabulary has as many
    if os.path.isdir(path):
        with open(os.path.join(path, "config.json"), encoding="utf-8") as config:
            values = json.load(config)
        vocabulary = values.get("text_config", values)["vocab_size"]
    return [(7919 * n + 104729) % vocabulary for n in range(1, length + 1)]


def pairs(binary, folder, count=5, tokens=64, length=64):
    ids = prompt(folder, length)
    print(f"{os.path.basename(folder.rstrip('/'))}, {DTYPE}, prompt {length}, {tokens} tokens, load {os.getloadavg()[0]:.1f}")
    table = []
    for pair in range(count):
        sides = [lambda: ours(binary, folder, ids, tokens), lambda: theirs(folder, ids, tokens)]
        first, second = (sides if pair % 2 == 0 else sides[::-1])
        results = [first(), second()]
        mine, other = results if pair % 2 == 0 else results[::-1]
        if mine["ids"] != other["ids"]:
            same = next((n for n, (a, b) in enumerate(zip(mine["ids"], other["ids"])) if a != b), None)
            print(f"the two texts part at token {same}", file=sys.stderr)
        row = [other["decode"] / mine["decode"], other["prefill"] / mine["prefill"], mine["peak"] / other["peak"]]
        table.append(row)
        print(
            f"pair {pair + 1}: decode {tokens / mine['decode']:.1f} against {tokens / other['decode']:.1f} tok/s "
            f"= {row[0]:.2f} x; prefill {length / mine['prefill']:.0f} against {length / other['prefill']:.0f} ids/s "
            f"= {row[1]:.2f} x; memory {mine['peak']:.0f} against {other['peak']:.0f} MiB = {row[2]:.2f} x",
            flush=True,
        )
    medians = [statistics.median(column) for column in zip(*table)]
    print(f"median of {count}: decode {medians[0]:.2f} x, prefill {medians[1]:.2f} x, memory {medians[2]:.2f} x")


if __name__ == "__main__":
    if len(sys.argv) > 4 and sys.argv[1] == "mlx-lm":
        decode_with_mlx_lm(sys.argv[2], [int(i) for i in sys.argv[3].split(",")], int(sys.argv[4]))
    elif len(sys.argv) > 3 and sys.argv[1] == "pairs":
        pairs(sys.argv[2], sys.argv[3], *map(int, sys.argv[4:]))
    else:
        sys.exit(__doc__)
