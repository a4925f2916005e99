using LightQ.Bench.Checks;
using LightQ.Client;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Records;
using LightQ.Storage;
using LightQ.Storage.Mapped;

namespace LightQ.Bench.InProcess;

/// <summary>
/// A journal in a directory: every message is a batch of its own, with all that a producer and a broker write into one.
/// </summary>
internal sealed class JournalLink(string directory, int size) : HandOverLink
{
    /// <summary>
    /// The document's usual seven runs fit into one: what a new segment costs belongs to the long runs.
    /// </summary>
    private const int SegmentBytes = 256 * 1024 * 1024;

    private readonly MessagePattern _pattern = new(size);
    private readonly byte[] _batch = new byte[BatchLayout.Align(BatchLayout.HeaderSize + RecordWriter.SizeOf(size))];
    private MappedJournalWriter? _writer;
    private MappedJournalReader? _reader;

    public override void Begin() =>
        _writer = MappedJournalWriter.Open(
            new JournalOptions
            {
                Directory = directory,
                TopicId = Guid.NewGuid(),
                SegmentBytes = SegmentBytes,
            }
        );

    public override void Join() => _reader = MappedJournalReader.Open(directory);

    public override void Send(SendPlan plan, CancellationToken stop) =>
        HandOverLoops.Send(new Sender(_writer!, _pattern, _batch), plan, stop);

    public override void Receive(DeliveryCheck check, CancellationToken stop) =>
        HandOverLoops.Receive(new Receiver(_reader!), check, stop);

    public override void Dispose()
    {
        _reader?.Dispose();
        _writer?.Dispose();
    }

    private readonly struct Sender(MappedJournalWriter writer, MessagePattern pattern, byte[] batch) : ISender
    {
        public bool TrySend(long sequence, long stamp)
        {
            int records = RecordWriter.Write(batch.AsSpan(BatchLayout.HeaderSize), pattern.Body(sequence, stamp));
            writer.Append(batch.AsSpan(0, BatchWriter.Complete(batch, records, 1, default, stamp)));
            return true;
        }
    }

    private readonly struct Receiver(MappedJournalReader reader) : IReceiver
    {
        private const int MaxRunBytes = 64 * 1024;

        public void Receive(DeliveryCheck check)
        {
            if (!reader.TryRead(MaxRunBytes, out ReadOnlySpan<byte> run))
                return;
            for (; BatchView.TryRead(run, out BatchView batch); run = run[batch.Length..])
            {
                foreach (RecordView record in batch.Records)
                    check.Take(record.Body);
            }
        }
    }
}
