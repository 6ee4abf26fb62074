"""Makes the small quantized checkpoints under tests/models and their goldens, with mlx-lm on the CPU.

    python harness/models/quantized_goldens.py tests/models

A random model of the Qwen 3.5 text architecture is drawn once, quantized by mlx-lm in each mode, saved, loaded again by
mlx-lm from the folder, and decoded greedily in float32. Needs mlx[cpu] 0.32.4, mlx-lm 0.32.2 and numpy.
"""

import json
import sys
from pathlib import Path

import mlx.core as mx
import numpy as np
from mlx.utils import tree_flatten, tree_unflatten
from mlx_lm.models import qwen3_5
from mlx_lm.utils import load_model, quantize_model

SEED = 21
HIDDEN, INNER, VOCABULARY = 64, 128, 160
PROMPTS = (23, 57)
TOKENS = 72

TEXT = {
    "model_type": "qwen3_5_text", "vocab_size": VOCABULARY, "hidden_size": HIDDEN, "intermediate_size": INNER,
    "num_hidden_layers": 4, "full_attention_interval": 4,
    "layer_types": ["linear_attention"] * 3 + ["full_attention"],
    "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 32, "attention_bias": False,
    "attn_output_gate": True, "hidden_act": "silu", "rms_norm_eps": 1e-6, "max_position_embeddings": 4096,
    "linear_conv_kernel_dim": 4, "linear_key_head_dim": 32, "linear_value_head_dim": 16,
    "linear_num_key_heads": 2, "linear_num_value_heads": 4,
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000000, "partial_rotary_factor": 0.25},
}  # fmt: skip

MXFP4 = {"mode": "mxfp4", "group_size": 32, "bits": 4}
MXFP8 = {"mode": "mxfp8", "group_size": 32, "bits": 8}
NVFP4 = {"mode": "nvfp4", "group_size": 16, "bits": 4}
AFFINE = {"mode": "affine", "group_size": 32, "bits": 5}


def own_rule(path, module):
    """The mixed checkpoint: most of it mxfp4, some modules in each other mode, one not quantized."""
    if not hasattr(module, "to_quantized"):
        return False
    for end, rule in {"embed_tokens": MXFP8, "lm_head": NVFP4, "up_proj": NVFP4, "in_proj_z": AFFINE,
                      "q_proj": MXFP8, "2.mlp.down_proj": False}.items():  # fmt: skip
        if path.endswith(end):
            return rule
    return True


CHECKPOINTS = {
    "tiny-mxfp4": (MXFP4, None, True),
    "tiny-mxfp8": (MXFP8, None, True),
    "tiny-nvfp4": (NVFP4, None, True),
    "tiny-mixed-modes": (MXFP4, own_rule, False),
}


def drawn(name, shape, generator):
    """A parameter of a spread that keeps activations and logits in a trained model's range."""
    normal = generator.standard_normal(shape).astype(np.float32)
    if name.endswith("A_log"):
        return np.log(0.5 + 15.5 * generator.random(shape)).astype(np.float32)
    if name.endswith("dt_bias"):
        step = np.exp(generator.random(shape) * np.log(100) + np.log(0.001))
        return np.log(np.expm1(step)).astype(np.float32)
    if name.endswith("conv1d.weight"):
        return 0.5 * normal
    if len(shape) == 1:
        return 1 + 0.1 * normal
    if name.endswith(("embed_tokens.weight", "lm_head.weight")):
        return 0.4 * normal
    return 1.6 / np.sqrt(shape[-1]) * normal


def fresh(tied):
    config = {"model_type": "qwen3_5", "eos_token_id": None, "tie_word_embeddings": tied}
    config["text_config"] = {**TEXT, "tie_word_embeddings": tied}
    model = qwen3_5.Model(qwen3_5.ModelArgs.from_dict(config))
    generator = np.random.default_rng(SEED)
    shapes = sorted((name, value.shape) for name, value in tree_flatten(model.parameters()))
    weights = [(name, mx.array(drawn(name, shape, generator))) for name, shape in shapes]
    model.update(tree_unflatten(weights))
    mx.eval(model.parameters())
    return model, config


def save(folder, rule, predicate, tied):
    model, config = fresh(tied)
    model, config = quantize_model(model, config, **rule, quant_predicate=predicate)
    folder.mkdir(parents=True, exist_ok=True)
    weights = dict(tree_flatten(model.parameters()))
    mx.save_safetensors(str(folder / "model.safetensors"), weights, {"format": "mlx"})
    config["quantization_config"] = config["quantization"]
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")


def decode(model, prompt):
    """Greedy ids, the best logit less the second of each step, and the logits of the first and the last step."""
    cache, ids, kept, margins, fed = model.make_cache(), [], [], [], prompt
    for _ in range(TOKENS + 1):
        logits = np.array(model(mx.array([fed]), cache=cache)[0, -1].astype(mx.float32))
        best = np.sort(logits)[-2:]
        ids.append(int(logits.argmax()))
        margins.append(float(best[1] - best[0]))
        kept.append(logits)
        fed = ids[-1:]
    return ids[:TOKENS], margins[:TOKENS], kept[0], kept[TOKENS]


def golden(folder):
    model, _ = load_model(folder)
    generator = np.random.default_rng(SEED + 1)
    tensors, smallest, spread = {}, [], []
    for number, length in enumerate(PROMPTS):
        prompt = generator.integers(0, VOCABULARY, length).tolist()
        ids, margins, first, last = decode(model, prompt)
        tensors[f"p{number}.input_ids"] = mx.array(prompt, dtype=mx.int32)
        tensors[f"p{number}.greedy_ids"] = mx.array(ids, dtype=mx.int32)
        tensors[f"p{number}.first_logits"] = mx.array(first)
        tensors[f"p{number}.logits_after_greedy"] = mx.array(last)
        smallest.append(min(margins))
        spread.append(float(first.std()))
        assert len(set(ids)) > 8, "the text goes round in a circle"
    (folder / "golden").mkdir(exist_ok=True)
    mx.save_safetensors(str(folder / "golden/mlx_lm_f32.safetensors"), tensors)
    print(f"{folder.name}: smallest margin {min(smallest):.4f}, deviation of logits {max(spread):.2f}")


def main():
    mx.set_default_device(mx.cpu)
    for name, (rule, predicate, tied) in CHECKPOINTS.items():
        folder = Path(sys.argv[1]) / name
        save(folder, rule, predicate, tied)
        golden(folder)


if __name__ == "__main__":
    main()
