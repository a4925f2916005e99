using LightQ.Client;

namespace LightQ.Cli.Messages;

/// <summary>Writes messages in one format. One thread.</summary>
internal abstract class MessageWriter
{
    protected const byte LineFeed = (byte)'\n';

    protected MessageWriter(OutputBuffer output) => Output = output;

    public OutputBuffer Output { get; }

    /// <summary>
    /// Whether the topic has several partitions, so that an offset alone does not say which message it is.
    /// </summary>
    public bool HasPartitions { get; set; }

    /// <summary>How many messages were written.</summary>
    public long Written { get; private set; }

    public static MessageWriter Create(MessageFormat format, OutputBuffer output) =>
        format switch
        {
            MessageFormat.Text => new TextMessageWriter(output),
            MessageFormat.Json => new JsonMessageWriter(output),
            MessageFormat.Raw => new RawMessageWriter(output, endLines: true),
            MessageFormat.Bytes => new RawMessageWriter(output, endLines: false),
            _ => throw new ArgumentOutOfRangeException(nameof(format), format, null),
        };

    /// <summary>Writes the first messages of a batch, at most <paramref name="limit"/>, which is 1 or more.</summary>
    /// <returns>How many of its messages are dealt with: those that a filter passes over count, too.</returns>
    public int Write(MessageBatch batch, long limit)
    {
        long enough = Written + limit;
        foreach (RecordView record in batch)
        {
            Write(record, batch);
            if (++Written == enough)
                return (int)(record.Offset - batch.BaseOffset) + 1;
        }
        return batch.Count;
    }

    protected abstract void Write(in RecordView record, MessageBatch batch);
}
