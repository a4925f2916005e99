namespace LightQ.Grpc;

/// <summary>One name and value of a call's metadata.</summary>
public sealed class GrpcMetadataEntry
{
    private readonly byte[]? _bytes;

    internal GrpcMetadataEntry(string name, string value)
    {
        Name = name;
        Value = value;
    }

    internal GrpcMetadataEntry(string name, byte[] bytes)
    {
        Name = name;
        _bytes = bytes;
        Value = Convert.ToBase64String(bytes).TrimEnd('=');
    }

    /// <summary>The name in lower case; that of a binary entry ends in <c>-bin</c>.</summary>
    public string Name { get; }

    /// <summary>The text of the entry; for a binary entry its base64 form without padding, as it travels.</summary>
    public string Value { get; }

    /// <summary>Whether the value is bytes rather than text.</summary>
    public bool IsBinary => _bytes is not null;

    /// <summary>The bytes of a binary entry.</summary>
    /// <exception cref="InvalidOperationException">The entry is text.</exception>
    public ReadOnlyMemory<byte> Bytes =>
        _bytes ?? throw new InvalidOperationException($"The metadata entry '{Name}' is text; binary names end in -bin.");
}
