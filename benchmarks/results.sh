#!/usr/bin/env bash
# Runs the benches and writes their figures into docs/measured/speed.md, between its markers, and the pictures beside it; everything else there is written by hand.
#   benchmarks/results.sh                     everything, under an hour on an idle machine
#   benchmarks/results.sh latency inprocess   some parts: throughput durable catch-up latency startup scale settle nats reference fanout inprocess parts
#   LIGHTQ_BENCH_DATA=/mnt/disk benchmarks/results.sh durable   where durable topics and mapped files lie; default the temporary directory
# The figures are kept in benchmarks/results, a file for each command, with version and date. A part that is not run keeps its figures; a bench that fails ends the script.
set -euo pipefail
cd "$(dirname "$0")/.."
all="throughput durable catch-up latency startup scale settle nats reference fanout inprocess parts"
parts=${*:-$all}
for part in $parts; do
    case " $all " in *" $part "*) ;; *) echo "There is no part '$part'; there are: $all" >&2; exit 2 ;; esac
done
data=${LIGHTQ_BENCH_DATA:-${TMPDIR:-/tmp}}
version=$(git describe --always --abbrev=10)
git diff --quiet HEAD -- . ':!docs/measured' ':!benchmarks/results' || version=$version-dirty
out=benchmarks/results

# bench FILE ARGUMENTS...: runs one command and keeps its report. Where its data lies is not part of the command that is shown.
bench() {
    local file=$1 report; shift
    local shown="lightq bench $*"
    case "$*" in *durable* | startup* | scale* | settle* | reference* | inprocess*) set -- "$@" --data "$data" ;; esac
    echo "=== $shown ($SECONDS s)" >&2
    report=$("${lightq[@]}" bench "$@" --output json)
    printf '{"command":"%s","version":"%s","date":"%s","report":%s}\n' "$shown" "$version" "$(date +%F)" "$report" >"$out/$file.json"
}

dotnet build -c Release -v q
built=(dotnet run -c Release --no-build --project src/LightQ.Cli --) lightq=("${built[@]}")
for part in $parts; do
    case $part in
        throughput)
            bench throughput.1 throughput --pairs 11
            bench throughput-api.1 throughput --sizes 100 --api message --pairs 11
            bench throughput-api.2 throughput --sizes 100 --api publish --in-flight 1000 --pairs 11 ;;
        durable) bench durable.1 throughput --kind durable ;;
        catch-up) bench catch-up.1 throughput --kind durable --catch-up ;;
        latency)
            bench latency.1 latency --size 512 --rate 1000 --pairs 11
            bench latency.2 latency --size 512 --rate 10000
            bench latency.3 latency --size 512 --rate 1000 --kind durable ;;
        startup) # As its users install it: compiled ahead.
            ahead=$(mktemp -d)
            dotnet restore src/LightQ.Cli -p:CompileAhead=true
            dotnet publish src/LightQ.Cli --no-restore -c Release -r "linux-$(uname -m | sed 's/x86_64/x64/;s/aarch64/arm64/')" -p:CompileAhead=true -o "$ahead"
            lightq=("$ahead/lightq")
            bench startup.1 startup --topics 1000 --backlog 10GiB
            lightq=("${built[@]}")
            rm -rf "$ahead" ;;
        settle) bench settle.1 settle ;;
        scale) bench scale.1 scale --backlog 10GiB --rest 30s ;;
        nats)
            bench nats-throughput.1 throughput --sizes 100,1024 --against nats
            bench nats-latency.1 latency --rate 10000 --against nats ;;
        reference) bench reference.1 reference ;;
        fanout) bench fanout.1 fanout --log-dir "${TMPDIR:-/tmp}" ;;
        inprocess)
            bench inprocess.1 inprocess
            bench inprocess.2 inprocess --processes 2
            bench inprocess.3 inprocess --long --runs 2 --target ring,journal ;;
        parts)
            dotnet run -c Release --no-build --project benchmarks/LightQ.Benchmarks -- --filter '*'
            for report in BenchmarkDotNet.Artifacts/results/*-report-github.md; do
                name=${report##*/LightQ.Benchmarks.} name=${name%-report-github.md}
                printf '**%s**\n\n' "${name//./, }"
                grep '^|' "$report"
                echo
            done >"$out/parts.md"
            printf 'Version `%s`, %s.\n' "$version" "$(date +%F)" >>"$out/parts.md" ;;
    esac
done
LIGHTQ_WRITE_DOCS=1 dotnet test -c Release --no-build --project tests/LightQ.IntegrationTests --filter-class "*ResultsPageTests" "*SpeedChartTests"
