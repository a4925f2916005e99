using System.Text.Json;
using LightQ.Storage;

namespace LightQ.Broker.Catalog;

/// <summary>One entry of the stream of a cluster's catalog: a change, or a part of a copy of everything.</summary>
/// <param name="Id">Tells a node which entry is its own when it got no answer.</param>
/// <param name="Records">The records, which count together.</param>
/// <param name="Copy">Which part of a copy it is; null for a change.</param>
internal sealed record CatalogEntry(Guid Id, IReadOnlyList<CatalogRecord> Records, CatalogEntry.CopyPart? Copy = null)
{
    /// <summary>The entry as it is stored.</summary>
    public byte[] Write() => JsonSerializer.SerializeToUtf8Bytes(this, CatalogJson.Default.CatalogEntry);

    /// <summary>Reads a stored entry.</summary>
    /// <exception cref="JournalFormatException">It is none, or a record in it is none.</exception>
    public static CatalogEntry Read(ReadOnlySpan<byte> bytes)
    {
        try
        {
            return JsonSerializer.Deserialize(bytes, CatalogJson.Default.CatalogEntry) is { Records: { } records } entry
                ? entry with
                {
                    Records = [.. records.Select(CatalogRecord.Check)],
                }
                : throw new JournalFormatException("An entry of the catalog has no records.");
        }
        catch (Exception e) when (e is JsonException or BrokerException)
        {
            throw new JournalFormatException($"An entry of the catalog cannot be read: {e.Message}");
        }
    }

    /// <summary>Divides records among entries that an engine takes.</summary>
    public static IEnumerable<CatalogRecord[]> Split(IEnumerable<CatalogRecord> records, int maxEntryBytes)
    {
        List<CatalogRecord> part = [];
        long bytes = 0;
        foreach (CatalogRecord record in records)
        {
            int length = record.Write().Length;
            if (part.Count != 0 && bytes + length > maxEntryBytes / 2)
            {
                yield return [.. part];
                part.Clear();
                bytes = 0;
            }
            part.Add(record);
            bytes += length;
        }
        yield return [.. part];
    }

    /// <summary>A part of a copy.</summary>
    /// <param name="Id">The copy.</param>
    /// <param name="At">The sequence up to which it has everything.</param>
    /// <param name="Part">Which of its parts, from 0.</param>
    /// <param name="Parts">How many it has. A copy counts when all of them are there.</param>
    internal sealed record CopyPart(Guid Id, ulong At, int Part, int Parts);
}
