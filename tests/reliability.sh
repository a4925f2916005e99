#!/usr/bin/env bash
# Runs rows of the fault matrix and writes their figures into docs/measured/faults.md:
#   tests/reliability.sh C             every row as the gate runs it
#   tests/reliability.sh N D1 D2       two rows at full length (up to an hour each)
#   LIGHTQ_SEED=1 tests/reliability.sh C D3
#   LIGHTQ_TOOL=~/lightq tests/reliability.sh N C1   brokers are this program: the native one
#   LIGHTQ_NATS_SERVER=~/nats-server tests/reliability.sh N C1 C2
# Rows that need root, loop devices or xfsprogs are skipped without them and keep their old figures.
set -euo pipefail
cd "$(dirname "$0")/.."
tier=${1:?"which tier: C or N"}
shift
rows=("$@")
all=$(grep -rhoP --include=*.cs 'Trait\("Fault", "\K[^"]+' tests | sort -u)
for row in "$@"; do grep -qx -- "$row" <<<"$all" || { echo "There is no row '$row'; there are:" $all; exit 2; }; done
[ $# -gt 0 ] || mapfile -t rows <<<"$all"
# The projects that have them.
projects=$(for row in "${rows[@]}"; do grep -rlF --include=*.cs "Trait(\"Fault\", \"$row\")" tests; done | cut -d/ -f1,2 | sort -u)
LIGHTQ_COMMIT=$(git describe --always --dirty --abbrev=10)
export LIGHTQ_TIER=$tier LIGHTQ_COMMIT LIGHTQ_FAULT_REPORT=$PWD/tests/reliability
code=0
for project in $projects; do
    # 8: all that were found were skipped.
    dotnet test -c Release --project "$project" --filter-trait "${rows[@]/#/Fault=}" --ignore-exit-code 8 || code=$?
done
LIGHTQ_TIER= LIGHTQ_WRITE_DOCS=1 dotnet test -c Release --project tests/LightQ.IntegrationTests --filter-class "*ReliabilityTableTests"
exit "$code"
