#!/usr/bin/env python3
"""Parameters that have no effect in the job at hand are refused by name; at their defaults, as a record of a run has them, and where
they have one, they are not."""
import os
from pathlib import Path

import launch
from check import claim, done

PROGRAMS = Path(os.environ["B"]) / "bin"
GPUS = {"SplFd2dmod": "ranks_per_gpu=2 shots_per_gpu=3",
        "SplFd3dmod": "ranks_per_gpu=2 shots_per_gpu=3",
        "SplSemmod": "ranks_per_gpu=2 shots_per_gpu=3 sum=colour resident=fields"}


def said(program, *words):
    """What is told of the parameters by a verb that needs none of them."""
    return launch.run(PROGRAMS / program, "status", "output=none.nc", *words).stderr


for program, words in GPUS.items():
    text = said(program, *words.split())
    missing = [w for w in words.split() if f"{w.partition('=')[0]} = {w.partition('=')[2]}" not in text]
    claim(not missing and text.count("has no effect without GPUs") == len(words.split()),
          f"{program} {words}: refused {text.count('has no effect without GPUs')} times, must be {len(words.split())}; not named: {missing}")
    at_need = {"SplSemmod": ["on_gpu_error=retire", "gpu_memory=4"]}.get(program, ["on_gpu_error=retire"])
    claim("no effect" not in said(program, *at_need), f"{program} {at_need}: what holds at need only may stand in any deck")
    halo = "has no effect: each shot has one rank"
    if program != "SplFd2dmod":
        claim(halo in said(program, "halo=mpi") and halo not in said(program, "halo=mpi", "group=2")
              and halo not in said(program, "halo=mpi", "group=auto"), f"{program}: halo=mpi is refused unless ranks share a shot")
    defaults = launch.run(PROGRAMS / program, "--template").stdout
    Path("all.par").write_text("\n".join(line[1:] if line[:1] == "#" and line[1:2].isalpha() and line.partition("=")[2].strip()
                                         else "" for line in defaults.splitlines()))
    text = said(program, "par=all.par")
    claim("no effect" not in text and "no run of 'none.nc'" in text, f"{program}: all parameters at their defaults: {text.strip()[:120]}")
done()
