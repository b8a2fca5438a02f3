#!/usr/bin/env bash
# The parameter reference and the default deck in inputs/ are what the program prints.
set -u
failed=0
claim() { # NAME COMMAND...
  local name=$1
  shift
  if "$@"; then echo "ok   - $name"; else echo "FAIL - $name"; failed=1; fi
}
"$B/bin/SplFd2dmod" --markdown > reference
tail -n +5 "$ROOT/inputs/README.md" > kept
claim 'inputs/README.md from its fifth line on is SplFd2dmod --markdown' diff -u kept reference
"$B/bin/SplFd2dmod" --template > template
claim 'inputs/defaults.par is SplFd2dmod --template' diff -u "$ROOT/inputs/defaults.par" template
"$B/bin/SplFd3dmod" --markdown > reference3d
tail -n +5 "$ROOT/inputs/parameters3d.md" > kept3d
claim 'inputs/parameters3d.md from its fifth line on is SplFd3dmod --markdown' diff -u kept3d reference3d
"$B/bin/SplFd3dmod" --template > template3d
claim 'inputs/defaults3d.par is SplFd3dmod --template' diff -u "$ROOT/inputs/defaults3d.par" template3d
"$B/bin/SplSemmod" --markdown > reference_sem
tail -n +5 "$ROOT/inputs/parameters_sem.md" > kept_sem
claim 'inputs/parameters_sem.md from its fifth line on is SplSemmod --markdown' diff -u kept_sem reference_sem
"$B/bin/SplSemmod" --template > template_sem
claim 'inputs/defaults_sem.par is SplSemmod --template' diff -u "$ROOT/inputs/defaults_sem.par" template_sem
exit $failed
