using System.Diagnostics.CodeAnalysis;
using System.Text.Json;
using LightQ.Client.Serializing;

namespace LightQ.Client;

/// <summary>The serializers that come with the client, besides <see cref="JsonMessageSerializer{T}"/>.</summary>
public static class MessageSerializer
{
    /// <summary>How values look as JSON where the caller does not say.</summary>
    private static readonly JsonSerializerOptions Json = new(JsonSerializerDefaults.Web)
    {
        RespectNullableAnnotations = true,
        RespectRequiredConstructorParameters = true,
    };

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
    /// byte arrays, and for every other type a <see cref="JsonMessageSerializer{T}"/>, which finds out by reflection
    /// what to write and read.
    /// </summary>
    /// <remarks>
    /// The JSON is that of ASP.NET Core (<see cref="JsonSerializerDefaults.Web"/>): names in camelCase, read in any
    /// case. What a constructor or a reference type that is not nullable says a value must have, it must have: without,
    /// a body cannot be read.
    /// </remarks>
    /// <typeparam name="T">The type of the published and consumed values.</typeparam>
    /// <exception cref="ArgumentException">
    /// The type is no value, but work that gives one: a <see cref="Task"/>, a <see cref="Stream"/>, a query.
    /// </exception>
    [RequiresUnreferencedCode(Reflection)]
    [RequiresDynamicCode(Reflection)]
    public static IMessageSerializer<T> Default<T>() => Of<T>.Serializer ??= Make<T>();

    /// <summary>The serializer of a type that needs no contract; null for any other.</summary>
    internal static IMessageSerializer<T>? Plain<T>()
    {
        if (typeof(T) == typeof(string))
            return (IMessageSerializer<T>)Text;
        return typeof(T) == typeof(byte[]) ? (IMessageSerializer<T>)Bytes : null;
    }

    [RequiresUnreferencedCode(Reflection)]
    [RequiresDynamicCode(Reflection)]
    private static IMessageSerializer<T> Make<T>() => Plain<T>() ?? new JsonMessageSerializer<T>(Json);

    private static class Of<T>
    {
        /// <summary>Threads that create it at the same time create equal ones.</summary>
        public static volatile IMessageSerializer<T>? Serializer;
    }
}
