#!/usr/bin/env bash
# The GPU variants under compute-sanitizer: no access outside of memory, none given back twice or never, no race in shared memory.
# A small selection of t241, or of the test given: kernels run a hundred times slower there.
set -uo pipefail
program=$B/tests/${1:-t241_fd2d_gpu}
failed=0
ok() { echo "ok   - $*"; }
fail() {
  echo "FAIL - $*"
  failed=1
}

if [[ ! -x $program ]]; then
  fail "$program is not built"
  exit 1
fi
"$program" device > device.log 2>&1
if [[ -s device.log ]]; then
  cat device.log
  grep -q '^SKIP' device.log
  exit
fi
sanitizer=$(PATH=$PATH:/usr/local/cuda/bin command -v compute-sanitizer)
if [[ -z $sanitizer ]]; then
  echo "SKIP - compute-sanitizer for GPU kernels is neither on PATH nor in /usr/local/cuda/bin"
  exit 0
fi

# check TOOL SELECTION SUMMARY OPTION...: SUMMARY is the line of a run without a fault. Errors that CUDA calls return are looked at by
# the code.
check() {
  local tool=$1 selection=$2 summary=$3 status claims start=$SECONDS
  "$program" "$selection" > plain.log 2>&1 \
    || fail "without compute-sanitizer: $(grep -m 1 '^FAIL' plain.log || tail -n 1 plain.log)"
  claims=$(grep -c '^ok' plain.log)
  timeout -k 5 140 "$sanitizer" --tool "$tool" --error-exitcode 99 "${@:4}" "$program" "$selection" > "$tool.log" 2>&1
  status=$?
  if grep -qi 'device not supported' "$tool.log"; then
    echo "SKIP - compute-sanitizer does not work on this system: device not supported"
  elif [[ $status == 0 ]] && grep -q "$summary" "$tool.log" && [[ $(grep -c '^ok' "$tool.log") == "$claims" ]]; then
    ok "$tool: $summary, all $claims claims hold, $((SECONDS - start)) s"
  else
    fail "$tool: exit status $status, $(grep -E 'SUMMARY' "$tool.log" | tail -n 1), $(grep -c '^ok' "$tool.log") of $claims claims"
    grep -m 12 '^========= ' "$tool.log" | sed 's/^/  /'
  fi
}

check memcheck small 'ERROR SUMMARY: 0 errors' --report-api-errors no --leak-check full
check racecheck tiny 'RACECHECK SUMMARY: 0 hazards'
exit $failed
