#!/usr/bin/env bash
# Feeds the parsers with hostile inputs and writes the figures into docs/measured/fuzzing.md. Ends with an error when a fault is found.
#   tests/fuzz.sh                                20 million inputs for each parser: hours
#   tests/fuzz.sh 1000000 frames filters         a million for each of two
#   LIGHTQ_SEED=42 tests/fuzz.sh 1000 frames     the same inputs again
# One process for each parser, as many at once as LIGHTQ_FUZZ_JOBS says (the cores), at the lowest priority. LIGHTQ_FUZZ_SECONDS ends each
# after so long with what it did until then. LIGHTQ_FUZZ_TESTS runs tests that are built already: the path of their program. LIGHTQ_FUZZ_QUIET
# leaves docs/measured/fuzzing.md as it is.
set -euo pipefail
cd "$(dirname "$0")/.."
executions=${1:-20000000}
[ $# -eq 0 ] || shift
all=$(sed -n 's/^ *Name = "\(.*\)",$/\1/p' tests/LightQ.Tests/Fuzzing/Targets/*.cs)
parsers=("$@")
[ $# -gt 0 ] || mapfile -t parsers <<<"$all"
for parser in "${parsers[@]}"; do grep -qx -- "$parser" <<<"$all" || { echo "There is no parser '$parser'; there are:" $all; exit 2; }; done
LIGHTQ_COMMIT=${LIGHTQ_COMMIT:-$(git describe --always --dirty --abbrev=10)}
export LIGHTQ_COMMIT LIGHTQ_FUZZ_EXECUTIONS=$executions LIGHTQ_FUZZ_REPORT=${LIGHTQ_FUZZ_REPORT:-$PWD/tests/reliability/fuzz}
if [ -z "${LIGHTQ_FUZZ_TESTS:-}" ]; then
    MSBUILDDISABLENODEREUSE=1 dotnet build -v q -c Release -p:RunAnalyzers=false -p:EnforceCodeStyleInBuild=false tests/LightQ.Tests
    LIGHTQ_FUZZ_TESTS=$PWD/tests/LightQ.Tests/bin/Release/net10.0/LightQ.Tests
fi
export LIGHTQ_FUZZ_TESTS

# feed PARSER: one parser; what it says is shown when it ends.
feed() {
    local log code=0
    log=$(mktemp)
    LIGHTQ_TIER=N LIGHTQ_FUZZ_TARGETS=$1 nice -n 19 "$LIGHTQ_FUZZ_TESTS" -noColor -method 'LightQ.Tests.Fuzzing.FuzzTests.Many_hostile_inputs_end_in_an_answer_or_a_typed_error' >"$log" 2>&1 || code=$?
    if [ "$code" -eq 0 ]; then
        echo "$(date +%T) $1:" $(grep -E '"(executions|perSecond|accepted|typedErrors|longestMilliseconds|largestAllocation|faults)"' "$LIGHTQ_FUZZ_REPORT/$1.json" | tr -d '",')
    else
        echo "$(date +%T) $1: FAULTS"
        cat "$log"
    fi
    rm -f "$log"
    return "$code"
}
export -f feed
code=0
printf '%s\n' "${parsers[@]}" | xargs -P "${LIGHTQ_FUZZ_JOBS:-$(nproc)}" -I{} bash -c 'feed {}' || code=$?
if [ -z "${LIGHTQ_FUZZ_QUIET:-}" ]; then
    LIGHTQ_TIER= LIGHTQ_WRITE_DOCS=1 dotnet test -v q -c Release -p:RunAnalyzers=false -p:EnforceCodeStyleInBuild=false --project tests/LightQ.IntegrationTests --filter-class "*ReliabilityTableTests"
fi
[ "$code" -eq 0 ] || { echo "Faults were found: each input is a file in tests/reliability/fuzz. Mend the parser, and move the file to tests/LightQ.Tests/Fuzzing/Found/PARSER."; exit 1; }
