using Google.Protobuf.WellKnownTypes;
using LightQ.Broker;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Control;

namespace LightQ.Server.Messages;

/// <summary>Times of messages between protobuf and batches.</summary>
internal static class MessageTimes
{
    /// <summary>The end of the year 9999, in unix microseconds.</summary>
    private const long LatestTime = 253_402_300_799_999_999;

    private static readonly TimeSpan ShortestTimeToLive = TimeSpan.FromMilliseconds(1);

    /// <summary>When a message is due and when it expires, and its id.</summary>
    /// <param name="message">The message.</param>
    /// <param name="index">Its place in the request, for what is said of it.</param>
    /// <param name="now">Now, in unix microseconds.</param>
    /// <exception cref="BrokerException">A time is outside its range.</exception>
    public static BatchProperties Of(PublishedMessage message, int index, long now)
    {
        string? id = message.MessageId.Length == 0 ? null : message.MessageId;
        if (id is not null && !BatchProperties.IsMessageId(id))
        {
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                $"messages[{index}].message_id is longer than {ProtocolLimits.MaxMessageIdBytes} bytes; allowed: 1 to "
                    + $"so many."
            );
        }

        if (message is { TimeToLive: null, Delay: null, DeliverTime: null })
            return new BatchProperties(0, 0, id);
        TimeSpan? life = message.TimeToLive is null
            ? null
            : RequestTimes.Read(
                message.TimeToLive,
                $"messages[{index}].time_to_live",
                ShortestTimeToLive,
                TimeSpan.MaxValue,
                "1 ms or more"
            );
        string longest = $"{ProtocolLimits.LongestDelay.TotalDays} days";
        TimeSpan delay = TimeSpan.Zero;
        if (message.Delay is not null)
        {
            if (message.DeliverTime is not null)
            {
                throw new BrokerException(
                    ErrorCode.InvalidArgument,
                    $"messages[{index}] has a delay and a deliver_time; allowed: one of them."
                );
            }

            delay = RequestTimes.Read(
                message.Delay,
                $"messages[{index}].delay",
                TimeSpan.Zero,
                ProtocolLimits.LongestDelay,
                $"0 to {longest}"
            );
        }
        else if (message.DeliverTime is { } time)
        {
            long due = RequestTimes.Read(time, $"messages[{index}].deliver_time");
            if (due - now > ProtocolLimits.LongestDelay.TotalMicroseconds)
            {
                throw new BrokerException(
                    ErrorCode.InvalidArgument,
                    $"messages[{index}].deliver_time is {time}; allowed: at most {longest} from now."
                );
            }
            if (due > now)
                return BatchProperties.Round(now, due, life) with { MessageId = id };
        }
        return BatchProperties.Relative(delay, life) with { MessageId = id };
    }

    /// <summary>Unix microseconds as protobuf has them.</summary>
    public static Timestamp ToProto(long microseconds)
    {
        (long seconds, long left) = Math.DivRem(microseconds, 1_000_000);
        return new Timestamp { Seconds = seconds, Nanos = (int)left * 1000 };
    }

    /// <summary>
    /// Unix microseconds that a client has said; null for what protobuf has no time for: before 1970 or after 9999.
    /// </summary>
    public static Timestamp? ToProtoOrNull(long microseconds) =>
        microseconds is >= 0 and <= LatestTime ? ToProto(microseconds) : null;
}
