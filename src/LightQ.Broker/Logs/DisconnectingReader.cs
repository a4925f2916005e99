using LightQ.Broker.Streams;

namespace LightQ.Broker.Logs;

/// <summary>Ends its subscription as soon as the ring needs the room of something it has not been sent.</summary>
internal sealed class DisconnectingReader(RingLog log, Action<StreamClose> end) : YieldingReader(log, end)
{
    protected override void MakeRoom(long position) =>
        End(
            new StreamClose(
                ErrorCode.SlowConsumer,
                $"messages {Held.Offset} to {RingEnd.Offset - 1} were not sent when the ring needed their room"
            )
        );
}
