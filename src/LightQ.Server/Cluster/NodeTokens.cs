using System.Buffers.Text;
using System.Security.Cryptography;
using System.Text;
using LightQ.Broker;
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
/// 40      to, method; the caller, see PrincipalFormat
/// </code>
/// </remarks>
/// <param name="secret">The cluster's.</param>
/// <param name="node">This node.</param>
/// <param name="broker">Its engine.</param>
/// <param name="time">Its clock.</param>
/// <param name="timeAt">What the clock of another node says: that one judges the token by its own.</param>
internal sealed class NodeTokens(
    byte[] secret,
    string node,
    LightQBroker broker,
    TimeProvider time,
    Func<string, DateTimeOffset> timeAt
)
{
    /// <summary>The metadata's name.</summary>
    public const string MetadataName = "lightq-node";

    /// <summary>For the way, and for what is not known of the other node's clock.</summary>
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
            writer.Write((timeAt(to) + Life).ToUnixTimeMilliseconds());
            writer.Write(to);
            writer.Write(method);
            PrincipalFormat.Write(writer, caller);
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
        return PrincipalFormat.Read(reader, broker);
    }

    private static BrokerException Refuse(string problem) =>
        new(ErrorCode.Unauthenticated, $"The metadata \"{MetadataName}\" {problem}.");
}
