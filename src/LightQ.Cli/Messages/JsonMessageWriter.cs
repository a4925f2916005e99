using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Unicode;
using LightQ.Client;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Records;

namespace LightQ.Cli.Messages;

/// <summary>
/// Writes one JSON object a line. A body that is not UTF-8 is <c>body_base64</c> instead of <c>body</c>; keys and
/// headers likewise.
/// </summary>
internal sealed class JsonMessageWriter : MessageWriter, IDisposable
{
    private static readonly JsonWriterOptions Options = new()
    {
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
        SkipValidation = true,
    };

    private readonly Utf8JsonWriter _json;

    public JsonMessageWriter(OutputBuffer output)
        : base(output) => _json = new Utf8JsonWriter(output, Options);

    public void Dispose() => _json.Dispose();

    protected override void Write(in RecordView record, MessageBatch batch)
    {
        _json.WriteStartObject();
        if (HasPartitions)
            _json.WriteNumber("partition"u8, batch.Partition);
        _json.WriteNumber("offset"u8, record.Offset);
        _json.WriteString("time"u8, batch.AppendTime);
        if (new BatchView(batch.Bytes).MessageId is { Length: > 0 } id)
            _json.WriteString("message_id"u8, id);
        if (record.HasKey)
            WriteBytes("key", record.Key);
        WriteHeaders(record);
        if (record.IsTombstone)
            _json.WriteNull("body"u8);
        else
            WriteBytes("body", record.Body);
        _json.WriteEndObject();
        _json.Flush();
        _json.Reset();
        Output.WriteByte(LineFeed);
    }

    private void WriteHeaders(in RecordView record)
    {
        if (record.HeaderBytes.IsEmpty)
            return;
        _json.WriteStartObject("headers"u8);
        foreach (HeaderView header in record.Headers)
        {
            string name =
                header.WellKnownId == 0
                    ? Encoding.UTF8.GetString(header.Name)
                    : WellKnownHeader.NameOf(header.WellKnownId) ?? $"#{header.WellKnownId}";
            WriteBytes(name, header.Value);
        }
        _json.WriteEndObject();
    }

    private void WriteBytes(string name, ReadOnlySpan<byte> value)
    {
        if (Utf8.IsValid(value))
            _json.WriteString(name, value);
        else
            _json.WriteBase64String($"{name}_base64", value);
    }
}
