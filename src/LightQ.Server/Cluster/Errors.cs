using System.Runtime.ExceptionServices;
using Grpc.Core;
using LightQ.Broker;
using LightQ.Server.Control;

namespace LightQ.Server.Cluster;

/// <summary>Refusals, by this node and by others.</summary>
internal static class Errors
{
    /// <summary>The code; null for what has none.</summary>
    public static ErrorCode? CodeOf(Exception thrown) =>
        thrown switch
        {
            BrokerException refused => refused.Code,
            RpcException told
                when Enum.TryParse(told.Trailers.GetValue(ControlErrors.CodeTrailer), out ErrorCode code) => code,
            _ => null,
        };

    /// <summary>Throws what was caught before.</summary>
    public static Exception Again(Exception caught)
    {
        ExceptionDispatchInfo.Throw(caught);
        return caught;
    }
}
