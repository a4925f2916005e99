using Google.Protobuf.WellKnownTypes;
using LightQ.Broker;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Control;

namespace LightQ.Server.Messages;

/// <summary>Times of messages between protobuf and batches.</summary>
internal static class MessageTimes
{
    private static readonly TimeSpan ShortestTimeToLive = TimeSpan.FromMilliseconds(1);

    /// <summary>When a message is due and when it expires.</summary>
    /// <param name="message">The message.</param>
    /// <param name="index">Its place in the request, for what is said of it.</param>
    /// <param name="now">Now, in unix microseconds.</param>
    /// <exception cref="BrokerException">A time is outside its range.</exception>
    public static BatchTiming Of(PublishedMessage message, int index, long now)
    {
        if (message is { TimeToLive: null, Delay: null, DeliverTime: null })
            return default;
        TimeSpan? life = message.TimeToLive is null ? null : Read(message.TimeToLive, $"messages[{index}].time_to_live", ShortestTimeToLive, TimeSpan.MaxValue, "1 ms or more");
        string longest = $"{ProtocolLimits.LongestDelay.TotalDays} days";
        long due = 0;
        if (message.Delay is not null)
        {
            if (message.DeliverTime is not null)
                throw new BrokerException(ErrorCode.InvalidArgument, $"messages[{index}] has a delay and a deliver_time; allowed: one of them.");
            due = now + (Read(message.Delay, $"messages[{index}].delay", TimeSpan.Zero, ProtocolLimits.LongestDelay, $"0 to {longest}").Ticks / TimeSpan.TicksPerMicrosecond);
        }
        else if (message.DeliverTime is { } time)
        {
            due = Read(time, $"messages[{index}].deliver_time");
            if (due - now > ProtocolLimits.LongestDelay.TotalMicroseconds)
                throw new BrokerException(ErrorCode.InvalidArgument, $"messages[{index}].deliver_time is {time}; allowed: at most {longest} from now.");
        }
        return BatchTiming.Round(now, due, life);
    }

    /// <summary>A point in time, in unix microseconds.</summary>
    /// <exception cref="BrokerException">It is none.</exception>
    public static long Read(Timestamp time, string name)
    {
        try
        {
            return UnixMicroseconds.From(time.ToDateTimeOffset());
        }
        catch (InvalidOperationException)
        {
            throw new BrokerException(ErrorCode.InvalidArgument, $"{name} is {time.Seconds} s and {time.Nanos} ns; allowed: a normal protobuf timestamp.");
        }
    }

    /// <summary>A duration.</summary>
    /// <exception cref="BrokerException">It is none, or outside its range.</exception>
    public static TimeSpan Read(Duration duration, string name, TimeSpan least, TimeSpan most, string allowed)
    {
        try
        {
            TimeSpan value = duration.ToTimeSpan();
            if (value >= least && value <= most)
                return value;
        }
        catch (Exception e) when (e is InvalidOperationException or OverflowException)
        {
            // Not a duration that protobuf allows: refused with the others.
        }
        throw new BrokerException(ErrorCode.InvalidArgument, $"{name} is {duration.Seconds} s and {duration.Nanos} ns; allowed: {allowed}.");
    }

    /// <summary>Unix microseconds as protobuf has them.</summary>
    public static Timestamp ToProto(long microseconds)
    {
        (long seconds, long left) = Math.DivRem(microseconds, 1_000_000);
        return new Timestamp { Seconds = seconds, Nanos = (int)left * 1000 };
    }
}
