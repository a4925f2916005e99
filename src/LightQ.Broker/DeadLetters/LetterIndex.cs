using LightQ.Broker.Logs;
using LightQ.Broker.Topics;
using LightQ.Protocol.Batches;

namespace LightQ.Broker.DeadLetters;

/// <summary>Where the originals of a dead-letter topic's letters lie: what a redrive would need.</summary>
/// <remarks>
/// The letters themselves say it, so nothing else is kept on the disk: those of before are read once, when somebody
/// asks for the first time, and new ones are added before their originals count as settled. Originals are known by
/// blocks of offsets, each with its last letter, so that the memory it takes is bounded by what the topics hold and not
/// by the number of letters. Thread-safe.
/// </remarks>
internal sealed class LetterIndex(Topic dead, LightQBroker broker)
{
    private const int BlockOffsets = 1024;

    private readonly Lock _lock = new();
    private readonly Dictionary<(Guid Topic, uint Partition, string Group), SortedDictionary<long, long>> _blocks = [];
    private Task? _reading;

    /// <summary>
    /// The partition of which all letters are known: after another node has owned it, it is another one, and may have
    /// other letters.
    /// </summary>
    private volatile Partition? _known;

    /// <summary>
    /// Where another node leads the topic: the partitions of originals whose letters of before are known. A partition
    /// that this node has led since is another one, and its last leader may have written letters.
    /// </summary>
    private readonly HashSet<Partition> _knownFor = [];

    /// <summary>Up to where letters were read from another node, and where the topic began then.</summary>
    private long _next,
        _start;

    private bool IsElsewhere => broker.LetterCarrier is not null && LetterPage.IsElsewhere(dead);

    /// <summary>Completes when the letters of before are known, or could not be read.</summary>
    public Task Reading => _reading ?? Task.CompletedTask;

    /// <summary>Says the first original that a redrive of a group may still need.</summary>
    /// <param name="partition">Where the originals are.</param>
    /// <param name="group">The group whose letters are meant.</param>
    /// <param name="redriven">Letters before this one were redriven.</param>
    /// <param name="first">Its offset, or one somewhat below; <see cref="long.MaxValue"/> when none is needed.</param>
    /// <returns>False while letters of before are not known.</returns>
    public bool TryFind(Partition partition, string group, long redriven, out long first)
    {
        first = long.MaxValue;
        long start = partition.Log.StartOffset;
        lock (_lock)
        {
            if (IsElsewhere ? !_knownFor.Contains(partition) : _known != dead.Partitions[0])
                return false;
            long next = Math.Max(redriven, IsElsewhere ? _start : dead.Partitions[0].Log.StartOffset);
            if (
                !_blocks.TryGetValue(
                    (partition.Topic.Id, partition.Index, group),
                    out SortedDictionary<long, long>? blocks
                )
            )
            {
                return true;
            }

            while (blocks.Count != 0)
            {
                (long block, long letter) = blocks.First();
                if (letter >= next && (block + 1) * BlockOffsets > start)
                {
                    first = block * BlockOffsets;
                    return true;
                }
                blocks.Remove(block); // Redriven, deleted, or the original is gone.
            }
        }
        return true;
    }

    /// <summary>Letters were stored, none of them behind the topic's present end.</summary>
    /// <param name="partition">Where the originals are.</param>
    /// <param name="group">Whose letters they are.</param>
    /// <param name="firstOriginal">The first original.</param>
    /// <param name="count">How many there are.</param>
    /// <param name="end">The topic's end, as another node has said; null where it is here.</param>
    public void Add(Partition partition, string group, long firstOriginal, int count, long? end) =>
        Add(
            (partition.Topic.Id, partition.Index, group),
            firstOriginal,
            firstOriginal + count - 1,
            end - 1 ?? dead.Partitions[0].Log.EndOffset
        );

    /// <summary>
    /// Reads the letters of before, if nobody has begun to or the disk failed; the caller is told, on the pool, when
    /// they are known.
    /// </summary>
    /// <param name="origin">The topic whose originals are meant.</param>
    /// <param name="known">Called when they are known.</param>
    /// <param name="stopping">Ends the reading.</param>
    public void BeginReading(Topic origin, Action known, CancellationToken stopping)
    {
        lock (_lock)
        {
            Partition[] own = IsElsewhere ? [.. origin.Partitions.Where(p => p.Refusal is null)] : [];
            bool isKnown = IsElsewhere ? own.All(_knownFor.Contains) : _known == dead.Partitions[0];
            if (isKnown || stopping.IsCancellationRequested || _reading is { IsCompleted: false })
                return;
            _reading = IsElsewhere
                ? Task.Run(() => ReadElsewhereAsync(own, known, stopping), CancellationToken.None)
                : Task.Run(() => ReadAsync(known, stopping), CancellationToken.None);
        }
    }

    private async Task ReadElsewhereAsync(Partition[] own, Action known, CancellationToken stopping)
    {
        try
        {
            LetterPage page;
            do
            {
                page = await LetterPage.ReadAsync(dead, _next, broker.LetterCarrier, stopping).ConfigureAwait(false);
                foreach (byte[] batch in page.Batches)
                    Add(batch);
                lock (_lock)
                    (_next, _start) = (page.Next, page.Start);
            } while (page.Next < page.End);
            lock (_lock)
            {
                _knownFor.RemoveWhere(p => p.Topic.Partitions[(int)p.Index] != p);
                _knownFor.UnionWith(own);
            }
        }
        catch (Exception e)
            when (e is IOException or BrokerException
                || (e is OperationCanceledException && stopping.IsCancellationRequested)
            )
        {
            return; // The next caller tries again.
        }
        known();
    }

    private async Task ReadAsync(Action known, CancellationToken stopping)
    {
        try
        {
            Partition partition = dead.GetPartition(0);
            ITopicLog log = partition.Log;
            long end = log.ReadableOffset;
            for (long next = log.StartOffset; next < end; )
            {
                (byte[]? batch, long behind) = await BatchFetch.ReadAsync(log, next, stopping).ConfigureAwait(false);
                if (batch is not null)
                    Add(batch);
                next = behind;
            }
            _known = partition;
        }
        catch (Exception e)
            when (e is IOException or BrokerException
                || (e is OperationCanceledException && stopping.IsCancellationRequested)
            )
        {
            return; // The topic reports what is wrong with it. The next caller tries again.
        }
        known();
    }

    private void Add(byte[] batch)
    {
        var view = new BatchView(batch);
        if (!DeadLetterBatch.HoldsLetters(view))
            return; // The broker did not write this message.
        foreach (RecordView record in view.Records)
        {
            if (
                LetterOrigin.TryRead(record, out LetterOrigin origin)
                && Guid.TryParseExact(origin.TopicId, "N", out Guid topic)
            )
            {
                Add((topic, origin.Partition, origin.Group), origin.Offset, origin.Offset, record.Offset);
            }
        }
    }

    private void Add((Guid Topic, uint Partition, string Group) whose, long first, long last, long letter)
    {
        lock (_lock)
        {
            if (!_blocks.TryGetValue(whose, out SortedDictionary<long, long>? blocks))
                _blocks[whose] = blocks = [];
            for (long block = first / BlockOffsets; block <= last / BlockOffsets; block++)
                blocks[block] = Math.Max(letter, blocks.GetValueOrDefault(block));
        }
    }
}
