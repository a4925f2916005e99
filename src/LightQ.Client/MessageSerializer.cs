using System.Diagnostics.CodeAnalysis;
using System.Text.Json;
using LightQ.Client.Serializing;

namespace LightQ.Client;

/// <summary>The serializers that come with the client, besides <see cref="JsonMessageSerializer{T}"/>.</summary>
public static class MessageSerializer
{
    internal const string Reflection =
        "JSON by reflection needs types and code that trimming removes and native compilation does not make. "
        + "Give a JsonMessageSerializer with a contract of a JsonSerializerContext.";

    /// <summary>
    /// Text as UTF-8, <c>text/plain; charset=utf-8</c>. A body that is not valid UTF-8 cannot be read.
    /// </summary>
    public static IMessageSerializer<string> Text { get; } = new TextSerializer();

    /// <summary>Bytes as they are, <c>application/octet-stream</c>.</summary>
    public static IMessageSerializer<byte[]> Bytes { get; } = new BytesSerializer();

    /// <summary>
    /// The serializer that is used when the caller gives none: <see cref="Text"/> for strings, <see cref="Bytes"/> for
    /// byte arrays, and for every other type a <see cref="JsonMessageSerializer{T}"/> with the default
    /// <see cref="JsonSerializerOptions"/>, which finds out by reflection what to write and read.
    /// </summary>
    /// <typeparam name="T">The type of the published and consumed values.</typeparam>
    [RequiresUnreferencedCode(Reflection)]
    [RequiresDynamicCode(Reflection)]
    public static IMessageSerializer<T> Default<T>() => Of<T>.Serializer ??= Make<T>();

    [RequiresUnreferencedCode(Reflection)]
    [RequiresDynamicCode(Reflection)]
    private static IMessageSerializer<T> Make<T>()
    {
        if (typeof(T) == typeof(string))
            return (IMessageSerializer<T>)Text;
        return typeof(T) == typeof(byte[])
            ? (IMessageSerializer<T>)Bytes
            : new JsonMessageSerializer<T>(JsonSerializerOptions.Default);
    }

    private static class Of<T>
    {
        /// <summary>Threads that create it at the same time create equal ones.</summary>
        public static volatile IMessageSerializer<T>? Serializer;
    }
}
