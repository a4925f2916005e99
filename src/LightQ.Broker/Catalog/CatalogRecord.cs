using System.Text.Json;
using System.Text.Json.Serialization;
using LightQ.Broker.Topics;
using LightQ.Broker.Users;
using LightQ.Protocol;
using LightQ.Storage;

namespace LightQ.Broker.Catalog;

/// <summary>
/// One entry of the catalog's journal: exactly one property is set. JSON, so that a dump can be read by eye.
/// </summary>
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

    /// <summary>The record as it is stored.</summary>
    public byte[] Write() => JsonSerializer.SerializeToUtf8Bytes(this, CatalogJson.Default.CatalogRecord);

    /// <summary>The users and tokens behind this record.</summary>
    public UserTable ApplyTo(UserTable table)
    {
        if (User is { } user)
            table = table with { Users = table.Users.SetItem(user.Name, user) };
        if (DeletedUser is { } name)
        {
            table = new UserTable(
                table.Users.Remove(name),
                table.Tokens.RemoveRange(table.Tokens.Values.Where(t => t.User == name).Select(t => t.Hash))
            );
        }

        if (Token is { } token)
            table = table with { Tokens = table.Tokens.SetItem(token.Hash, token) };
        if (DeletedToken is { } id)
        {
            table = table with
            {
                Tokens = table.Tokens.RemoveRange(table.Tokens.Values.Where(t => t.Id == id).Select(t => t.Hash)),
            };
        }

        return table;
    }

    /// <summary>Reads a stored record.</summary>
    /// <exception cref="JournalFormatException">
    /// It is none of these, lacks a part, or has a value that this program cannot honour.
    /// </exception>
    public static CatalogRecord Read(ReadOnlySpan<byte> bytes)
    {
        try
        {
            CatalogRecord record =
                JsonSerializer.Deserialize(bytes, CatalogJson.Default.CatalogRecord)
                ?? throw new JournalFormatException("The catalog holds an empty record.");
            if (record.Topic is { Settings: { } settings } topic)
                record = record with { Topic = topic with { Settings = WithDefaults(settings) } };
            if (record.MissingPart() is { } missing)
                throw new JournalFormatException($"A record of the catalog has no valid {missing}.");
            return record.Topic is { } complete
                ? record with
                {
                    Topic = complete with { Settings = complete.Settings.Complete() },
                }
                : record;
        }
        catch (Exception e) when (e is JsonException or BrokerException)
        {
            throw new JournalFormatException($"A record of the catalog cannot be read: {e.Message}");
        }
    }

    /// <summary>
    /// Settings that earlier versions did not write yet; without a value the serializer leaves them zero, not at their
    /// defaults.
    /// </summary>
    private static TopicSettings WithDefaults(TopicSettings settings) =>
        settings with
        {
            Partitions = Math.Max(1, settings.Partitions),
            MaxMessageBytes =
                settings.MaxMessageBytes != 0 ? settings.MaxMessageBytes : ProtocolLimits.DefaultMessageBytes,
            Delivery = settings.Delivery ?? new DeliverySettings(),
        };

    /// <summary>
    /// What the serializer leaves null or unchecked though the types say otherwise; null when all is there.
    /// </summary>
    private string? MissingPart()
    {
        if (Topic is { } topic)
        {
            if (
                !TopicName.IsValid(topic.Name)
                || topic.Settings?.Delivery?.DeadLetterTopic is null
                || topic.Credentials is { User: null }
            )
            {
                return "topic";
            }

            if (
                !Enum.IsDefined(topic.Settings.SlowPolicy)
                || !Enum.IsDefined(topic.Settings.AckLevel)
                || !Enum.IsDefined(topic.Settings.ReadLevel)
                || !Enum.IsDefined(topic.Settings.Retention)
            )
            {
                return "topic";
            }
        }
        return Producer is { Name: null } ? "producer"
            : User is { } user
            && (
                user.Name is null
                || user.Password is null
                || user.Grants?.All(g => g is { Pattern: not null } && Enum.IsDefined(g.Right)) != true
            )
                ? "user"
            : Token is { } token
            && (token.Id is null || token.User is null || token.Hash is null || token.Description is null)
                ? "token"
            : null;
    }

    /// <summary>A topic as created or changed; a later one with the same id replaces it.</summary>
    internal sealed record TopicEntry(
        string Name,
        Guid Id,
        DateTimeOffset Created,
        TopicSettings Settings,
        CredentialsEntry? Credentials = null
    );

    /// <summary>
    /// A topic's own user. Before there was <paramref name="Password"/>, the parts of a PBKDF2-SHA-512 hash were kept.
    /// </summary>
    internal sealed record CredentialsEntry(
        string User,
        string? Password = null,
        byte[]? Salt = null,
        byte[]? Hash = null,
        int Iterations = 0
    )
    {
        public TopicCredentials ToCredentials() =>
            new(
                User,
                Password ?? PasswordHash.Format(PasswordHash.EarlierAlgorithm, Iterations, Salt ?? [], Hash ?? [])
            );

        /// <summary>The user alone: a record would print the hash, too.</summary>
        public override string ToString() => User;
    }

    /// <summary>
    /// A named producer's id on a topic, the highest epoch that may have been given out, and which instance has the
    /// name; null where that was not written down yet.
    /// </summary>
    internal sealed record ProducerEntry(Guid TopicId, string Name, ulong Id, uint Epoch, ulong? Instance = null);
}

/// <summary>Source-generated serialisation of <see cref="CatalogRecord"/>.</summary>
[JsonSourceGenerationOptions(
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
    IgnoreReadOnlyProperties = true,
    UseStringEnumConverter = true
)]
[JsonSerializable(typeof(CatalogRecord))]
internal sealed partial class CatalogJson : JsonSerializerContext;
