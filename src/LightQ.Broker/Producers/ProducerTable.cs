using System.Buffers.Binary;
using LightQ.Protocol.Frames;
using LightQ.Storage;

namespace LightQ.Broker.Producers;

/// <summary>The named producers of one log. Guarded by the partition's append lock.</summary>
internal sealed class ProducerTable
{
    private const int EntryHeader = 8 + 4 + 8 + 4;
    private const int RememberedSize = 8 + 4 + 8 + 4;

    /// <summary>
    /// In the count of remembered batches: each has its payload's checksum. Earlier versions kept none.
    /// </summary>
    private const uint WithCrcs = 1u << 31;

    private const int RememberedSizeWithoutCrc = RememberedSize - sizeof(uint);
    private Dictionary<ulong, ProducerState>? _states;

    private IEnumerable<ProducerState> States => _states is null ? [] : _states.Values;

    /// <summary>Whether none is remembered.</summary>
    public bool IsEmpty => _states is null or { Count: 0 };

    /// <summary>The ids of those that are remembered.</summary>
    public IEnumerable<ulong> Ids => States.Select(s => s.Id);

    /// <summary>
    /// The state of a producer, made if it is new. A higher epoch takes over; a lower one leaves the state alone.
    /// </summary>
    public ProducerState Open(ulong id, uint epoch)
    {
        _states ??= []; // Most topics never see a named producer.
        if (!_states.TryGetValue(id, out ProducerState? state))
            _states.Add(id, state = new ProducerState(id, epoch));
        state.Epoch = Math.Max(state.Epoch, epoch);
        return state;
    }

    /// <summary>
    /// The same for a stream, which keeps it until <see cref="ProducerState.Streams"/> is counted down.
    /// </summary>
    /// <param name="id">The producer.</param>
    /// <param name="epoch">Its epoch.</param>
    /// <param name="instance">See <see cref="OpenProducerFrame.Instance"/>.</param>
    /// <param name="number">See <see cref="OpenProducerFrame.Number"/>.</param>
    /// <returns>Null when the instance itself has opened it later: then this one leaves everything alone.</returns>
    public ProducerState? Attach(ulong id, uint epoch, ulong instance = 0, ulong number = 0)
    {
        if (Find(id) is { } known && known.LastOpening.Instance == instance && number < known.LastOpening.Number)
            return null;
        ProducerState state = Open(id, epoch);
        if (state.Epoch == epoch)
            state.LastOpening = (instance, number);
        state.Streams++;
        return state;
    }

    /// <summary>Takes over what another table remembers of producers, behind what this one does.</summary>
    /// <param name="other">The other table, which is empty then.</param>
    /// <param name="isProducer">
    /// Whether there is a producer of an id that may have an epoch; others are forgotten.
    /// </param>
    public void Take(ProducerTable other, Func<ulong, uint, bool> isProducer)
    {
        foreach (ProducerState taken in other.States.Where(s => isProducer(s.Id, s.Epoch)))
        {
            ProducerState state = Open(taken.Id, taken.Epoch);
            foreach (ProducerState.Remembered batch in taken.Batches)
                state.Remember(batch, taken.LastAppend);
        }
        other._states = null;
    }

    /// <summary>The state of a producer, if it is remembered.</summary>
    public ProducerState? Find(ulong id) => _states?.GetValueOrDefault(id);

    /// <summary>
    /// Forgets producers without a stream that appended nothing since <paramref name="before"/> (unix microseconds).
    /// </summary>
    /// <returns>When the first of those without a stream that stay appended last; null when there are none.</returns>
    public long? Expire(long before)
    {
        long? oldest = null;
        foreach (ProducerState state in States)
        {
            if (state.Streams != 0)
                continue;
            if (state.LastAppend < before)
                _states!.Remove(state.Id);
            else if (oldest is null || state.LastAppend < oldest)
                oldest = state.LastAppend;
        }
        return oldest;
    }

