using LightQ.Protocol;
using LightQ.Protocol.Frames;

namespace LightQ.Broker.Groups;

/// <summary>What only members of a group may ask for that settle their messages.</summary>
internal static class MemberRules
{
    /// <exception cref="BrokerException">A subscription asks for what it cannot have.</exception>
    public static void Check(in SubscribeFrame request)
    {
        bool settles = request is { SettleMode: SettleMode.Explicit, Group.Length: not 0 };
        if (!settles && (request.MaxInFlight | request.AtATime) != 0)
        {
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                "Only a member of a group with explicit settlement has a window; others are limited by credit."
            );
        }

        if (request.LockMilliseconds == 0)
            return;
        if (!settles)
        {
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                "Only a member of a group with explicit settlement has locks, and so a lock duration."
            );
        }

        if (request.LockMilliseconds is < ProtocolLimits.MinLockMilliseconds or > ProtocolLimits.MaxLockMilliseconds)
        {
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                $"The lock duration is {request.LockMilliseconds} ms; allowed: 0 (the topic's) or "
                    + $"{ProtocolLimits.MinLockMilliseconds} to {ProtocolLimits.MaxLockMilliseconds}."
            );
        }
    }
}
