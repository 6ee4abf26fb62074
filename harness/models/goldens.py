"""Writes what mlx-lm computes on a checkpoint: greedy ids and logits, on the CPU in f32.

    python harness/models/goldens.py tests/models/tiny-llama

writes golden/mlx_lm_f32.safetensors beside the weights. Float tensors are turned into f32 before mlx-lm sees
them, so that its own preparation of Hugging Face files (one added to norms) rounds nothing. mlx-lm's llama.py
does not read rope_parameters; the checkpoints here state rope_theta and rope_scaling at the top.
"""

import argparse
import json
import shutil
import tempfile
from pathlib import Path

import mlx.core as mx
import mlx_lm
from mlx_lm.models.cache import make_prompt_cache
from mlx_lm.utils import load_model

FLOATS = (mx.float16, mx.bfloat16, mx.float32)
PROMPTS = ((1, 5), (2, 24), (3, 70))  # seed, length


def in_f32(folder: Path, into: Path) -> None:
    """A copy of the checkpoint whose float tensors are f32."""
    for file in folder.glob("*.json"):
        shutil.copy(file, into)
    for file in folder.glob("*.safetensors"):
        tensors, metadata = mx.load(str(file), return_metadata=True)
        cast = {name: t.astype(mx.float32) if t.dtype in FLOATS else t for name, t in tensors.items()}
        mx.save_safetensors(str(into / file.name), cast, metadata)


def prompt_ids(seed: int, length: int, vocabulary: int) -> list[int]:
    """A linear congruential sequence: the same ids whatever the library."""
    ids, state = [], seed
    for _ in range(length):
        state = (state * 1103515245 + 12345) % 2**31
        ids.append((state >> 8) % vocabulary)
    return ids


def greedy(model, prompt: list[int], count: int):
    """Greedy ids, the logits of the prompt's rows, and those of the last step."""
    cache = make_prompt_cache(model)
    first = model(mx.array([prompt]), cache=cache)[0]
    ids, last = [], first[-1]
    for _ in range(count):
        ids.append(mx.argmax(last).item())
        last = model(mx.array([ids[-1:]]), cache=cache)[0, -1]
    return ids, first, last


def closest(logits: mx.array) -> float:
    """How far the first row choice of these rows is from a tie."""
    top = mx.sort(logits, axis=-1)[..., -2:]
    return mx.min(top[..., 1] - top[..., 0]).item()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tokens", type=int, default=64)
    arguments = parser.parse_args()
    mx.set_default_device(mx.cpu)
    with tempfile.TemporaryDirectory() as copy:
        in_f32(arguments.folder, Path(copy))
        model, config = load_model(Path(copy))
        vocabulary = config.get("text_config", config)["vocab_size"]
        golden, gap = {}, float("inf")
        for number, (seed, length) in enumerate(PROMPTS):
            prompt = prompt_ids(seed, length, vocabulary)
            ids, first, last = greedy(model, prompt, arguments.tokens)
            gap = min(gap, closest(first[-1:]))
            golden[f"p{number}.prompt_ids"] = mx.array(prompt, dtype=mx.int32)
            golden[f"p{number}.greedy_ids"] = mx.array(ids, dtype=mx.int32)
            golden[f"p{number}.first_logits"] = first[-1]
            golden[f"p{number}.last_logits"] = last
    into = arguments.folder / "golden"
    into.mkdir(exist_ok=True)
    origin = {"mlx_lm": mlx_lm.__version__, "mlx": mx.__version__, "device": "cpu", "dtype": "float32"}
    mx.save_safetensors(str(into / "mlx_lm_f32.safetensors"), golden, origin)
    print(json.dumps(origin | {"folder": arguments.folder.name, "first_gap": gap}))


if __name__ == "__main__":
    main()
