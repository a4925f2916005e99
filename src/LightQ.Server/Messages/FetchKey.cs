using Google.Protobuf.WellKnownTypes;
using LightQ.Protocol.Control;
using LightQ.Server.Security;

namespace LightQ.Server.Messages;

/// <summary>Calls that are one member of a group.</summary>
/// <param name="Kind">What sort of user.</param>
/// <param name="User">Its name.</param>
/// <param name="UserId">Its identity.</param>
/// <param name="Topic">The topic.</param>
/// <param name="Group">The group.</param>
/// <param name="Partition">The partition; null for all.</param>
/// <param name="LockDuration">How long locks last; null for as long as the topic says.</param>
internal sealed record FetchKey(
    PrincipalKind Kind,
    string User,
    Guid UserId,
    string Topic,
    string Group,
    uint? Partition,
    Duration? LockDuration
)
{
    /// <summary>Those of one user that ask for the same.</summary>
    public static FetchKey Of(Principal user, FetchRequest request) =>
        new(
            user.Kind,
            user.Name,
            user.Id,
            request.Topic,
            request.Group,
            request.HasPartition ? request.Partition : null,
            request.LockDuration
        );

    /// <summary>Whether it is this user's.</summary>
    public bool IsOf(Principal user) => (Kind, User, UserId) == (user.Kind, user.Name, user.Id);
}
