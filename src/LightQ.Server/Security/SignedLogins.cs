using System.Buffers.Text;
using System.Diagnostics.CodeAnalysis;
using System.Security.Cryptography;
using System.Text;
using LightQ.Broker;

namespace LightQ.Server.Security;

/// <summary>The tokens of logins in a cluster: signed with its secret, so that each node can check them.</summary>
/// <remarks>
/// <code>
///  0  32  HMAC-SHA256 of the rest
/// 32   8  end, in unix milliseconds
/// 40      who logged in, see PrincipalFormat
/// </code>
/// What ends a login before its time is in the catalog: a logout, another password, a user that is gone.
/// </remarks>
/// <param name="secret">The cluster's secret.</param>
/// <param name="broker">Knows the topics' own users.</param>
internal sealed class SignedLogins(byte[] secret, LightQBroker broker)
{
    private const int Start = HMACSHA256.HashSizeInBytes;

    /// <summary>No name is so long that a token is longer.</summary>
    private const int MostChars = 4096;

    /// <summary>Neither the key of the nodes' own tokens, nor that of another layout.</summary>
    private readonly byte[] _key = HMACSHA256.HashData(secret, "lightq login 1"u8);

    /// <summary>Makes one.</summary>
    /// <param name="principal">Who logged in, with the id of the login.</param>
    /// <param name="expires">When it ends.</param>
    public string Issue(Principal principal, DateTimeOffset expires)
    {
        using var bytes = new MemoryStream();
        bytes.SetLength(Start);
        bytes.Position = Start;
        using (var writer = new BinaryWriter(bytes, Encoding.UTF8, leaveOpen: true))
        {
            writer.Write(expires.ToUnixTimeMilliseconds());
            PrincipalFormat.Write(writer, principal);
        }
        byte[] token = bytes.ToArray();
        HMACSHA256.HashData(_key, token.AsSpan(Start), token);
        return Base64Url.EncodeToString(token);
    }

    /// <summary>Who logged in.</summary>
    /// <param name="token">What a client shows.</param>
    /// <param name="principal">Who, whether or not the login is still valid.</param>
    /// <param name="expires">When it ends, or has ended.</param>
    /// <returns>False for what no node of the cluster has issued.</returns>
    public bool TryRead(string token, [NotNullWhen(true)] out Principal? principal, out DateTimeOffset expires)
    {
        (principal, expires) = (null, default);
        if (
            token.Length > MostChars
            || !Base64Url.IsValid(token)
            || Base64Url.DecodeFromChars(token) is not { Length: > Start } bytes
            || !CryptographicOperations.FixedTimeEquals(
                HMACSHA256.HashData(_key, bytes.AsSpan(Start)),
                bytes.AsSpan(0, Start)
            )
        )
        {
            return false;
        }
        using var reader = new BinaryReader(new MemoryStream(bytes, Start, bytes.Length - Start));
        expires = DateTimeOffset.FromUnixTimeMilliseconds(reader.ReadInt64());
        principal = PrincipalFormat.Read(reader, broker);
        return true;
    }
}
