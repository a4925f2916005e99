using System.Buffers;

namespace LightQ.Client;

/// <summary>
/// Turns values into bodies of messages and back. <see cref="JsonMessageSerializer{T}"/> does so with System.Text.Json.
/// </summary>
/// <typeparam name="T">What is published and consumed.</typeparam>
/// <remarks>
/// One object serves all producers and consumers at the same time: it must be thread-safe, best by having no state.
/// </remarks>
public interface IMessageSerializer<T>
{
    /// <summary>
    /// The media type of the bodies it makes, in ASCII, for example <c>application/json</c>: what their header
    /// content-type says.
    /// </summary>
    string ContentType { get; }

    /// <summary>Writes a value's bytes.</summary>
    /// <param name="value">The value.</param>
    /// <param name="body">Where they go.</param>
    void Serialize(T value, IBufferWriter<byte> body);

    /// <summary>Reads a value.</summary>
    /// <param name="body">
    /// A whole body, of any content, by any publisher; not valid after the method has returned.
    /// </param>
    /// <returns>The value.</returns>
    /// <exception cref="Exception">
    /// The body is not that of such a value: becomes the cause of an <see cref="UndecodableMessageException"/>.
    /// </exception>
    T Deserialize(ReadOnlySpan<byte> body);
}
