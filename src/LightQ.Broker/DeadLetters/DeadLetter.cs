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
    /// <summary>Why messages go that were delivered as often as their topic allows.</summary>
    /// <param name="messages">The messages.</param>
    /// <param name="reasonUtf8">Why the last member abandoned them, if it did and said so.</param>
    public static string ReasonOf(in RedeliveryRange messages, ReadOnlySpan<byte> reasonUtf8)
    {
        string lost = messages.Losses == 0
                ? ""
                : $"; the connection was lost {messages.Losses} times while it was in hand",
            waited = messages.Waits == 0 ? "" : $"; {messages.Waits} more deliveries did not count, it was not begun",
            why = reasonUtf8.IsEmpty ? "" : $": {ReasonOf(reasonUtf8)}";
        return $"delivered {messages.Deliveries} times without being completed{lost}{waited}{why}";
    }

    /// <summary>A reason as a client gave it, no longer than is kept.</summary>
    public static string ReasonOf(ReadOnlySpan<byte> utf8)
    {
        string reason = Encoding.UTF8.GetString(utf8);
        return reason.Length <= ProtocolLimits.ReasonLength ? reason : reason[..ProtocolLimits.ReasonLength];
    }
}
