using System.Buffers.Text;
using System.Security.Cryptography;
using System.Text;
using LightQ.Broker;
using LightQ.Broker.Topics;
using LightQ.Server.Security;

namespace LightQ.Server.Cluster;

/// <summary>
/// How a node proves to another one that it is of the cluster, and on whose behalf it calls: a short-lived token for
/// one method of one node.
/// </summary>
/// <remarks>
/// <code>
///  0  32  HMAC-SHA256 of the rest
/// 32   8  end, in unix milliseconds
/// 40      to, method; kind, name, id, topic, generation, digest of the password's hash, token's hash, is local
/// </code>
/// The caller has there what it has shown here, so it is looked up again, and a change of rights counts at once.
/// </remarks>
internal sealed class NodeTokens(byte[] secret, string node, LightQBroker broker, TimeProvider time)
{
    /// <summary>The metadata's name.</summary>
    public const string MetadataName = "lightq-node";

    private const long NoGeneration = -1;

    /// <summary>For the way, and for clocks that differ.</summary>
    private static readonly TimeSpan Life = TimeSpan.FromMinutes(1);

    /// <summary>Makes one.</summary>
    /// <param name="to">The node that is called.</param>
    /// <param name="method">The method's full name.</param>
    /// <param name="caller">On whose behalf.</param>
    public string Issue(string to, string method, Principal caller)
    {
        using var bytes = new MemoryStream();
        bytes.SetLength(HMACSHA256.HashSizeInBytes);
        bytes.Position = bytes.Length;
        using (var writer = new BinaryWriter(bytes, Encoding.UTF8, leaveOpen: true))
        {
            writer.Write((time.GetUtcNow() + Life).ToUnixTimeMilliseconds());
            writer.Write(to);
            writer.Write(method);
            writer.Write((byte)caller.Kind);
            writer.Write(caller.Name);
            writer.Write(caller.Id.ToByteArray());
            writer.Write(caller.TopicName);
            writer.Write(caller.PasswordGeneration ?? NoGeneration);
            writer.Write(DigestOf(caller.PasswordHash));
            writer.Write(caller.TokenHash ?? "");
            writer.Write(caller.IsLocal);
        }
        byte[] token = bytes.ToArray();
        HMACSHA256.HashData(secret, token.AsSpan(HMACSHA256.HashSizeInBytes), token);
        return Base64Url.EncodeToString(token);
    }

    /// <summary>On whose behalf another node calls.</summary>
    /// <param name="token">What it shows.</param>
    /// <param name="method">The method that it calls.</param>
    /// <exception cref="BrokerException">
    /// <see cref="ErrorCode.Unauthenticated"/>: it is no node of this cluster, or shows what is for another call.
    /// </exception>
    public Principal Verify(string token, string method)
    {
        if (
            !Base64Url.IsValid(token)
            || Base64Url.DecodeFromChars(token) is not { Length: > HMACSHA256.HashSizeInBytes } bytes
        )
        {
            throw Refuse("is no token of a node");
        }

        byte[] signed = HMACSHA256.HashData(secret, bytes.AsSpan(HMACSHA256.HashSizeInBytes));
        if (!CryptographicOperations.FixedTimeEquals(signed, bytes.AsSpan(0, signed.Length)))
            throw Refuse("is not signed with the secret of this cluster");
        using var reader = new BinaryReader(new MemoryStream(bytes, signed.Length, bytes.Length - signed.Length));
        DateTimeOffset end = DateTimeOffset.FromUnixTimeMilliseconds(reader.ReadInt64());
        string to = reader.ReadString(),
            @for = reader.ReadString();
        if (to != node || @for != method)
            throw Refuse($"is for {@for} of the node '{to}', not for {method} of '{node}'");
        DateTimeOffset now = time.GetUtcNow();
        if (end < now || end > now + (2 * Life))
        {
            throw Refuse(
                $"ends at {end:O}, and it is {now:O}: the clocks of the nodes differ by more than a minute, or it is "
                    + $"an old one"
            );
        }
        return ReadCaller(reader);
    }

    private Principal ReadCaller(BinaryReader reader)
    {
        var kind = (PrincipalKind)reader.ReadByte();
        string name = reader.ReadString();
        var id = new Guid(reader.ReadBytes(16));
        string topic = reader.ReadString();
        long generation = reader.ReadInt64();
        string password = HashOf(topic, reader.ReadBytes(SHA256.HashSizeInBytes)),
            token = reader.ReadString();
        return Principal.OfNode(
            kind,
            name,
            id,
            topic,
            generation == NoGeneration ? null : (uint)generation,
            password,
            token.Length == 0 ? null : token,
            reader.ReadBoolean()
        );
    }

    /// <summary>
    /// The hash of a topic's password in force, if it is the one that the caller has shown; else none.
    /// </summary>
    private string HashOf(string topic, byte[] digest) =>
        topic.Length != 0
        && broker.TryGetTopic(topic, out Topic? found)
        && found.Credentials?.Password is { } password
        && CryptographicOperations.FixedTimeEquals(DigestOf(password), digest)
            ? password
            : "";

    private static byte[] DigestOf(string text) => SHA256.HashData(Encoding.UTF8.GetBytes(text));

    private static BrokerException Refuse(string problem) =>
        new(ErrorCode.Unauthenticated, $"The metadata \"{MetadataName}\" {problem}.");
}
