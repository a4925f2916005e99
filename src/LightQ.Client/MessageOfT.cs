using System.Diagnostics.CodeAnalysis;
using System.Text;

namespace LightQ.Client;

/// <summary>A received message with the value that its body stands for.</summary>
/// <typeparam name="T">What was published.</typeparam>
/// <remarks>
/// The value is the application's own and stays valid; <see cref="Raw"/> is valid as long as every
/// <see cref="Message"/> is. A body that is no such value is no end of the enumeration: it throws where
/// <see cref="Value"/> is asked for, and nowhere else.
/// </remarks>
public readonly struct Message<T>
{
    private readonly T? _value;

    internal Message(in Message raw, T value) => (Raw, _value) = (raw, value);

    internal Message(in Message raw, UndecodableMessageException error) => (Raw, Error) = (raw, error);

    /// <summary>The message itself: offset, key, headers, times, and how it is settled.</summary>
    public Message Raw { get; }

    /// <summary>What the body stands for.</summary>
    /// <exception cref="UndecodableMessageException">
    /// It stands for no such value; the exception names the message and the cause.
    /// </exception>
    public T Value => Error is null ? _value! : throw Error;

    /// <summary>Why there is no value; null when there is one.</summary>
    public UndecodableMessageException? Error { get; }

    /// <summary>The value, if there is one.</summary>
    /// <param name="value">What the body stands for.</param>
    /// <returns>False when it stands for no such value; <see cref="Error"/> says why.</returns>
    public bool TryGetValue([MaybeNullWhen(false)] out T value)
    {
        value = _value;
        return Error is null;
    }

    internal static Message<T> Decode(in Message raw, string topic, IMessageSerializer<T> serializer)
    {
        try
        {
            return new Message<T>(
                raw,
                raw.IsTombstone
                    ? throw new FormatException("it has no body, which says that its key's last value is gone.")
                    : serializer.Deserialize(raw.BodySpan)
            );
        }
        catch (Exception e)
        {
            // Whatever a serializer throws about bytes of unknown origin belongs to this message alone.
            string? contentType = raw.TryGetHeader("content-type", out ReadOnlySpan<byte> header)
                ? Encoding.UTF8.GetString(header)
                : null;
            return new Message<T>(
                raw,
                new UndecodableMessageException(topic, raw.Partition, raw.Offset, typeof(T), contentType, e)
            );
        }
    }
}
