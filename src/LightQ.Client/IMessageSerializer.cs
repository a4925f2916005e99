using System.Buffers;

namespace LightQ.Client;

/// <summary>
/// Converts values to message bodies and back. <see cref="JsonMessageSerializer{T}"/> uses System.Text.Json.
/// </summary>
/// <typeparam name="T">The type of the published and consumed values.</typeparam>
/// <remarks>
/// One object serves all producers and consumers at the same time: it must be thread-safe. Best is a serializer without
/// state.
/// </remarks>
public interface IMessageSerializer<T>
{
    /// <summary>
    /// The media type of the bodies that it writes, in ASCII, for example <c>application/json</c>. It becomes the
    /// content-type header of the messages.
    /// </summary>
    string ContentType { get; }

    /// <summary>Writes a value's bytes.</summary>
    /// <param name="value">The value.</param>
    /// <param name="body">Where the bytes are written.</param>
    void Serialize(T value, IBufferWriter<byte> body);

    /// <summary>Reads a value.</summary>
    /// <param name="body">
    /// A whole body. It may come from any publisher and hold anything. Not valid after the method has returned.
    /// </param>
    /// <returns>The value.</returns>
    /// <exception cref="Exception">
    /// The body cannot be read as a value. The exception becomes the cause of an
    /// <see cref="UndecodableMessageException"/>.
    /// </exception>
    T Deserialize(ReadOnlySpan<byte> body);

    /// <summary>
    /// Checks that the serializer can read at all, whatever the body. Called before a host's processor begins, and when
    /// a body could not be read: to tell a message that is no value from a serializer that lacks something.
    /// </summary>
    /// <remarks>The default checks nothing.</remarks>
    /// <exception cref="Exception">
    /// It cannot, for example for want of a contract. No message is then blamed: the exception becomes the cause of an
    /// <see cref="UnusableSerializerException"/>.
    /// </exception>
    void EnsureCanRead() { }
}
