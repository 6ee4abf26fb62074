"""SmolLM2 from its GGUF file: exactness against mlx-lm's llama and against the tokenizers library.

    python harness/models/smollm2_against_mlx_lm.py BINARY FILE.gguf OUT_FOLDER

Runs `BINARY run-arm` on the CPU, then decodes the same prompt ids with mlx-lm over the tensors that MLX's own GGUF reader
gives, in float32, and compares every id. Splits of text are compared with a tokenizer that the tokenizers library builds
from the file's lists. Last, block widths 2, 4 and 12 are held against plain decoding. Exit status 1 at any difference.
Needs mlx[cpu] 0.32.4, mlx-lm 0.32.2, tokenizers and numpy.
"""

import json
import subprocess
import sys
from pathlib import Path

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.models import llama
from mlx_lm.models.cache import make_prompt_cache
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

TOKENS = 64
PROMPTS = [
    "The capital of France is",
    "Once upon a time, in a village by the sea, there lived",
    "def fibonacci(n):\n    \"\"\"Return the n-th Fibonacci number.\"\"\"\n",
    "<|im_start|>user\nName three primary colours and say why they are called so.<|im_end|>\n<|im_start|>assistant\n",
    "Water boils at 100 degrees Celsius at sea level because",
    "1. Preheat the oven to 180 degrees.\n2. Mix the flour with",
    "Dear Sir or Madam,\n\nI am writing to",
    "The difference between a virus and a bacterium is that",
]
SPLITS = [
    "", " ", "  two  blanks ", "\n\n\ttab", "don't we'll I'M they'RE it's", "3.14159 and 1234567890", "x1y22z333",
    "\u00e9t\u00e9 na\u00efve \u00fcber", "\u4f60\u597d\u4e16\u754c 2024\u5e74", "\U0001f980\U0001f469\u200d\U0001f52c", "\u0663\u0664\u0665 \u00bd \u2167",
    "<|im_start|>system\nhi<|im_end|>", "<|im_start|", "<|endoftext|><repo_name>a/b<file_sep>", "a\u00a0b\u2003c", "\r\n\r\n",
    "snake_case CamelCase kebab-case", "https://example.org/a?b=1&c=%20", "if (x<=3){return -1;}", "Stra\u00dfe\u0301 e\u0301",
    "The   end.   ", "\u0000\u0001", "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627", "a" * 300, "0" * 40, "!!!???...---",
]  # fmt: skip

MODULES = {
    "token_embd": "model.embed_tokens", "output_norm": "model.norm", "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj", "ffn_norm": "post_attention_layernorm", "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
}  # fmt: skip


def run(binary, arguments):
    done = subprocess.run([binary, "run-arm", *arguments], capture_output=True, text=True)
    print(done.stdout.strip().splitlines()[-3] if done.stdout else "", done.stderr.strip())
    return done


def transcript(binary, file, out, prompts, tokens):
    """Prompt ids and decoded ids of plain decoding."""
    out.mkdir(parents=True, exist_ok=True)
    lines = out / "prompts.jsonl"
    lines.write_text("".join(json.dumps({"text": text}) + "\n" for text in prompts))
    flags = ["--classic", "--model", file, "--prompts", lines, "--max-tokens", str(tokens), "--rows=none"]
    done = run(binary, [*flags, "--out", out / "run"])
    assert done.returncode == 0, "plain decoding did not repeat itself"
    header, *rest = map(json.loads, (out / "run/classic.jsonl").read_text().splitlines())
    decoded = [line["tokens"] for line in rest if line["type"] == "footer"]
    return [prompt["ids"] for prompt in header["prompts"]], decoded


