using System.Globalization;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Unicode;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Records;
using LightQ.Storage.Inspection;

namespace LightQ.Cli.Journals;

/// <summary>
/// Writes what lies in the segments: a line a batch, and a line a record if wanted. With JSON, each line is an object.
/// </summary>
internal sealed class DumpJob : IDisposable
{
    /// <summary>The most of a key, header or body that is shown.</summary>
    private const int ShownBytes = 256;

    private static readonly JsonWriterOptions Relaxed = new()
    {
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
        SkipValidation = true,
    };

    private readonly string _path;
    private readonly bool _isJson;
    private readonly bool _records;
    private readonly long _from;
    private readonly long _to;
    private readonly Stream _output = new StandardOutput();
    private readonly MemoryStream _line = new();
    private readonly Utf8JsonWriter _json;
    private readonly BatchInflater _inflater = new(ProtocolLimits.InflatedBatchBytes);

    /// <param name="path">What to dump.</param>
    /// <param name="output">Lines for people or for programs.</param>
    /// <param name="from">The first offset wanted.</param>
    /// <param name="to">The last offset wanted.</param>
    /// <param name="records">Whether records are shown too.</param>
    public DumpJob(string path, OutputFormat output, long from, long to, bool records)
    {
        (_path, _from, _to, _records) = (path, from, to, records);
        _isJson = output == OutputFormat.Json;
        _json = new Utf8JsonWriter(_line, Relaxed);
    }

    public int Run(CancellationToken cancellationToken)
    {
        using JournalTarget target = JournalTarget.Open(_path);
        bool isDamaged = false;
        foreach (JournalPartition partition in target.Partitions)
        {
            if (!_isJson)
                WriteText($"{partition.Title}, partition {partition.Partition}:");
            JournalReport report = JournalInspector.Read(
                partition.Directory,
                partition.TopicId,
                (file, position, batch, isValid) =>
                {
                    cancellationToken.ThrowIfCancellationRequested();
                    if (batch.NextOffset > _from && batch.BaseOffset <= _to)
                        WriteBatch(partition, file, position, batch, isValid);
                },
                hole =>
                {
                    if (hole.LastOffset >= _from && hole.FirstOffset <= _to)
                        WriteHole(partition, hole);
                }
            );
            isDamaged |= report.IsDamaged;
        }
        _output.Flush();
        return isDamaged ? ExitCode.Failed : ExitCode.Ok;
    }

    public void Dispose()
    {
        _inflater.Return();
        _json.Dispose();
        _output.Dispose();
    }

