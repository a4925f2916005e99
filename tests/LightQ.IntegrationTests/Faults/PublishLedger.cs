using System.Buffers.Binary;
using System.Collections.Concurrent;
using LightQ.Client;
using LightQ.Protocol.Checksums;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// The oracle of a topic: every message that was sent, kept outside the broker, and what must be found of it.
/// </summary>
internal sealed class PublishLedger
{
    private const int HeaderBytes = 12;

    private readonly Lock _lock = new();
    private readonly Dictionary<int, List<SentMessage>> _sent = [];
    private readonly List<SentMessage> _open = [];
    private readonly ConcurrentQueue<string> _violations = new();

    /// <summary>One behind the last offset that was acknowledged, of a topic with one partition.</summary>
    public long AcknowledgedEnd
    {
        get
        {
            lock (_lock)
                return _sent.Values.SelectMany(m => m).Max(m => m.AcknowledgedAt) + 1;
        }
    }

    /// <summary>Everything that should not have happened, so far.</summary>
    public IReadOnlyCollection<string> Violations => _violations;

    /// <summary>Notes what should not have happened.</summary>
    public void Report(string violation) => _violations.Enqueue(violation);

    /// <summary>Makes a producer's next message, mostly short and now and then longer, and enters it.</summary>
    public (SentMessage Message, byte[] Body) Create(int producer, Random random) =>
        Create(producer, random, random.Next(20) == 0 ? 6_000 : 1_000);

    /// <summary>Makes a producer's next message of so many random bytes and enters it.</summary>
    public (SentMessage Message, byte[] Body) Create(int producer, Random random, int mostBytes, int leastBytes = 0)
    {
        byte[] body = new byte[HeaderBytes + random.Next(leastBytes, mostBytes)];
        random.NextBytes(body);
        lock (_lock)
        {
            if (!_sent.TryGetValue(producer, out List<SentMessage>? messages))
                _sent.Add(producer, messages = []);
            BinaryPrimitives.WriteInt32LittleEndian(body, producer);
            BinaryPrimitives.WriteInt64LittleEndian(body.AsSpan(4), messages.Count);
            var message = new SentMessage(producer, messages.Count, Crc32C.Compute(body));
            messages.Add(message);
            _open.Add(message);
            return (message, body);
        }
    }

    /// <summary>The message a body belongs to, or null when nobody sent these bytes.</summary>
    public SentMessage? Find(ReadOnlySpan<byte> body)
    {
        if (body.Length < HeaderBytes)
            return null;
        int producer = BinaryPrimitives.ReadInt32LittleEndian(body);
        long sequence = BinaryPrimitives.ReadInt64LittleEndian(body[4..]);
        lock (_lock)
        {
            bool known =
                _sent.TryGetValue(producer, out List<SentMessage>? messages)
                && sequence >= 0
                && sequence < messages.Count;
            SentMessage? message = known ? messages![(int)sequence] : null;
            return message?.Crc == Crc32C.Compute(body) ? message : null;
        }
    }

    /// <summary>
    /// Judges every message that was not found so far. Call it when no publish is under way and everything stored was
    /// read.
    /// </summary>
    /// <param name="survives">The ack level that survives the fault.</param>
    /// <param name="startOffsets">By partition: what is before, retention may have taken.</param>
    /// <returns>How many acknowledged messages went, as their ack allows.</returns>
    public int Settle(Durability survives, IReadOnlyList<long> startOffsets)
    {
        int gone = 0;
        lock (_lock)
        {
            foreach (SentMessage message in _open)
            {
                long at = message.AcknowledgedAt;
                bool isRetained = at < 0 || LogPlace.OffsetOf(at) >= startOffsets[LogPlace.PartitionOf(at)];
                if (message.FoundAt >= 0 || !isRetained)
                    continue;
                message.IsGone = true;
                if (message.Acknowledged >= survives)
                    Report($"lost: {message}");
                else if (at >= 0)
                    gone++;
            }
            _open.Clear();
        }
        return gone;
    }
}
