using System.Collections;
using System.Diagnostics.CodeAnalysis;

namespace LightQ.Grpc;

/// <summary>
/// The headers or trailers of a call, in order; a name may occur more than once. Not thread-safe.
/// Names are case-insensitive and kept in lower case. A name that ends in <c>-bin</c> holds bytes, any other printable ASCII.
/// </summary>
[SuppressMessage("Naming", "CA1710", Justification = "Metadata is the protocol's word.")]
public sealed class GrpcMetadata : IReadOnlyList<GrpcMetadataEntry>
{
    private readonly List<GrpcMetadataEntry> _entries = [];

    /// <inheritdoc/>
    public int Count => _entries.Count;

    /// <inheritdoc/>
    public GrpcMetadataEntry this[int index] => _entries[index];

    /// <summary>Adds a text entry.</summary>
    /// <param name="name">Letters, digits, <c>-</c>, <c>_</c> and <c>.</c>; not ending in <c>-bin</c>, not one of the protocol's own.</param>
    /// <param name="value">Printable ASCII (0x20 to 0x7E); spaces at either end do not survive the wire.</param>
    public void Add(string name, string value)
    {
        string key = ValidName(name);
        if (GrpcHeaders.IsBinary(key)) throw new ArgumentException($"'{name}' ends in -bin and takes bytes.", nameof(name));
        ArgumentNullException.ThrowIfNull(value);
        if (value.AsSpan().IndexOfAnyExceptInRange(' ', '~') >= 0)
            throw new ArgumentException($"The value of '{name}' is not printable ASCII; use a name that ends in -bin.", nameof(value));
        _entries.Add(new GrpcMetadataEntry(key, value));
    }

    /// <summary>Adds a binary entry; the bytes are copied.</summary>
    /// <param name="name">As for text, ending in <c>-bin</c>.</param>
    /// <param name="value">Any bytes.</param>
    public void Add(string name, ReadOnlySpan<byte> value)
    {
        string key = ValidName(name);
        if (!GrpcHeaders.IsBinary(key)) throw new ArgumentException($"'{name}' takes text; binary names end in -bin.", nameof(name));
        _entries.Add(new GrpcMetadataEntry(key, value.ToArray()));
    }

    /// <summary>The value of the last entry of this name, or null. Of a binary entry it is the base64 form.</summary>
    public string? GetValue(string name) => Find(name)?.Value;

    /// <summary>The bytes of the last entry of this name, or null when there is none or it is text.</summary>
    public ReadOnlyMemory<byte>? GetBytes(string name) => Find(name) is { IsBinary: true } entry ? entry.Bytes : null;

    /// <summary>All values of a name, in order.</summary>
    public IEnumerable<string> GetValues(string name) =>
        _entries.Where(e => e.Name.Equals(name, StringComparison.OrdinalIgnoreCase)).Select(e => e.Value);

    /// <summary>Removes every entry of a name.</summary>
    /// <returns>Whether there was one.</returns>
    public bool Remove(string name) => _entries.RemoveAll(e => e.Name.Equals(name, StringComparison.OrdinalIgnoreCase)) > 0;

    /// <summary>Appends all entries of another collection.</summary>
    public void AddRange(GrpcMetadata other)
    {
        ArgumentNullException.ThrowIfNull(other);
        _entries.AddRange(other._entries);
    }

    /// <inheritdoc/>
    public IEnumerator<GrpcMetadataEntry> GetEnumerator() => _entries.GetEnumerator();

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    /// <inheritdoc/>
    public override string ToString() => string.Join(", ", _entries.Select(e => e.Name));

    /// <summary>
    /// Takes a header from the wire. The protocol's own are left out. A binary header may hold several values with commas
    /// between them; one that is not base64 is left out too, since a broken annotation must not hide the call's status.
    /// </summary>
    internal void AddReceived(string name, string value)
    {
        if (GrpcHeaders.IsReserved(name) || name.StartsWith(':')) return;
        string key = name.ToLowerInvariant();
        if (!GrpcHeaders.IsBinary(key))
        {
            _entries.Add(new GrpcMetadataEntry(key, value));
            return;
        }

        foreach (string part in value.Split(',', StringSplitOptions.TrimEntries))
            if (TryDecode(part, out byte[]? bytes))
                _entries.Add(new GrpcMetadataEntry(key, bytes));
    }

    private GrpcMetadataEntry? Find(string name) =>
        _entries.FindLast(e => e.Name.Equals(name, StringComparison.OrdinalIgnoreCase));

    private static bool TryDecode(string base64, [NotNullWhen(true)] out byte[]? bytes)
    {
        string text = base64.TrimEnd('=');
        string padded = text.PadRight((text.Length + 3) / 4 * 4, '=');
        byte[] decoded = new byte[padded.Length / 4 * 3];
        bool valid = Convert.TryFromBase64String(padded, decoded, out int length);
        bytes = valid ? decoded[..length] : null;
        return valid;
    }

    private static string ValidName(string name)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        string key = name.ToLowerInvariant();
        foreach (char c in key)
            if (!char.IsAsciiLetterLower(c) && !char.IsAsciiDigit(c) && c is not ('-' or '_' or '.'))
                throw new ArgumentException($"'{name}' is not a metadata name: letters, digits, '-', '_' and '.' are allowed.", nameof(name));
        if (GrpcHeaders.IsReserved(key)) throw new ArgumentException($"'{name}' belongs to the protocol.", nameof(name));
        return key;
    }
}