def model_of(weights, metadata):
    """mlx-lm's llama over the file's tensors, scales and norms in float32, rows of queries and keys put back."""
    number = lambda key: metadata[f"llama.{key}"].item()  # noqa: E731
    heads, keys = number("attention.head_count"), number("attention.head_count_kv")
    model = llama.Model(llama.ModelArgs(
        model_type="llama", hidden_size=number("embedding_length"), num_hidden_layers=number("block_count"),
        intermediate_size=number("feed_forward_length"), num_attention_heads=heads, num_key_value_heads=keys,
        rms_norm_eps=number("attention.layer_norm_rms_epsilon"), vocab_size=number("vocab_size"),
        rope_theta=number("rope.freq_base"), tie_word_embeddings="output.weight" not in weights,
    ))  # fmt: skip

    named = {}
    for name, array in weights.items():
        module, part = name.rsplit(".", 1)
        layer, module = module.rsplit(".", 1) if "." in module else ("", module)
        if module in ("attn_q", "attn_k"):
            count = heads if module == "attn_q" else keys
            array = array.reshape(count, -1, 2, array.shape[-1]).swapaxes(1, 2).reshape(array.shape)
        if array.dtype != mx.uint32:
            array = array.astype(mx.float32)
        prefix = layer.replace("blk.", "model.layers.") + "." if layer else ""
        named[f"{prefix}{MODULES[module]}.{part}"] = array

    def rule(path, module):
        if f"{path}.scales" not in named:
            return False
        words, groups = named[f"{path}.weight"].shape[-1], named[f"{path}.scales"].shape[-1]
        return {"group_size": 32, "bits": words // groups}

    nn.quantize(model, group_size=32, bits=4, class_predicate=rule)
    model.load_weights(list(named.items()), strict=True)
    return model


def greedy(model, prompt, count):
    cache, ids, fed = make_prompt_cache(model), [], prompt
    for _ in range(count):
        logits = model(mx.array([fed]), cache=cache)[0, -1]
        ids.append(mx.argmax(logits).item())
        fed = ids[-1:]
    return ids


def tokenizer_of(metadata):
    tokens = metadata["tokenizer.ggml.tokens"]
    merges = [tuple(merge.split(" ")) for merge in metadata["tokenizer.ggml.merges"]]
    tokenizer = Tokenizer(models.BPE({token: index for index, token in enumerate(tokens)}, merges))
    rule = [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(rule)
    tokenizer.decoder = decoders.ByteLevel()
    kinds = metadata["tokenizer.ggml.token_type"].tolist()
    special = [token for token, kind in zip(tokens, kinds) if kind == 3]
    tokenizer.add_special_tokens([AddedToken(token, normalized=False, special=True) for token in special])
    return tokenizer


def main():
    mx.set_default_device(mx.cpu)
    binary, file, out = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    weights, metadata = mx.load(file, return_metadata=True)

    reference = tokenizer_of(metadata)
    texts = PROMPTS + [text for text in SPLITS if text]
    ours, _ = transcript(binary, file, out / "splits", texts, 1)
    wrong = [text for text, ids in zip(texts, ours) if reference.encode(text, add_special_tokens=False).ids != ids]
    print(f"tokenizer: {len(texts)} texts, {sum(map(len, ours))} ids, different: {wrong}")

    model = model_of(weights, metadata)
    ours, decoded = transcript(binary, file, out / "classic", PROMPTS, TOKENS)
    end, compared, differing = metadata["tokenizer.ggml.eos_token_id"].item(), 0, []
    for number, (prompt, found) in enumerate(zip(ours, decoded, strict=True)):
        assert len(found) == TOKENS or found[-1] == end, f"prompt {number} ended early"
        expected = greedy(model, prompt, len(found))
        compared += len(found)
        if found != expected:
            differing.append((number, next(i for i, (a, b) in enumerate(zip(found, expected)) if a != b)))
    print(f"mlx-lm: {len(decoded)} prompts, {compared} ids, first differences (prompt, index): {differing}")

    flags = ["--widths", "2,4,12", "--model", file, "--max-tokens", "32", "--drafter", "cycle:0,1,2,3,11,5"]
    done = run(binary, [*flags, "--prompts", out / "classic/prompts.jsonl", "--out", out / "widths"])
    print(f"widths: exit status {done.returncode}")
    sys.exit(1 if wrong or differing or done.returncode or compared < 256 else 0)


if __name__ == "__main__":
    main()