    private void WriteBatch(JournalPartition partition, string file, long position, BatchView batch, bool isValid)
    {
        if (_isJson)
        {
            WriteJson(partition, file, position, batch, isValid);
        }
        else
        {
            string producer =
                batch.ProducerId == 0
                    ? ""
                    : $" producer {batch.ProducerId}/{batch.ProducerEpoch} sequence {batch.BaseSequence}";
            WriteText(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"{batch.BaseOffset, 12} {batch.Kind.ToString().ToLowerInvariant()} {batch.OffsetSpan} offsets "
                        + $"{batch.Length} bytes at {file}:{position} appended {Time(batch.AppendTime)} epoch "
                        + $"{batch.LeaderEpoch}{producer}{Features(batch)} crc "
                        + $"{batch.HeaderCrc:x8}/{batch.PayloadCrc:x8} {(isValid ? "ok" : "BAD")}"
                )
            );
        }
        if (!_records || !isValid || batch.Kind != BatchKind.Data)
            return;
        if (batch.Codec != BatchCodec.None)
        {
            if (!_inflater.TryInflate(batch))
            {
                WriteNotInflated(batch);
                return;
            }
            batch = new BatchView(_inflater.Memory.AsSpan(0, _inflater.Length));
        }
        foreach (RecordView record in batch.Records)
        {
            if (record.Offset < _from || record.Offset > _to)
                continue;
            if (_isJson)
                WriteJson(record);
            else
                WriteText(RecordText(record));
        }
    }

    private void WriteNotInflated(in BatchView batch)
    {
        if (!_isJson)
        {
            WriteText(
                string.Create(CultureInfo.InvariantCulture, $"{batch.BaseOffset, 16} (records that do not inflate)")
            );
            return;
        }
        _json.WriteStartObject();
        _json.WriteString("type"u8, "not_inflated"u8);
        _json.WriteNumber("offset"u8, batch.BaseOffset);
        EndLine();
    }

    private void WriteHole(JournalPartition partition, RepairLoss hole)
    {
        if (!_isJson)
        {
            WriteText(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"{hole.FirstOffset, 12} DAMAGED to {hole.LastOffset}: {hole.Bytes} bytes of {hole.File} hold no "
                        + $"valid batch"
                )
            );
            return;
        }
        _json.WriteStartObject();
        WritePlace(partition, "damage", hole.File);
        _json.WriteNumber("first_offset"u8, hole.FirstOffset);
        _json.WriteNumber("last_offset"u8, hole.LastOffset);
        _json.WriteNumber("bytes"u8, hole.Bytes);
        EndLine();
    }

    private void WriteJson(JournalPartition partition, string file, long position, BatchView batch, bool isValid)
    {
        _json.WriteStartObject();
        WritePlace(partition, "batch", file);
        _json.WriteNumber("position"u8, position);
        _json.WriteString("kind"u8, batch.Kind.ToString().ToLowerInvariant());
        _json.WriteNumber("base_offset"u8, batch.BaseOffset);
        _json.WriteNumber("offset_span"u8, batch.OffsetSpan);
        _json.WriteNumber("records"u8, batch.RecordCount);
        _json.WriteNumber("bytes"u8, batch.Length);
        _json.WriteNumber("uncompressed_bytes"u8, batch.UncompressedLength);
        if (batch.Codec != BatchCodec.None)
            _json.WriteString("codec"u8, Word(batch.Codec));
        if (batch.DueAt != 0)
            _json.WriteString("due_time"u8, Time(batch.DueAt));
        if (batch.ExpiresAt != long.MaxValue)
            _json.WriteString("expiry"u8, Time(batch.ExpiresAt));
        if (batch.OriginOffset >= 0)
            _json.WriteNumber("origin_offset"u8, batch.OriginOffset);
        if (batch is { Kind: BatchKind.Control, OriginOffset: >= 0 })
            _json.WriteNumber("cancels"u8, (long)batch.BaseSequence);
        _json.WriteString("append_time"u8, Time(batch.AppendTime));
        _json.WriteString("timestamp"u8, Time(batch.Timestamp));
        _json.WriteNumber("producer_id"u8, batch.ProducerId);
        _json.WriteNumber("producer_epoch"u8, batch.ProducerEpoch);
        _json.WriteNumber("base_sequence"u8, batch.BaseSequence);
        _json.WriteNumber("leader_epoch"u8, batch.LeaderEpoch);
        _json.WriteString("header_crc"u8, batch.HeaderCrc.ToString("x8", CultureInfo.InvariantCulture));
        _json.WriteString("payload_crc"u8, batch.PayloadCrc.ToString("x8", CultureInfo.InvariantCulture));
        _json.WriteBoolean("valid"u8, isValid);
        EndLine();
    }

    private void WriteJson(in RecordView record)
    {
        _json.WriteStartObject();
        _json.WriteString("type"u8, "record"u8);
        _json.WriteNumber("offset"u8, record.Offset);
        if (record.HasKey)
            WriteBytes("key", record.Key);
        if (!record.HeaderBytes.IsEmpty)
        {
            _json.WriteStartObject("headers"u8);
            foreach (HeaderView header in record.Headers)
                WriteBytes(NameOf(header), header.Value);
            _json.WriteEndObject();
        }
        _json.WriteNumber("body_bytes"u8, record.Body.Length);
        if (record.IsTombstone)
            _json.WriteNull("body"u8);
        else
            WriteBytes("body", record.Body);
        EndLine();
    }

    private void WritePlace(JournalPartition partition, string type, string file)
    {
        _json.WriteString("type"u8, type);
        _json.WriteString("topic"u8, partition.Title);
        _json.WriteNumber("partition"u8, partition.Partition);
        _json.WriteString("file"u8, file);
    }

    private void WriteBytes(string name, ReadOnlySpan<byte> value)
    {
        ReadOnlySpan<byte> shown = Shown(value);
        if (Utf8.IsValid(shown))
            _json.WriteString(name, shown);
        else
            _json.WriteString($"{name}_hex", Convert.ToHexStringLower(shown));
    }

    private void EndLine()
    {
        _json.WriteEndObject();
        _json.Flush();
        _json.Reset();
        _line.WriteByte((byte)'\n');
        _output.Write(_line.GetBuffer().AsSpan(0, (int)_line.Length));
        _line.SetLength(0);
    }

    private void WriteText(string line) => _output.Write(Encoding.UTF8.GetBytes(line + "\n"));

    private static string Features(in BatchView batch)
    {
        var text = new StringBuilder();
        if (batch.Codec != BatchCodec.None)
            text.Append(CultureInfo.InvariantCulture, $" {Word(batch.Codec)} of {batch.UncompressedLength} bytes");
        if (batch.DueAt != 0)
            text.Append(" due ").Append(Time(batch.DueAt));
        if (batch.ExpiresAt != long.MaxValue)
            text.Append(" expires ").Append(Time(batch.ExpiresAt));
        if (batch is { Kind: BatchKind.Control, OriginOffset: >= 0 })
        {
            text.Append(CultureInfo.InvariantCulture, $" cancels {(long)batch.BaseSequence}");
        }
        else if (batch.OriginOffset >= 0)
        {
            text.Append(
                CultureInfo.InvariantCulture,
                $" {(batch.DueAt != 0 ? "copy" : "delivery")} of {batch.OriginOffset}"
            );
        }

        return text.ToString();
    }

    private static string Word(BatchCodec codec) => codec.ToString().ToLowerInvariant();

    private static string RecordText(in RecordView record)
    {
        var text = new StringBuilder();
        text.Append(CultureInfo.InvariantCulture, $"{record.Offset, 16}");
        if (record.HasKey)
            text.Append(" key ").Append(Text(record.Key));
        foreach (HeaderView header in record.Headers)
            text.Append(' ').Append(NameOf(header)).Append('=').Append(Text(header.Value));
        return text.Append(' ').Append(record.IsTombstone ? "(tombstone)" : Text(record.Body)).ToString();
    }

    private static string Text(ReadOnlySpan<byte> value)
    {
        ReadOnlySpan<byte> shown = Shown(value);
        string rest =
            shown.Length < value.Length ? string.Create(CultureInfo.InvariantCulture, $"… ({value.Length} bytes)") : "";
        bool isText = Utf8.IsValid(shown) && !shown.ContainsAnyInRange((byte)0, (byte)31);
        return (isText ? Encoding.UTF8.GetString(shown) : "0x" + Convert.ToHexStringLower(shown)) + rest;
    }

    /// <summary>The beginning of it, cut before a character and not inside one.</summary>
    private static ReadOnlySpan<byte> Shown(ReadOnlySpan<byte> value)
    {
        int length = Math.Min(value.Length, ShownBytes);
        if (length < value.Length)
        {
            for (int back = 0; back < 4 && length > 0 && (value[length] & 0xC0) == 0x80; back++)
                length--;
        }
        return value[..length];
    }

    private static string NameOf(in HeaderView header) =>
        header.WellKnownId == 0
            ? Encoding.UTF8.GetString(header.Name)
            : WellKnownHeader.NameOf(header.WellKnownId) ?? $"#{header.WellKnownId}";

    /// <summary>A time; the number itself when it lies beyond what a calendar has: a producer may write any.</summary>
    private static string Time(long microseconds) =>
        microseconds >= 0 && microseconds <= UnixMicroseconds.From(DateTimeOffset.MaxValue)
            ? UnixMicroseconds
                .ToTime(microseconds)
                .ToString("yyyy-MM-dd'T'HH:mm:ss.ffffff'Z'", CultureInfo.InvariantCulture)
            : string.Create(CultureInfo.InvariantCulture, $"{microseconds}us");
}
