using System.Globalization;
using Grpc.Core;
using LightQ.Broker;
using Microsoft.AspNetCore.Http;

namespace LightQ.Server.Control;

/// <summary>A call that another node makes for a client: it is done here or nowhere.</summary>
/// <param name="Partitions">The partitions that this node is taken to lead.</param>
internal sealed record ForwardedCall(IReadOnlyList<uint> Partitions)
{
    /// <summary>The metadata with the partitions, separated by commas.</summary>
    public const string MetadataName = "lightq-partitions";

    private static readonly object Key = new();

    /// <summary>The call; null when a client itself has made it.</summary>
    public static ForwardedCall? Of(ServerCallContext context) =>
        context.GetHttpContext().Items.TryGetValue(Key, out object? call) ? (ForwardedCall?)call : null;

    /// <summary>Demands that a node has made a call.</summary>
    /// <exception cref="BrokerException">A client has.</exception>
    public static void Demand(HttpContext http, string method)
    {
        if (!http.Items.ContainsKey(Key))
            throw new BrokerException(ErrorCode.PermissionDenied, $"{method} is for the nodes of a cluster only.");
    }

    /// <summary>Keeps with a call that it is one.</summary>
    /// <exception cref="BrokerException">The partitions are no numbers.</exception>
    public static void Mark(HttpContext http)
    {
        string text = http.Request.Headers[MetadataName].ToString();
        List<uint> partitions = [];
        foreach (string part in text.Split(',', StringSplitOptions.RemoveEmptyEntries))
        {
            if (!uint.TryParse(part, NumberStyles.None, CultureInfo.InvariantCulture, out uint partition))
            {
                throw new BrokerException(
                    ErrorCode.InvalidArgument,
                    $"The metadata \"{MetadataName}\" has something that is no partition; allowed: numbers."
                );
            }
            partitions.Add(partition);
        }
        http.Items[Key] = new ForwardedCall(partitions);
    }

    /// <summary>The metadata for partitions.</summary>
    public static string TextOf(IEnumerable<uint> partitions) =>
        string.Join(',', partitions.Select(p => p.ToString(CultureInfo.InvariantCulture)));
}
