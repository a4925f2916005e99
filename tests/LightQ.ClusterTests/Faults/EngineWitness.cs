using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Runtime.InteropServices;
using System.Text.Json;
using LightQ.Broker.Replication;

namespace LightQ.ClusterTests.Faults;

/// <summary>
/// Reads along between brokers and nats-servers which entries the servers confirm and deliver, and so tells what they
/// lost or changed from what LightQ did.
/// </summary>
/// <remarks>
/// It sees at least what a broker sees: a confirmation goes through it before the broker has it, and the broker before
/// it acknowledges. Thread-safe.
/// </remarks>
internal sealed class EngineWitness
{
    private readonly ConcurrentQueue<Seen> _seen = [];

    /// <summary>What was seen so far of a stream.</summary>
    public List<Seen> Of(string stream) => [.. _seen.Where(entry => entry.Stream == stream)];

    /// <summary>Forgets all that it has seen.</summary>
    public void Clear() => _seen.Clear();

    /// <summary>Begins to read a new connection.</summary>
    public Connection Connect() => new(this);

    /// <summary>
    /// The first entry that was confirmed or delivered and which a stream does not have any more, or has another in its
    /// place; null when all are there.
    /// </summary>
    /// <param name="seen">What was seen before the stream was read.</param>
    /// <param name="entries">All that it has.</param>
    public static ulong? FindDropped(IEnumerable<Seen> seen, IEnumerable<StreamEntry> entries)
    {
        Dictionary<ulong, ReadOnlyMemory<byte>> found = entries.ToDictionary(e => e.Sequence, e => e.Payload);
        return seen.Where(c =>
                !found.TryGetValue(c.Sequence, out ReadOnlyMemory<byte> stored) || !stored.Span.SequenceEqual(c.Payload)
            )
            .Select(c => (ulong?)c.Sequence)
            .Min();
    }

    /// <summary>An entry, and where the servers said that they have it.</summary>
    internal readonly record struct Seen(string Stream, ulong Sequence, byte[] Payload);

    /// <summary>One connection of a broker. Each direction has one caller at a time.</summary>
    internal sealed class Connection(EngineWitness witness)
    {
        private readonly ConcurrentDictionary<string, byte[]> _underWay = [];
        private readonly List<byte> _fromBroker = [],
            _fromServer = [];

        public void Read(ReadOnlySpan<byte> bytes, bool isFromBroker)
        {
            List<byte> waiting = isFromBroker ? _fromBroker : _fromServer;
            waiting.AddRange(bytes);
            ReadOnlySpan<byte> rest = CollectionsMarshal.AsSpan(waiting);
            int taken = 0;
            while (NatsOperation.Take(rest[taken..], out NatsOperation operation) is > 0 and int length)
            {
                taken += length;
                if (isFromBroker)
                    Sent(operation);
                else
                    Answered(operation);
            }
            waiting.RemoveRange(0, taken);
        }

        private void Sent(in NatsOperation operation)
        {
            // An append: HPUB <subject> <where the answer goes> <bytes of the headers> <bytes with them>.
            if (
                operation.Words is ["HPUB", var subject, var reply, _, _]
                && subject.StartsWith("lq.", StringComparison.Ordinal)
            )
            {
                _underWay[reply] = operation.Payload;
            }
        }

        private void Answered(in NatsOperation operation)
        {
            if (operation.Words is not ["MSG" or "HMSG", var subject, ..])
                return;
            if (TryGetDelivered(operation, out string? stream, out ulong sequence))
            {
                witness._seen.Enqueue(new(stream, sequence, operation.Payload));
                return;
            }
            if (
                _underWay.TryRemove(subject, out byte[]? payload)
                && TryGetConfirmed(operation, out stream, out sequence)
            )
            {
                witness._seen.Enqueue(new(stream, sequence, payload));
            }
        }

        /// <summary>A message of a stream: as a consumer gets it, or as the answer to a question for it.</summary>
        private static bool TryGetDelivered(
            in NatsOperation operation,
            [NotNullWhen(true)] out string? stream,
            out ulong sequence
        )
        {
            (stream, sequence) = (null, 0);
            // <operation> <subject> <subscription> <where its ack goes> <lengths>...
            if (
                operation.Words is [_, _, _, var reply, _, ..]
                && reply.StartsWith("$JS.ACK.", StringComparison.Ordinal)
            )
            {
                // $JS.ACK.<stream>.<consumer>.<deliveries>.<sequence>..., with later servers <domain>.<account> in
                // front of the stream.
                string[] parts = reply.Split('.');
                int first = parts.Length > 9 ? 4 : 2;
                (stream, sequence) = (parts[first], Number(parts[first + 3]));
                return true;
            }
            foreach (string header in operation.Headers.Split("\r\n"))
            {
                if (header.Split(": ") is ["Nats-Stream", var name])
                    stream = name;
                if (header.Split(": ") is ["Nats-Sequence", var number])
                    sequence = Number(number);
            }
            return stream is not null;
        }

        private static bool TryGetConfirmed(
            in NatsOperation operation,
            [NotNullWhen(true)] out string? stream,
            out ulong sequence
        )
        {
            (stream, sequence) = (null, 0);
            if (operation.Payload is not [(byte)'{', ..])
                return false;
            using var answer = JsonDocument.Parse(operation.Payload);
            JsonElement root = answer.RootElement;
            if (root.TryGetProperty("error", out _) || !root.TryGetProperty("seq", out JsonElement number))
                return false;
            (stream, sequence) = (root.GetProperty("stream").GetString()!, number.GetUInt64());
            return true;
        }

        private static ulong Number(string text) => ulong.Parse(text, CultureInfo.InvariantCulture);
    }
}
