using System.Security.Cryptography;
using System.Text;
using LightQ.Broker;
using LightQ.Broker.Topics;

namespace LightQ.Server.Security;

/// <summary>A principal as one node of a cluster tells it to another.</summary>
/// <remarks>
/// Kind, name, id, topic, generation, digest of the password's hash, token's hash, is local, login. The principal has
/// there what it has shown here, so it is looked up again, and a change of rights counts at once.
/// </remarks>
internal static class PrincipalFormat
{
    private const long NoGeneration = -1;
    private const int GuidBytes = 16;

    /// <summary>Writes it.</summary>
    public static void Write(BinaryWriter writer, Principal principal)
    {
        writer.Write((byte)principal.Kind);
        writer.Write(principal.Name);
        writer.Write(principal.Id.ToByteArray());
        writer.Write(principal.TopicName);
        writer.Write(principal.PasswordGeneration ?? NoGeneration);
        writer.Write(DigestOf(principal.PasswordHash));
        writer.Write(principal.TokenHash ?? "");
        writer.Write(principal.IsLocal);
        writer.Write((principal.LoginId ?? Guid.Empty).ToByteArray());
    }

    /// <summary>Reads it; a topic's password counts only while it is the one in force.</summary>
    public static Principal Read(BinaryReader reader, LightQBroker broker)
    {
        var kind = (PrincipalKind)reader.ReadByte();
        string name = reader.ReadString();
        var id = new Guid(reader.ReadBytes(GuidBytes));
        string topic = reader.ReadString();
        long generation = reader.ReadInt64();
        string password = HashOf(broker, topic, reader.ReadBytes(SHA256.HashSizeInBytes)),
            token = reader.ReadString();
        bool isLocal = reader.ReadBoolean();
        byte[] login = reader.ReadBytes(GuidBytes); // A node of an earlier version writes none.
        return Principal.OfNode(
            kind,
            name,
            id,
            topic,
            generation == NoGeneration ? null : (uint)generation,
            password,
            token.Length == 0 ? null : token,
            login.Length == 0 || new Guid(login) == Guid.Empty ? null : new Guid(login),
            isLocal
        );
    }

    /// <summary>
    /// The hash of a topic's password in force, if it is the one that the principal has shown; else none.
    /// </summary>
    private static string HashOf(LightQBroker broker, string topic, byte[] digest) =>
        topic.Length != 0
        && broker.TryGetTopic(topic, out Topic? found)
        && found.Credentials?.Password is { } password
        && CryptographicOperations.FixedTimeEquals(DigestOf(password), digest)
            ? password
            : "";

    private static byte[] DigestOf(string text) => SHA256.HashData(Encoding.UTF8.GetBytes(text));
}