    /// <summary>Writes every state, for the journal to keep at a roll.</summary>
    /// <remarks>
    /// <c>{u64 id, u32 epoch, i64 last append, u32 n, n x {u64 sequence, u32 records, i64 offset, u32 payload
    /// crc}}</c>, little-endian. The highest bit of n is set; where it is not, as in what earlier versions wrote, there
    /// is no crc. The highest bit of records is set in a batch whose crc is not known.
    /// </remarks>
    public byte[] Save()
    {
        int size = 0;
        foreach (ProducerState state in States)
            size += EntryHeader + (state.Batches.Count() * RememberedSize);
        byte[] bytes = new byte[size];
        Span<byte> left = bytes;
        foreach (ProducerState state in States)
        {
            BinaryPrimitives.WriteUInt64LittleEndian(left, state.Id);
            BinaryPrimitives.WriteUInt32LittleEndian(left[8..], state.Epoch);
            BinaryPrimitives.WriteInt64LittleEndian(left[12..], state.LastAppend);
            BinaryPrimitives.WriteUInt32LittleEndian(left[20..], (uint)state.Batches.Count() | WithCrcs);
            left = left[EntryHeader..];
            foreach (ProducerState.Remembered batch in state.Batches)
            {
                BinaryPrimitives.WriteUInt64LittleEndian(left, batch.Sequence);
                BinaryPrimitives.WriteUInt32LittleEndian(left[8..], batch.Records);
                BinaryPrimitives.WriteInt64LittleEndian(left[12..], batch.Offset);
                BinaryPrimitives.WriteUInt32LittleEndian(left[20..], batch.PayloadCrc);
                left = left[RememberedSize..];
            }
        }
        return bytes;
    }

    /// <summary>Reads what <see cref="Save"/> wrote; the journal has verified its checksum.</summary>
    /// <param name="bytes">What was written.</param>
    /// <param name="isProducer">
    /// Whether there is a producer of an id that may have an epoch; others are passed over.
    /// </param>
    /// <exception cref="JournalFormatException">It contradicts its length.</exception>
    public void Load(ReadOnlySpan<byte> bytes, Func<ulong, uint, bool> isProducer) =>
        LoadInto((id, epoch) => isProducer(id, epoch) ? this : null, bytes);

    /// <summary>Reads what <see cref="Save"/> wrote into the tables that remember it.</summary>
    /// <param name="tableOf">The table of a producer of an id and an epoch; null for one that is passed over.</param>
    /// <param name="bytes">What was written.</param>
    /// <exception cref="JournalFormatException">It contradicts its length.</exception>
    public static void LoadInto(Func<ulong, uint, ProducerTable?> tableOf, ReadOnlySpan<byte> bytes)
    {
        while (bytes.Length >= EntryHeader)
        {
            ulong id = BinaryPrimitives.ReadUInt64LittleEndian(bytes);
            uint epoch = BinaryPrimitives.ReadUInt32LittleEndian(bytes[8..]);
            ProducerState? state = tableOf(id, epoch)?.Open(id, epoch);
            long lastAppend = BinaryPrimitives.ReadInt64LittleEndian(bytes[12..]);
            uint count = BinaryPrimitives.ReadUInt32LittleEndian(bytes[20..]);
            bool withCrcs = (count & WithCrcs) != 0;
            int size = withCrcs ? RememberedSize : RememberedSizeWithoutCrc;
            bytes = bytes[EntryHeader..];
            count &= ~WithCrcs;
            if (count > bytes.Length / size)
                throw Contradiction();
            for (; count > 0; count--, bytes = bytes[size..])
                state?.Remember(ReadRemembered(bytes, withCrcs), lastAppend);
        }
        if (!bytes.IsEmpty)
            throw Contradiction();
    }

    private static ProducerState.Remembered ReadRemembered(ReadOnlySpan<byte> bytes, bool withCrc)
    {
        uint records = BinaryPrimitives.ReadUInt32LittleEndian(bytes[8..]);
        return new ProducerState.Remembered(
            BinaryPrimitives.ReadUInt64LittleEndian(bytes),
            BinaryPrimitives.ReadInt64LittleEndian(bytes[12..]),
            withCrc ? records : records | ProducerState.Remembered.WithoutCrc,
            withCrc ? BinaryPrimitives.ReadUInt32LittleEndian(bytes[20..]) : 0
        );
    }

    private static JournalFormatException Contradiction() =>
        new("A snapshot of named producers contradicts its length.");
}
