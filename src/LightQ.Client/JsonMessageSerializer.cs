using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;

namespace LightQ.Client;

/// <summary>
/// Converts values to JSON with System.Text.Json. It uses a source-generated contract, which trimmed and ahead-of-time
/// compiled programs need, or reflection.
/// </summary>
/// <typeparam name="T">The type of the published and consumed values.</typeparam>
/// <remarks>
/// Thread-safe. When one thread writes at a time, nothing is allocated except what the values themselves need.
/// </remarks>
/// <example>
/// <code>
/// [JsonSerializable(typeof(Order))]
/// internal sealed partial class ShopJson : JsonSerializerContext;
///
/// var json = new JsonMessageSerializer&lt;Order&gt;(ShopJson.Default.Order);
/// </code>
/// </example>
public sealed class JsonMessageSerializer<T> : IMessageSerializer<T>
{
    private readonly JsonTypeInfo<T> _contract;
    private readonly JsonWriterOptions _writerOptions;
    private readonly bool _isOfRunTimeType;
    private Utf8JsonWriter? _spare;

    /// <summary>Creates a serializer.</summary>
    /// <param name="contract">
    /// The type's contract, from a <see cref="System.Text.Json.Serialization.JsonSerializerContext"/>; its options
    /// control how the JSON looks. Of a value of a derived type it writes what the contract says, and no more.
    /// </param>
    public JsonMessageSerializer(JsonTypeInfo<T> contract)
    {
        ArgumentNullException.ThrowIfNull(contract);
        _contract = contract;
        JsonSerializerOptions options = contract.Options;
        _writerOptions = new JsonWriterOptions
        {
            Encoder = options.Encoder,
            Indented = options.WriteIndented,
            MaxDepth = options.MaxDepth,
            SkipValidation = true,
        };
    }

    /// <summary>
    /// Creates a serializer that finds out by reflection what to write and read. A value of a derived type is written
    /// with all that it has, unless <typeparamref name="T"/> says with <c>JsonDerivedType</c> how.
    /// </summary>
    /// <param name="options">Options that control how the JSON looks. Do not change them afterwards.</param>
    /// <exception cref="ArgumentException">
    /// <typeparamref name="T"/> is no value, but work that gives one: a <see cref="Task"/>, a <see cref="Stream"/>, a
    /// query, a delegate.
    /// </exception>
    [RequiresUnreferencedCode(MessageSerializer.Reflection)]
    [RequiresDynamicCode(MessageSerializer.Reflection)]
    public JsonMessageSerializer(JsonSerializerOptions options)
        : this(ContractOf(options))
    {
        _isOfRunTimeType =
            !typeof(T).IsValueType
            && !typeof(T).IsSealed
            && _contract is { PolymorphismOptions: null, Kind: not JsonTypeInfoKind.Enumerable };
    }

    /// <summary><c>application/json</c>.</summary>
    public string ContentType => "application/json";

    /// <inheritdoc/>
    /// <exception cref="ArgumentException">The value is no value, but work that gives one.</exception>
    public void Serialize(T value, IBufferWriter<byte> body)
    {
        // Out of others' reach while in use: other threads, and converters that publish, make one of their own.
        Utf8JsonWriter writer = Interlocked.Exchange(ref _spare, null) ?? new Utf8JsonWriter(body, _writerOptions);
        writer.Reset(body);
        if (_isOfRunTimeType && value is not null && value.GetType() != typeof(T))
            JsonSerializer.Serialize(writer, value, ContractOf(value.GetType()));
        else
            JsonSerializer.Serialize(writer, value, _contract);
        writer.Flush();
        Volatile.Write(ref _spare, writer);
    }

    /// <inheritdoc/>
    /// <exception cref="JsonException">
    /// The body is not JSON, does not represent a value of the type, or is null.
    /// </exception>
    public T Deserialize(ReadOnlySpan<byte> body) =>
        JsonSerializer.Deserialize(body, _contract)
        ?? throw new JsonException($"The body is null, which is no {typeof(T).Name}.");

    /// <inheritdoc/>
    /// <remarks>Checks the contracts of the type and of the types of its properties.</remarks>
    /// <exception cref="NotSupportedException">A contract is missing, or the type cannot be made from JSON.</exception>
    /// <exception cref="InvalidOperationException">The contract contradicts itself.</exception>
    public void EnsureCanRead()
    {
        EnsureContracts(_contract, []);
        // A type of a hierarchy is made by what the message says.
        if (_contract.PolymorphismOptions is not null || _contract.Kind == JsonTypeInfoKind.None)
            return;
        try
        {
            JsonSerializer.Deserialize(_contract.Kind == JsonTypeInfoKind.Enumerable ? "[]"u8 : "{}"u8, _contract);
        }
        catch (Exception e)
            when (e is not (NotSupportedException or InvalidOperationException) || e.Source != "System.Text.Json")
        {
            // It reads, and this is no value; or the type's own constructor says so.
        }
    }

    private JsonTypeInfo ContractOf(Type type)
    {
        NoValue.ThrowIf(type);
        return _contract.Options.GetTypeInfo(type);
    }

    private static void EnsureContracts(JsonTypeInfo contract, HashSet<Type> seen)
    {
        if (!seen.Add(contract.Type))
            return;
        IEnumerable<Type?> parts = contract
            .Properties.Where(static p => p.Set is not null || p.AssociatedParameter is not null)
            .Select(static p => p.PropertyType)
            .Append(contract.ElementType);
        foreach (Type part in parts.OfType<Type>())
            EnsureContracts(contract.Options.GetTypeInfo(part), seen);
    }

    [RequiresUnreferencedCode(MessageSerializer.Reflection)]
    [RequiresDynamicCode(MessageSerializer.Reflection)]
    private static JsonTypeInfo<T> ContractOf(JsonSerializerOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        NoValue.ThrowIf(typeof(T));
        options.MakeReadOnly(populateMissingResolver: true);
        return (JsonTypeInfo<T>)options.GetTypeInfo(typeof(T));
    }
}
