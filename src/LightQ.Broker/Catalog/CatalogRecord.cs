using System.Text.Json.Serialization;
using LightQ.Broker.Topics;

namespace LightQ.Broker.Catalog;

/// <summary>One entry of the catalog's journal: exactly one property is set. JSON, so that a dump can be read by eye.</summary>
internal sealed record CatalogRecord
{
    public TopicEntry? Topic { get; init; }

    public Guid? DeletedTopic { get; init; }

    public ProducerEntry? Producer { get; init; }

    /// <summary>A topic as created or changed; a later one with the same id replaces it.</summary>
    internal sealed record TopicEntry(string Name, Guid Id, DateTimeOffset Created, TopicSettings Settings, TopicCredentials? Credentials = null);

    /// <summary>A named producer's id on a topic and the highest epoch that may have been given out.</summary>
    internal sealed record ProducerEntry(Guid TopicId, string Name, ulong Id, uint Epoch);
}

/// <summary>Source-generated serialisation of <see cref="CatalogRecord"/>.</summary>
[JsonSourceGenerationOptions(DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull, IgnoreReadOnlyProperties = true, UseStringEnumConverter = true)]
[JsonSerializable(typeof(CatalogRecord))]
internal sealed partial class CatalogJson : JsonSerializerContext;
