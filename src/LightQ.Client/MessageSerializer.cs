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

    /// <summary>Text as UTF-8, <c>text/plain; charset=utf-8</c>. A body that is no UTF-8 is no such value.</summary>
    public static IMessageSerializer<string> Text { get; } = new TextSerializer();

    /// <summary>Bytes as they are, <c>application/octet-stream</c>.</summary>
    public static IMessageSerializer<byte[]> Bytes { get; } = new BytesSerializer();

    /// <summary>
    /// What is used where no serializer is given: <see cref="Text"/> for strings, <see cref="Bytes"/> for byte arrays,
    /// and for every other type a <see cref="JsonMessageSerializer{T}"/> with the
    /// default <see cref="JsonSerializerOptions"/>, which finds out by reflection what to write.
    /// </summary>
    /// <typeparam name="T">What is published and consumed.</typeparam>
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
        /// <summary>Threads that make it at the same time make the same.</summary>
        public static volatile IMessageSerializer<T>? Serializer;
    }
}
