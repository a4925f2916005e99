using LightQ.Client;

namespace LightQ.Cli.Messages;

/// <summary>Writes bodies as they are, with or without a newline behind each.</summary>
internal sealed class RawMessageWriter(OutputBuffer output, bool endLines) : MessageWriter(output)
{
    protected override void Write(in RecordView record, MessageBatch batch)
    {
        int length = record.Body.Length;
        Span<byte> room = Output.GetSpan(length + 1);
        record.Body.CopyTo(room);
        if (endLines)
            room[length++] = LineFeed;
        Output.Advance(length);
    }
}
