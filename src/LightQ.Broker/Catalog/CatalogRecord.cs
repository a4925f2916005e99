using System.Security.Cryptography;
using System.Text.Json;
using System.Text.Json.Serialization;
using LightQ.Broker.Topics;
using LightQ.Broker.Users;
using LightQ.Protocol;
using LightQ.Storage;

namespace LightQ.Broker.Catalog;

/// <summary>
/// One change of the catalog: exactly one property is set. JSON, so that a dump can be read by eye.
/// </summary>
internal sealed record CatalogRecord
{
    public TopicEntry? Topic { get; init; }

    public Guid? DeletedTopic { get; init; }

    public ProducerEntry? Producer { get; init; }

    /// <summary>Named producers that are forgotten, in the catalog of a cluster.</summary>
    public ForgottenEntry? ForgottenProducers { get; init; }

    /// <summary>How far the newest owners of partitions with replicas have come, in the catalog of a cluster.</summary>
    public IReadOnlyList<OwnerEntry>? Owners { get; init; }

    /// <summary>Which cluster the catalog is of; the first record of a cluster's.</summary>
    public ClusterEntry? Cluster { get; init; }

    /// <summary>A user as made or changed, with its rights; a later one of the same name replaces it.</summary>
    public User? User { get; init; }

    /// <summary>A user that is gone with its tokens.</summary>
    public string? DeletedUser { get; init; }

    public AccessToken? Token { get; init; }

    /// <summary>The id of a token that has ended.</summary>
    public string? DeletedToken { get; init; }

    /// <summary>The password of admin, in the catalog of a cluster.</summary>
    public AdminCredentials? Admin { get; init; }

    /// <summary>A login that was logged out before its time, in the catalog of a cluster.</summary>
    public EndedLogin? EndedLogin { get; init; }

    /// <summary>The record as it is stored.</summary>
    public byte[] Write() => JsonSerializer.SerializeToUtf8Bytes(this, CatalogJson.Default.CatalogRecord);

    /// <summary>The users and tokens behind this record.</summary>
    public UserTable ApplyTo(UserTable table)
    {
        if (User is { } user)
            table = table with { Users = table.Users.SetItem(user.Name, user) };
        if (DeletedUser is { } name)
        {
            table = table with
            {
                Users = table.Users.Remove(name),
                Tokens = table.Tokens.RemoveRange(table.Tokens.Values.Where(t => t.User == name).Select(t => t.Hash)),
            };
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
        if (Admin is { } admin)
            table = table with { Admin = admin };
        if (EndedLogin is { } login)
            table = login.ApplyTo(table);

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
            return Check(JsonSerializer.Deserialize(bytes, CatalogJson.Default.CatalogRecord));
        }
        catch (Exception e) when (e is JsonException or BrokerException)
        {
            throw new JournalFormatException($"A record of the catalog cannot be read: {e.Message}");
        }
    }

    /// <summary>What a record says whose JSON was read.</summary>
    /// <exception cref="JournalFormatException">It lacks a part.</exception>
    /// <exception cref="BrokerException">It has a value that this program cannot honour.</exception>
    public static CatalogRecord Check(CatalogRecord? record)
    {
        if (record is null)
            throw new JournalFormatException("The catalog holds an empty record.");
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
            : ForgottenProducers is { Ids: null } ? "forgotten producers"
            : Owners?.Any(o => o is null) == true ? "owners of partitions"
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
            : Admin is { Password: null } ? "password of admin"
            : null;
    }

    /// <summary>A topic as created or changed; a later one with the same id replaces it.</summary>
    /// <param name="Name">Its name.</param>
    /// <param name="Id">Its id.</param>
    /// <param name="Created">When it was created.</param>
    /// <param name="Settings">Its settings.</param>
    /// <param name="Credentials">Its own user.</param>
    /// <param name="Node">
    /// The node of the cluster that has its messages; null for a topic with replicas, and where there is no cluster.
    /// </param>
    /// <param name="Maker">The <see cref="UserNumber"/> of whoever has made it; null for nobody.</param>
    internal sealed record TopicEntry(
        string Name,
        Guid Id,
        DateTimeOffset Created,
        TopicSettings Settings,
        CredentialsEntry? Credentials = null,
        string? Node = null,
        uint? Maker = null
    );

