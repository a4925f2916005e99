using Grpc.Core;

namespace LightQ.Dashboard.Api;

/// <summary>What a failed call says to the user.</summary>
internal static class Failure
{
    /// <summary>Whether an exception is a call's failure, and no mistake of the page.</summary>
    public static bool IsOfCall(Exception e) => e is RpcException or HttpRequestException or OperationCanceledException;

    /// <summary>Whether the broker wants a login, or another one.</summary>
    public static bool IsLogin(Exception e) => e is RpcException { StatusCode: StatusCode.Unauthenticated };

    /// <summary>The reason in the broker's words, or that it does not answer.</summary>
    public static string TextOf(Exception e) =>
        e switch
        {
            TimeoutException or RpcException { StatusCode: StatusCode.DeadlineExceeded } =>
                "The broker has not answered in time.",
            RpcException rpc when IsUnanswered(rpc) => "The broker does not answer. The page tries again.",
            RpcException rpc => rpc.Status.Detail.Length == 0 ? rpc.StatusCode.ToString() : rpc.Status.Detail,
            _ => "The broker does not answer. The page tries again.",
        };

    // The call has failed in the browser, before any status came.
    private static bool IsUnanswered(RpcException e) =>
        e.Status.DebugException is HttpRequestException
        || (e.StatusCode == StatusCode.Unavailable && e.Status.Detail.Length == 0);
}
