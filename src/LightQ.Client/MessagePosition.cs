using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Text.Json.Serialization;

namespace LightQ.Client;

/// <summary>
/// Where a message is in its topic: what a checkpoint keeps of what was read, and what cancels a message that waits to
/// be due. As text, it is the partition and the offset: <c>3/1234</c>.
/// </summary>
/// <param name="Partition">The partition.</param>
/// <param name="Offset">Its offset in the partition.</param>
[JsonConverter(typeof(MessagePositionConverter))]
public readonly record struct MessagePosition(int Partition, long Offset) : ISpanParsable<MessagePosition>
{
    /// <summary>Reads a position.</summary>
    /// <param name="s">The text, as <see cref="ToString"/> writes it.</param>
    /// <param name="provider">Ignored: a position is written in the same way everywhere.</param>
    /// <exception cref="FormatException">The text is no position.</exception>
    public static MessagePosition Parse(string s, IFormatProvider? provider = null)
    {
        ArgumentNullException.ThrowIfNull(s);
        return Parse(s.AsSpan(), provider);
    }

    /// <inheritdoc cref="Parse(string, IFormatProvider)"/>
    public static MessagePosition Parse(ReadOnlySpan<char> s, IFormatProvider? provider = null) =>
        TryParse(s, provider, out MessagePosition position)
            ? position
            : throw new FormatException($"'{s}' is no position of a message; allowed: partition/offset, as in 3/1234.");

    /// <summary>Reads a position.</summary>
    /// <param name="s">The text, as <see cref="ToString"/> writes it.</param>
    /// <param name="provider">Ignored.</param>
    /// <param name="result">The position.</param>
    /// <returns>Whether the text is one.</returns>
    public static bool TryParse([NotNullWhen(true)] string? s, IFormatProvider? provider, out MessagePosition result) =>
        TryParse(s.AsSpan(), provider, out result);

    /// <inheritdoc cref="TryParse(string, IFormatProvider, out MessagePosition)"/>
    public static bool TryParse(ReadOnlySpan<char> s, IFormatProvider? provider, out MessagePosition result)
    {
        result = default;
        int slash = s.IndexOf('/');
        if (
            slash < 0
            || !int.TryParse(s[..slash], NumberStyles.None, CultureInfo.InvariantCulture, out int partition)
            || !long.TryParse(s[(slash + 1)..], NumberStyles.None, CultureInfo.InvariantCulture, out long offset)
        )
        {
            return false;
        }
        result = new MessagePosition(partition, offset);
        return true;
    }

    /// <summary>The position as text: <c>3/1234</c>.</summary>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Partition}/{Offset}");
}
