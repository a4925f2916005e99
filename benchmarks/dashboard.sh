#!/usr/bin/env bash
# Measures what the dashboard costs and writes the figures into docs/measured/dashboard.md, between its markers; everything else there is written by hand.
#   benchmarks/dashboard.sh                        a quarter of an hour on an idle machine, after a native build
#   benchmarks/dashboard.sh short                  less of each, to see that it works: a few minutes
#   LIGHTQ_TOOL=PROGRAM benchmarks/dashboard.sh    with a native program that is there already
# Needs Chromium, and what packaging/native needs.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in
    short) export LIGHTQ_DASHBOARD_SHORT=1 ;;
    "") ;;
    *) echo "usage: benchmarks/dashboard.sh [short]" >&2; exit 2 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
packaging/dashboard
if [ -z "${LIGHTQ_TOOL:-}" ]; then
    packaging/native "$work"
    tar -C "$work" -xzf "$work"/lightq-*.tar.gz
    LIGHTQ_TOOL=$(echo "$work"/lightq-*/lightq)
fi
export LIGHTQ_TOOL LIGHTQ_DASHBOARD_FIGURES=$PWD/docs/measured/dashboard.md
dotnet build -c Release -v q tests/LightQ.DashboardTests
dotnet test -c Release --no-build --project tests/LightQ.DashboardTests --no-progress --no-ansi --filter-class "*FiguresTests"
