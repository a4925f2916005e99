using LightQ.Client;
using LightQ.Protocol.Records;

namespace LightQ.Cli.Subscribing;

/// <summary>Writes messages in one format. One thread.</summary>
internal abstract class MessageWriter
{
    protected const byte LineFeed = (byte)'\n';

    protected MessageWriter(OutputBuffer output) => Output = output;

    public OutputBuffer Output { get; }

    /// <summary>Whether the topic has several partitions, so that an offset alone does not say which message it is.</summary>
    public bool HasPartitions { get; set; }

    public static MessageWriter Create(MessageFormat format, OutputBuffer output) => format switch
    {
        MessageFormat.Text => new TextMessageWriter(output),
        MessageFormat.Json => new JsonMessageWriter(output),
        MessageFormat.Raw => new RawMessageWriter(output, endLines: true),
        MessageFormat.Bytes => new RawMessageWriter(output, endLines: false),
        _ => throw new ArgumentOutOfRangeException(nameof(format), format, null),
    };

    /// <summary>Writes the first messages of a batch, at most <paramref name="limit"/>.</summary>
    /// <returns>How many.</returns>
    public abstract long Write(MessageBatch batch, long limit);

    /// <summary>Writes every message with <see cref="Write(in RecordView, MessageBatch)"/>.</summary>
    protected long WriteEach(MessageBatch batch, long limit)
    {
        long count = 0;
        foreach (RecordView record in batch)
        {
            if (count == limit)
                break;
            Write(record, batch);
            count++;
        }
        return count;
    }

    protected abstract void Write(in RecordView record, MessageBatch batch);
}
