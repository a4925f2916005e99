using System.Text.Json.Serialization;
using LightQ.Broker.Topics;
using LightQ.Broker.Users;

namespace LightQ.Broker.Catalog;

/// <summary>One entry of the catalog's journal: exactly one property is set. JSON, so that a dump can be read by eye.</summary>
internal sealed record CatalogRecord
{
    public TopicEntry? Topic { get; init; }

    public Guid? DeletedTopic { get; init; }

    public ProducerEntry? Producer { get; init; }

    /// <summary>A user as made or changed, with its rights; a later one of the same name replaces it.</summary>
    public User? User { get; init; }

    /// <summary>A user that is gone with its tokens.</summary>
    public string? DeletedUser { get; init; }

    public AccessToken? Token { get; init; }

    /// <summary>The id of a token that has ended.</summary>
    public string? DeletedToken { get; init; }

    /// <summary>A topic as created or changed; a later one with the same id replaces it.</summary>
    internal sealed record TopicEntry(string Name, Guid Id, DateTimeOffset Created, TopicSettings Settings, CredentialsEntry? Credentials = null);

    /// <summary>A topic's own user. Before there was <paramref name="Password"/>, the parts of a PBKDF2-SHA-512 hash were kept.</summary>
    internal sealed record CredentialsEntry(string User, string? Password = null, byte[]? Salt = null, byte[]? Hash = null, int Iterations = 0)
    {
        public TopicCredentials ToCredentials() => new(
            User, Password ?? PasswordHash.Format(PasswordHash.EarlierAlgorithm, Iterations, Salt ?? [], Hash ?? []));
    }

    /// <summary>A named producer's id on a topic, the highest epoch that may have been given out, and which instance has the name; null where that was not written down yet.</summary>
    internal sealed record ProducerEntry(Guid TopicId, string Name, ulong Id, uint Epoch, ulong? Instance = null);
}

/// <summary>Source-generated serialisation of <see cref="CatalogRecord"/>.</summary>
[JsonSourceGenerationOptions(DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull, IgnoreReadOnlyProperties = true, UseStringEnumConverter = true)]
[JsonSerializable(typeof(CatalogRecord))]
internal sealed partial class CatalogJson : JsonSerializerContext;
