#!/usr/bin/env bash
# Plants each bug of src/LightQ.Storage/Files/Mutation.cs and shows which tests of the storage, the broker and its limits turn red. A bug that none notices fails the run.
#   tests/mutants.sh [MUTANT...]      all of them without arguments; that also writes the table in docs/measured/faults.md
# A run that does not end within ten minutes counts as caught too: under a bug a test may wait for what never comes.
# Works in a temporary directory; first a control without a bug, in which everything must be green. LIGHTQ_TIER=C runs the tests longer.
set -euo pipefail
cd "$(dirname "$0")/.."
export DOTNET_NOLOGO=1 DOTNET_CLI_TELEMETRY_OPTOUT=1 MSBUILDDISABLENODEREUSE=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mutants=("$@")
[ $# -gt 0 ] || mutants=(NoFsync AckBeforeFsync NoDirectoryFsync NoZeroAfterCut StayAtRest NoCrc NoMac CutAtPayload SparseSegment SkipGap NoPayloadCheck AnyProducerId AnyOwner NoShares NoGroupExpiry SyncAgain UnsyncedName NoNewFile NoBatchWindow UnsyncedPosition AckDuplicateAtOnce NoDedupRecovery CountWaiting NoAlone TrustLength NoRecordEnd NoBodyCount TurnsByAddress)
survivors=0
table=$work/table
printf '| planted bug | what it does | tests that turn red |\n|---|---|---|\n' >"$table"

# row MUTANT: one line of the table: what Mutation.cs says about it, and the tests without what their names say.
row() {
    local what tests
    what=$(grep -B1 "bool $1 =>" src/LightQ.Storage/Files/Mutation.cs | sed -nE 's:.*<summary>(.*)</summary>.*:\1:p')
    tests=$(sed -E 's/\..*$//; s/\(.*//' <(sed -E 's/^(Faults|Groups)\.//' "$work/$1.red") | sort | uniq -c | awk '{print $2 " (" $1 ")"}' | paste -sd, | sed 's/,/, /g')
    printf '| `%s` | %s | %s |\n' "$1" "$what" "${tests:-none: it survived}" >>"$table"
}

# build NAME PROJECT ARGUMENT...
build() {
    local name=$1; shift
    dotnet build -c Release -v q -p:RunAnalyzers=false -p:EnforceCodeStyleInBuild=false --artifacts-path "$work/$name" "$@" >"$work/log" 2>&1 ||
        { tail -n 20 "$work/log"; exit 2; }
}

# run NAME: runs the tests on what is in $work/tests; leaves the names of those that turned red in $work/NAME.red.
run() {
    local code=0
    timeout 600 "$work/tests/LightQ.Tests" -noColor -namespace LightQ.Tests.Storage -namespace LightQ.Tests.Storage.Faults -namespace LightQ.Tests.Broker -namespace LightQ.Tests.Broker.Groups -namespace LightQ.Tests.Server.Limits -namespace LightQ.Tests.Server.Security >"$work/log" 2>&1 || code=$?
    [ "$code" -eq 124 ] || grep -q '^=== TEST EXECUTION SUMMARY' "$work/log" || { tail -n 20 "$work/log"; exit 2; }
    sed -nE 's/^ +LightQ\.Tests\.(Storage|Broker|Server)\.(.*) \[FAIL\]$/\2/p' "$work/log" | sort -u >"$work/$1.red"
    [ "$code" -ne 124 ] || echo "(did not end)" >>"$work/$1.red"
}

build control tests/LightQ.Tests
cp -r "$work/control/bin/LightQ.Tests/release" "$work/tests"
run control
if [ -s "$work/control.red" ]; then
    echo "Red without a mutant:"; cat "$work/control.red"
    exit 2
fi
echo "control: green"
for mutant in "${mutants[@]}"; do
    build "$mutant" src/LightQ.Storage "-p:Mutant=$mutant"
    cp "$work/$mutant/bin/LightQ.Storage/release/LightQ.Storage.dll" "$work/tests/"
    run "$mutant"
    if [ -s "$work/$mutant.red" ]; then
        echo "$mutant: caught by"; sed 's/^/    /' "$work/$mutant.red"
    else
        echo "$mutant: SURVIVED"; survivors=$((survivors + 1))
    fi
    row "$mutant"
done
if [ $# -eq 0 ]; then
    sed -i -e '/<!-- begin: written by tests\/mutants.sh -->/,/<!-- end of mutants -->/{//!d}' -e "/<!-- begin: written by tests\/mutants.sh -->/r $table" docs/measured/faults.md
fi
[ "$survivors" -eq 0 ]
