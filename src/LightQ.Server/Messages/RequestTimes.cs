using Google.Protobuf.WellKnownTypes;
using LightQ.Broker;
using LightQ.Protocol;

namespace LightQ.Server.Messages;

/// <summary>
/// Times of requests: a value that is not a time, or outside its range, is rejected with the field's name and what is
/// allowed.
/// </summary>
internal static class RequestTimes
{
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
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                $"{name} is {time.Seconds} s and {time.Nanos} ns; allowed: a normal protobuf timestamp."
            );
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
        throw new BrokerException(
            ErrorCode.InvalidArgument,
            $"{name} is {duration.Seconds} s and {duration.Nanos} ns; allowed: {allowed}."
        );
    }
}
