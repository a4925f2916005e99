#!/usr/bin/env bash
# Plants each bug of src/LightQ.Storage/Mutation.cs and shows which fault tests turn red. A bug that no test notices fails the run.
#   tests/mutants.sh [MUTANT...]      all of them without arguments
# Builds into a temporary directory; first a control without a bug, in which everything must be green.
set -euo pipefail
cd "$(dirname "$0")/.."
export DOTNET_NOLOGO=1 DOTNET_CLI_TELEMETRY_OPTOUT=1 MSBUILDDISABLENODEREUSE=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mutants=("$@")
[ $# -gt 0 ] || mutants=(NoFsync AckBeforeFsync NoDirectoryFsync NoZeroAfterCut NoCrc SparseSegment SkipGap)
survivors=0

# try NAME BUILD-ARGUMENT...: builds and runs; leaves the tests that turned red in $work/NAME.red.
try() {
    local name=$1; shift
    dotnet build tests/LightQ.Tests -c Release -v q -p:RunAnalyzers=false -p:EnforceCodeStyleInBuild=false \
        --artifacts-path "$work/out" "$@" >"$work/$name.log" 2>&1 || { tail -n 20 "$work/$name.log"; return 2; }
    "$work/out/bin/LightQ.Tests/release/LightQ.Tests" -noColor \
        -namespace LightQ.Tests.Storage -namespace LightQ.Tests.Storage.Faults >"$work/$name.log" 2>&1 || true
    grep -q '^=== TEST EXECUTION SUMMARY' "$work/$name.log" || { tail -n 20 "$work/$name.log"; return 2; }
    sed -nE 's/^ +(LightQ\.Tests\..*) \[FAIL\]$/\1/p' "$work/$name.log" | sed -E 's/^LightQ\.Tests\.Storage\.//' | sort -u >"$work/$name.red"
}

try control || exit 2
if [ -s "$work/control.red" ]; then
    echo "Red without a mutant:"; cat "$work/control.red"
    exit 2
fi
echo "control: green"
for mutant in "${mutants[@]}"; do
    try "$mutant" -p:Mutant="$mutant" || exit 2
    if [ -s "$work/$mutant.red" ]; then
        echo "$mutant: caught by"; sed 's/^/    /' "$work/$mutant.red"
    else
        echo "$mutant: SURVIVED"; survivors=$((survivors + 1))
    fi
done
[ "$survivors" -eq 0 ]
