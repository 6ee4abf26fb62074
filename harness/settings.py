#!/usr/bin/env python3
"""Prints the command lines that a settings file stands for, one a line: name, TAB, quoted words.

    settings.py FILE.toml [NAME ...]

An entry of `[[run]]` is one command line: `verb` (run-arm unless told), `name` (its folder), and flags as keys. A list
is joined by commas, true is a flag without a value, `sides` gives the two sides of an A/B. With SMALL=1 the keys of
`[small]`, then those of the entry's own `small`, replace the others, and entries without `small` are left out.
"""
import os
import shlex
import sys
import tomllib

OWN = {"name", "verb", "small", "sides", "says"}


def flags(entry):
    """The words of an entry's flags."""
    words = []
    for key, value in entry.items():
        if key in OWN or value is False:
            continue
        if value is True:
            words.append(f"--{key}")
        elif isinstance(value, list):
            words.append(f"--{key}={','.join(map(str, value))}")
        else:
            words.append(f"--{key}={value}")
    return words


def chosen(settings, names):
    """The entries that were asked for."""
    known = [run["name"] for run in settings["run"]]
    for name in names:
        if name not in known:
            sys.exit(f"settings.py: no run is called {name}; there are {', '.join(known)}")
    small = os.environ.get("SMALL") == "1"
    for run in settings["run"]:
        if names and run["name"] not in names or small and "small" not in run:
            continue
        less = {**settings.get("small", {}), **run["small"]} if small else {}
        entry = {**settings.get("all", {}), **run, **less}
        if "model" not in entry and os.environ.get("MODEL"):
            entry["model"] = os.environ["MODEL"]
        yield entry


def main():
    """Prints them."""
    with open(sys.argv[1], "rb") as file:
        settings = tomllib.load(file)
    for entry in chosen(settings, sys.argv[2:]):
        name, verb = entry["name"], entry.get("verb", "run-arm")
        for side, more in entry.get("sides", {"": {}}).items():
            folder = f"{name}-{side}" if side else name
            print(folder, shlex.join([verb, *flags({**entry, **more})]), sep="\t")


main()