    /// <summary>A cluster. Its id is made with it: another cluster of the same name has another.</summary>
    /// <param name="Id">Its id.</param>
    /// <param name="Created">When its first node began it.</param>
    /// <param name="Secret">By which its nodes know each other; null where an earlier version began it.</param>
    /// <param name="Rewritten">How often the catalog was written anew from what a node knew of it.</param>
    /// <param name="RewrittenFrom">Up to which entry of the stream before it that node had applied that.</param>
    internal sealed record ClusterEntry(
        Guid Id,
        DateTimeOffset Created,
        byte[]? Secret = null,
        int Rewritten = 0,
        ulong RewrittenFrom = 0
    )
    {
        private const int SecretBytes = 32;

        /// <summary>A secret for a cluster.</summary>
        public static byte[] NewSecret() => RandomNumberGenerator.GetBytes(SecretBytes);

        /// <summary>Without the secret, which a record would print.</summary>
        public override string ToString() => $"{Id}, {Created:O}";
    }

    /// <summary>
    /// An owner of a partition, noted behind its claim: a stream without that claim, or that ends in front of what the
    /// owner had confirmed, has lost something.
    /// </summary>
    /// <param name="TopicId">The topic.</param>
    /// <param name="Partition">The partition's number.</param>
    /// <param name="Epoch">The owner's epoch.</param>
    /// <param name="End">One behind the last offset that was confirmed when this was noted.</param>
    internal sealed record OwnerEntry(Guid TopicId, uint Partition, uint Epoch, long End)
    {
        /// <summary>Whether it says more than another of the same partition.</summary>
        public bool IsNewerThan(OwnerEntry? other) =>
            other is null || Epoch > other.Epoch || (Epoch == other.Epoch && End > other.End);
    }

    /// <summary>Named producers of a topic by their ids.</summary>
    internal sealed record ForgottenEntry(Guid TopicId, IReadOnlyList<ulong> Ids);

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
    /// name; null where that was not written down yet. <paramref name="Number"/> is that of the opening which took the
    /// name over; null for a client that numbers none. <paramref name="Owner"/> is the <see cref="UserNumber"/> of the
    /// user whose name it is; null for a name that is nobody's.
    /// </summary>
    internal sealed record ProducerEntry(
        Guid TopicId,
        string Name,
        ulong Id,
        uint Epoch,
        ulong? Instance = null,
        ulong? Number = null,
        uint? Owner = null
    )
    {
        private const int UserShift = 32;

        /// <summary>The number of its owner; that of nobody for a name that is nobody's.</summary>
        public uint OwnerNumber => Owner ?? UserNumber.None;

        /// <summary>An id that says itself whose producer made it, also when the name is forgotten.</summary>
        /// <param name="user">The <see cref="UserNumber"/>.</param>
        /// <param name="count">Counts up, whichever user it is.</param>
        public static ulong IdOf(uint user, uint count) => ((ulong)user << UserShift) | count;

        /// <summary>The count in an id.</summary>
        public static uint CountOf(ulong id) => (uint)id;

        /// <summary>The user in an id; nobody in one that an earlier version gave.</summary>
        public static uint UserOf(ulong id) => (uint)(id >> UserShift);
    }
}

/// <summary>Source-generated serialisation of the catalog's records and entries.</summary>
[JsonSourceGenerationOptions(
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
    IgnoreReadOnlyProperties = true,
    UseStringEnumConverter = true
)]
[JsonSerializable(typeof(CatalogRecord))]
[JsonSerializable(typeof(CatalogEntry))]
[JsonSerializable(typeof(ClusterMembership))]
[JsonSerializable(typeof(TopicLabel))]
internal sealed partial class CatalogJson : JsonSerializerContext;
