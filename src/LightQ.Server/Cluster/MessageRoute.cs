using System.Text;
using LightQ.Protocol;
using LightQ.Protocol.Control;

namespace LightQ.Server.Cluster;

/// <summary>Which partition a message is routed to.</summary>
internal static class MessageRoute
{
    /// <summary>The partition of its key or id; null when it has neither, and any will do.</summary>
    public static uint? Of(PublishedMessage message, int partitions) =>
        message.HasKey ? (uint)KeyRouting.PartitionOf(message.Key.Span, partitions)
        : message.MessageId.Length != 0
            ? (uint)KeyRouting.PartitionOf(Encoding.UTF8.GetBytes(message.MessageId), partitions)
        : null;
}
