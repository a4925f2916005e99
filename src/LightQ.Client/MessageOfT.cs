using System.Diagnostics.CodeAnalysis;
using System.Text;

namespace LightQ.Client;

/// <summary>A received message with the value of its body.</summary>
/// <typeparam name="T">The type of the published value.</typeparam>
/// <remarks>
/// A body that cannot be read as a value does not end the enumeration: only <see cref="Value"/> throws. A serializer
/// that cannot read any body ends it (<see cref="UnusableSerializerException"/>).
/// </remarks>
public readonly struct Message<T>
{
    private readonly T? _value;

    internal Message(in Message raw, T value) => (Raw, _value) = (raw, value);

    internal Message(in Message raw, UndecodableMessageException error) => (Raw, Error) = (raw, error);

    /// <summary>The message itself: offset, key, headers, times, and how it is settled.</summary>
    public Message Raw { get; }

    /// <summary>The value of the body.</summary>
    /// <exception cref="UndecodableMessageException">
    /// The body cannot be read as a value; the exception names the message and the cause.
    /// </exception>
    public T Value => Error is null ? _value! : throw Error;

    /// <summary>Why there is no value; null when there is one.</summary>
    public UndecodableMessageException? Error { get; }

    /// <summary>The value, if there is one.</summary>
    /// <param name="value">The value of the body.</param>
    /// <returns>False when the body cannot be read as a value; <see cref="Error"/> gives the reason.</returns>
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
        catch (Exception e) when (e is not (ProcessorPausedException or UnusableSerializerException))
        {
            // Whatever a serializer throws about bytes of unknown origin belongs to this message alone, unless it could
            // read no other, either.
            ThrowIfUnusable(serializer, e);
            string? contentType = raw.TryGetHeader("content-type", out ReadOnlySpan<byte> header)
                ? Encoding.UTF8.GetString(header)
                : null;
            return new Message<T>(
                raw,
                new UndecodableMessageException(topic, raw.Partition, raw.Offset, typeof(T), contentType, e)
            );
        }
    }

    private static void ThrowIfUnusable(IMessageSerializer<T> serializer, Exception error)
    {
        if (error is TypeInitializationException or MissingMemberException or DllNotFoundException)
            throw new UnusableSerializerException(typeof(T), error);
        try
        {
            serializer.EnsureCanRead();
        }
        catch (Exception e)
        {
            throw new UnusableSerializerException(typeof(T), e);
        }
    }
}
