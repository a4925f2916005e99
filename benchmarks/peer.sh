#!/usr/bin/env bash
# The share of messages later than 20 us through LightQ's ring and journal, beside a peer's on the JVM, in the same minutes: each round is one run of each, with its warm-up.
#   apt-get install libdisruptor-java default-jdk-headless   the peer, the LMAX Disruptor (Debian)
#   benchmarks/peer.sh                seven rounds, about six minutes, on an idle machine
#   benchmarks/peer.sh 3 20000        three rounds of 20,000 messages
#   LIGHTQ_BENCH_CPUS=2,3             other processors than the first two; LIGHTQ_BENCH_DATA=/dev/shm: where the journal lies
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-7} messages=${2:-100000} rate=10000 cpus=${LIGHTQ_BENCH_CPUS:-0,1} data=${LIGHTQ_BENCH_DATA:-${TMPDIR:-/tmp}}
jar=/usr/share/java/disruptor.jar
[ -f "$jar" ] || { echo "$jar is missing: apt-get install libdisruptor-java default-jdk-headless" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
javac -d "$work" -cp "$jar" benchmarks/DisruptorPeer.java
[ -n "${LIGHTQ:-}" ] || dotnet build src/LightQ.Cli -c Release -v q >&2
read -ra lightq <<<"${LIGHTQ:-dotnet src/LightQ.Cli/bin/Release/net10.0/lightq.dll}"

# shares TARGET: runs it once; prints its share of late messages and the line's.
shares() {
    "${lightq[@]}" bench inprocess --target "$1" --runs 1 --messages "$messages" --rate "$rate" --cpus "$cpus" --data "$data" --output json 2>/dev/null |
        grep -o '"later_than_20_us_percent":[0-9.E-]*' | cut -d: -f2 | head -2 | paste -sd ' ' # Of each result first its own, then the yardstick's.
}

printf '%-8s %12s %12s %12s %12s %12s\n' 'round' 'disruptor %' 'ring %' 'line %' 'journal %' 'line %'
for round in $(seq "$rounds"); do
    peer=$(java -Xms256m -Xmx256m -cp "$jar:$work" DisruptorPeer "$messages" 1 "$rate" "$cpus" | sed -n 's/.*later than 20 us \([0-9.]*\) %/\1/p')
    read -r ring ring_line < <(shares ring)
    read -r journal journal_line < <(shares journal)
    printf '%-8s %12.2f %12.2f %12.2f %12.2f %12.2f\n' "$round" "$peer" "$ring" "$ring_line" "$journal" "$journal_line" | tee -a "$work/rounds"
done
for column in 2 3 4 5 6; do
    awk -v c=$column '{print $c}' "$work/rounds" | sort -n | awk '{v[NR] = $1} END {printf " %12.2f", NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2}'
done | sed 's/^/median  /'
echo
