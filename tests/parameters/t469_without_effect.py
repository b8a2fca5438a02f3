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
              and all(halo not in said(program, "halo=mpi", f"group={n}") for n in ("auto", 1)), f"{program}: halo=mpi is refused unless ranks share a shot")
    defaults = launch.run(PROGRAMS / program, "--template").stdout
    Path("all.par").write_text("\n".join(line[1:] if line[:1] == "#" and line[1:2].isalpha() and line.partition("=")[2].strip()
                                         else "" for line in defaults.splitlines()))
    text = said(program, "par=all.par")
    claim("no effect" not in text and "no run of 'none.nc'" in text, f"{program}: all parameters at their defaults: {text.strip()[:120]}")

# Rules say nothing that files tell, nor that is of volumes where there are none. Each file in turn is left out, and its rule then has its effect.
OF_VOLUMES = "model_nx=3 model_dz=5 model_y0=7 model_order=zyx model_at=nodes vp_unit=km/s rho_unit=g/cm3 vs_var=beta model_format=raw64".split()
WITHOUT = {"SplFd3dmod": ["layers=a.layers"], "SplSemmod": ["mesh=layers", "layers=a.layers", "materials=a.materials"]}
FILES = {"SplFd2dmod": ["vp", "rho"], "SplFd3dmod": ["vp", "vs", "rho", "qp", "qs"], "SplSemmod": ["vp", "vs", "rho", "qp", "qs"]}
RULES = {"vs": ["vp_vs=1.9"], "rho": ["rho_rule=gardner", "rho_value=2000"], "qp": ["qp_qs=3"], "qs": ["qs_vs=0.1"]}


def refused(text):
    return sorted(line.split()[0] for line in text.replace("error: ", "").splitlines() if "has no effect: " in line)


for program, words in WITHOUT.items():
    text = said(program, *words, *OF_VOLUMES)
    claim(refused(text) == sorted(w.partition("=")[0] for w in OF_VOLUMES), f"{program} {' '.join(words)}: words of volumes refused: {refused(text)}")
    claim(not refused(said(program, "vp=a.raw", "materials=a.materials" if program == "SplSemmod" else "vs=b.raw", *OF_VOLUMES)),
          f"{program}: beside a volume they are not")
for program, files in FILES.items():
    for left_out in files[1:]:
        given = [f for f in files if f != left_out]
        text = said(program, *(f"{f}={f}.nc" for f in given), *(w for f in files[1:] for w in RULES[f]))
        must = sorted(w.partition("=")[0] for f in given[1:] for w in RULES[f])
        claim(refused(text) == must, f"{program} with files of {', '.join(given)}: rules refused {refused(text)}, must be {must}")
text = said("SplFd3dmod", "npml=0", "absorb=damped", "layer_differences=narrow", "fault_lon=3", "fault=a.srf")
claim(refused(text) == ["absorb", "fault", "fault_lon", "layer_differences"], f"no layers that absorb, no fault: {refused(text)}")
for program, words in (("SplFd3dmod", ["snapshot_step=3"]), ("SplSemmod", ["snapshot_dx=30", "ocean_rho=1100"])):
    text = said(program, "pgv=y", "snapshot_planes=x300", "snapshot_fields=p", *words)
    claim(refused(text) == ["ocean_rho"] * (program == "SplSemmod") + ["snapshot_fields", "snapshot_planes"],
          f"{program}: maps alone take no planes and fields, an ocean that is not there no density: {refused(text)}")
done()
