using LightQ.Broker;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using SettleKind = LightQ.Protocol.Control.SettleKind;

namespace LightQ.Server.Messages;

/// <summary>Checks settlements and makes of them what the engine takes.</summary>
internal static class SettlementMapping
{
    private const int MostSettlements = 10_000;

    /// <exception cref="BrokerException">There is none, or there are too many.</exception>
    public static void CheckCount(int count)
    {
        if (count is 0 or > MostSettlements)
            throw Refuse($"settlements has {count} entries; allowed: 1 to {MostSettlements}");
    }

    /// <exception cref="BrokerException">A value is outside its range.</exception>
    public static SettleRange ToRange(Settlement settlement, int index)
    {
        string name = $"settlements[{index}]";
        if (settlement.Kind == SettleKind.Unspecified || !System.Enum.IsDefined(settlement.Kind))
        {
            throw Refuse(
                $"{name}.kind is {(int)settlement.Kind}; allowed: 1 (complete) to {(int)SettleKind.Renew} (renew)"
            );
        }

        if (settlement.FirstOffset < 0)
            throw Refuse($"{name}.first_offset is {settlement.FirstOffset}; allowed: 0 or more");
        if (settlement.Delay is not null && settlement.Kind != SettleKind.Abandon)
            throw Refuse($"{name} has a delay and is {Word(settlement.Kind)}; only what is abandoned has one");
        if (settlement.Reason.Length != 0 && settlement.Kind is not (SettleKind.DeadLetter or SettleKind.Abandon))
        {
            throw Refuse(
                $"{name} has a reason and is {Word(settlement.Kind)}; only what is abandoned or a dead letter has one"
            );
        }

        uint delay = 0;
        if (settlement.Delay is not null)
        {
            // 0 leaves it to the topic: zero is the shortest there is.
            delay = Math.Max(
                1,
                (uint)
                    RequestTimes
                        .Read(
                            settlement.Delay,
                            $"{name}.delay",
                            TimeSpan.Zero,
                            TimeSpan.FromMilliseconds(uint.MaxValue),
                            "0 to 49 days"
                        )
                        .TotalMilliseconds
            );
        }
        return new SettleRange(
            (Client.SettleKind)settlement.Kind,
            settlement.DeliveryId,
            settlement.FirstOffset,
            Math.Max(1, settlement.Count),
            delay
        );
    }

    public static Protocol.Control.SettleOutcome ToProto(Client.SettleOutcome outcome) =>
        outcome switch
        {
            Client.SettleOutcome.Done => Protocol.Control.SettleOutcome.Done,
            Client.SettleOutcome.LockExpired => Protocol.Control.SettleOutcome.LockExpired,
            _ => Protocol.Control.SettleOutcome.Unknown,
        };

    private static string Word(SettleKind kind) => kind.ToString().ToLowerInvariant();

    private static BrokerException Refuse(string problem) => new(ErrorCode.InvalidArgument, $"{problem}.");
}
