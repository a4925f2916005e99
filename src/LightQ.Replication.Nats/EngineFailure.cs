using System.Security.Authentication;
using System.Text.Json;
using LightQ.Broker.Replication;
using NATS.Client.Core;
using NATS.Client.JetStream;

namespace LightQ.Replication.Nats;

/// <summary>Makes one kind of exception of what the client throws.</summary>
internal static class EngineFailure
{
    /// <summary>The servers' code for a stream that they do not have.</summary>
    public const int StreamNotFound = 10059;

    /// <summary>Runs a request for so long; whatever fails says what was asked and what the server said.</summary>
    public static async ValueTask<T> Guard<T>(
        string asked,
        TimeSpan timeout,
        Func<CancellationToken, ValueTask<T>> request,
        CancellationToken cancellationToken
    )
    {
        using var waiting = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        waiting.CancelAfter(timeout);
        try
        {
            return await request(waiting.Token).ConfigureAwait(false);
        }
        catch (Exception e) when (IsOfEngine(e) && !cancellationToken.IsCancellationRequested)
        {
            throw new ReplicationException($"{asked}: {Describe(e)}", e)
            {
                IsLoss = e is NatsJSApiException { Error.ErrCode: StreamNotFound },
            };
        }
    }

    /// <summary>Whether it is the engine that failed, and not the broker's code.</summary>
    public static bool IsOfEngine(Exception e) =>
        e
            is NatsException
                or TimeoutException
                or OperationCanceledException
                or JsonException
                or ObjectDisposedException
                or IOException;

    /// <summary>Whether the servers reject this broker, or it them: then waiting does not help.</summary>
    public static bool IsOfConfiguration(Exception? e) =>
        e is AuthenticationException or NatsServerException { IsAuthError: true }
        || (e is not null && IsOfConfiguration(e.InnerException));

    public static string Describe(Exception e) =>
        e switch
        {
            NatsJSApiException api => $"{api.Error.Description} ({api.Error.ErrCode})",
            NatsNoRespondersException => "no server answers for it: its leader is lost, or it does not exist (503)",
            NatsNoReplyException or NatsJSApiNoResponseException => "no answer in time",
            OperationCanceledException or TimeoutException => "no answer in time",
            ObjectDisposedException => "the engine is closed",
            _ => e.InnerException is null ? e.Message : $"{e.Message} {e.InnerException.Message}",
        };
}
