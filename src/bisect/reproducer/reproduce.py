"""Runs the two exported calls of this folder and compares one row of their outputs, byte by byte.

Needs `mlx` and nothing else; README.md says which. Exit code: 0 equal, 1 they differ, 5 a file was changed.
"""

import hashlib
import json
import sys
from pathlib import Path

import mlx.core as mx

FOLDER = Path(__file__).resolve().parent
INDEX = json.loads((FOLDER / "reproducer.json").read_text(encoding="utf-8"))


def row_of(side, tensors):
    call = INDEX[side]
    inputs = [tensors[f"{side}.{one['name']}"] for one in call["inputs"]]
    output = mx.import_function(str(FOLDER / f"{side}.mlxfn"))(*inputs)[0]
    return mx.contiguous(mx.take(output, mx.array([call["row"]]), axis=call["axis"])).flatten()


def main():
    for name, file in INDEX["files"].items():
        if hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() != file["sha256"]:
            print(f"{name} was changed or cut: its SHA-256 is not the one in reproducer.json")
            return 5
    backend = INDEX["about"]["backend"]
    if backend.get("name") == "mlx-cpu":
        mx.set_default_device(mx.cpu)
    mx.default_stream(mx.default_device())  # imported functions run on stream 0, which the first to ask gets
    print(f"{INDEX['about']['site']}; recorded with MLX {backend.get('version')}, run with {mx.__version__}")
    tensors = mx.load(str(FOLDER / "inputs.safetensors"))
    rows = {side: row_of(side, tensors) for side in ("chain", "block")}
    raw = {side: bytes(mx.view(row, mx.uint8).tolist()) for side, row in rows.items()}
    for side, data in raw.items():
        digest = hashlib.sha256(data).hexdigest()
        known = "as recorded" if digest == INDEX[side]["row_outside"] else "NOT as recorded"
        print(f"{side}: {len(data)} bytes, sha256 {digest}, {known}")
    differing = sum(a != b for a, b in zip(raw["chain"], raw["block"], strict=True))
    apart = mx.abs(rows["chain"].astype(mx.float32) - rows["block"].astype(mx.float32)).max().item()
    print(f"{differing} of {len(raw['chain'])} bytes differ; largest absolute difference {apart:.3e}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
