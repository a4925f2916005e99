using LightQ.Protocol.Records;

namespace LightQ.Client;

/// <summary>One header of a record, in place.</summary>
public readonly ref struct HeaderView
{
    internal HeaderView(ReadOnlySpan<byte> name, byte wellKnownId, ReadOnlySpan<byte> value)
    {
        Name = name;
        WellKnownId = wellKnownId;
        Value = value;
    }

    /// <summary>The name in UTF-8; empty when <see cref="WellKnownId"/> stands for it.</summary>
    public ReadOnlySpan<byte> Name { get; }

    /// <summary>The <see cref="WellKnownHeader"/> id that stands for the name; 0 when there is a name.</summary>
    public byte WellKnownId { get; }

    /// <summary>The value.</summary>
    public ReadOnlySpan<byte> Value { get; }
}
