using System.Text;
using LightQ.Broker.Groups;
using LightQ.Protocol;

namespace LightQ.Broker.DeadLetters;

/// <summary>Messages that are given up.</summary>
/// <param name="Group">Whose they are.</param>
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
