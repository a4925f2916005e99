using System.Text;
using LightQ.Broker.Groups;
using LightQ.Protocol;

namespace LightQ.Broker.DeadLetters;

/// <summary>Messages to be dead-lettered.</summary>
/// <param name="Group">The group that dead-letters them.</param>
/// <param name="Range">Which.</param>
/// <param name="Reason">Why.</param>
internal readonly record struct DeadLetter(ExplicitGroup Group, RedeliveryRange Range, string Reason)
{
    /// <summary>A reason as a client gave it, no longer than is kept.</summary>
    public static string ReasonOf(ReadOnlySpan<byte> utf8)
    {
        string reason = Encoding.UTF8.GetString(utf8);
        return reason.Length <= ProtocolLimits.ReasonLength ? reason : reason[..ProtocolLimits.ReasonLength];
    }
}
