using System.Buffers.Binary;

namespace LightQ.Broker.Users;

/// <summary>
/// The number by which logs and catalog know a user: small enough for the header of every batch
/// (docs/design/security.md, Names and ids belong to users).
/// </summary>
/// <remarks>
/// It follows from the id that the broker has made for the user, so it is the same after a restart and at every node,
/// and a user made again under the same name has another.
/// </remarks>
public static class UserNumber
{
    /// <summary>
    /// A client without a login, and whatever was stored before there were numbers: what it has is nobody's.
    /// </summary>
    public const uint None = 0;

    /// <summary>The admin.</summary>
    public const uint Admin = 1;

    /// <summary>A topic's own user, on its topic.</summary>
    public const uint TopicUser = 2;

    private const uint FirstOfUsers = 16;

    /// <summary>The number of a user.</summary>
    /// <param name="user">Its id, which is random.</param>
    public static uint Of(Guid user)
    {
        Span<byte> bytes = stackalloc byte[16];
        user.TryWriteBytes(bytes);
        return Math.Max(BinaryPrimitives.ReadUInt32LittleEndian(bytes), FirstOfUsers);
    }
}
