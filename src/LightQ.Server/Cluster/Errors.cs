using System.Runtime.ExceptionServices;

namespace LightQ.Server.Cluster;

/// <summary>Refusals, by this node and by others.</summary>
internal static class Errors
{
    /// <summary>Throws what was caught before.</summary>
    public static Exception Again(Exception caught)
    {
        ExceptionDispatchInfo.Throw(caught);
        return caught;
    }
}
