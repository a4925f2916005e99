using LightQ.Protocol.Records;

namespace LightQ.Client;

/// <summary>One header of a record, in place; good as long as the record.</summary>
public readonly ref struct HeaderView
{
    private readonly ReadOnlySpan<byte> _name;
    private readonly ReadOnlySpan<byte> _value;
    private readonly ViewLife _life;
    private readonly byte _wellKnownId;

    internal HeaderView(ReadOnlySpan<byte> name, byte wellKnownId, ReadOnlySpan<byte> value, ViewLife life)
    {
        _name = name;
        _wellKnownId = wellKnownId;
        _value = value;
        _life = life;
    }

    /// <summary>The name in UTF-8; empty when <see cref="WellKnownId"/> stands for it.</summary>
    public ReadOnlySpan<byte> Name
    {
        get
        {
            _life.ThrowIfOver();
            return _name;
        }
    }

    /// <summary>The <see cref="WellKnownHeader"/> id that stands for the name; 0 when there is a name.</summary>
    public byte WellKnownId
    {
        get
        {
            _life.ThrowIfOver();
            return _wellKnownId;
        }
    }

    /// <summary>The value.</summary>
    public ReadOnlySpan<byte> Value
    {
        get
        {
            _life.ThrowIfOver();
            return _value;
        }
    }
}
