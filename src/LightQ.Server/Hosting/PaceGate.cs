using System.IO.Pipelines;
using LightQ.Server.Limits;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Connections.Features;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Server.Kestrel.Core;

namespace LightQ.Server.Hosting;

/// <summary>
/// Keeps each connection of the control port to its pace, so that one that calls without end, or fails without end,
/// leaves the processors to the others; and follows what of its answers goes out.
/// </summary>
internal static class PaceGate
{
    private const string Pace = "lightq.pace",
        Status = "grpc-status",
        Ok = "0";

    /// <summary>
    /// A call that fails costs so much more than one that does not: it is an exception in the broker and, if it goes
    /// on, a mistake or an attack of the client.
    /// </summary>
    private const int FailureCost = 4 * CallPace.Call;

    /// <summary>How long a client has to close a connection that is over.</summary>
    private static readonly TimeSpan LastWords = TimeSpan.FromSeconds(1);

    /// <summary>Puts it in front of a port, behind what ends TLS.</summary>
    public static void Guard(ListenOptions listen, ServerLimits limits, TimeProvider time) =>
        listen.Use(next =>
            async connection =>
            {
                var pace = new CallPace(() => limits.Http.MaxCallsPerSecond, time);
                connection.Items[Pace] = pace;
                var answers = new Http2Answers();
                answers.AddTo(connection.Items);
                PipeReader input = connection.Transport.Input;
                connection.Transport = new Paced(
                    new PacedReader(connection, input, pace, answers, limits, time),
                    new Http2Output(connection.Transport.Output, answers)
                );
                try
                {
                    await next(connection).ConfigureAwait(false);
                }
                finally
                {
                    answers.End();
                }
                await LingerAsync(connection, input, time).ConfigureAwait(false);
            }
        );

    /// <summary>
    /// Lets a call that has failed cost more. Knows nothing of what serves it but the status that it answers with.
    /// </summary>
    public static async Task MeterAsync(HttpContext http, RequestDelegate next)
    {
        await next(http).ConfigureAwait(false);
        if (
            HasFailed(http)
            && http.Features.Get<IConnectionItemsFeature>() is { } connection
            && connection.Items.TryGetValue(Pace, out object? pace)
        )
        {
            ((CallPace)pace!).Spend(FailureCost);
        }
    }

    /// <summary>Lets the client close the connection, and drops what it had still sent.</summary>
    /// <remarks>
    /// One that is closed with something unread is reset, and the client loses what was said last: how its calls ended
    /// when the broker stops.
    /// </remarks>
    private static async Task LingerAsync(ConnectionContext connection, PipeReader input, TimeProvider time)
    {
        using var enough = new CancellationTokenSource(LastWords, time);
        try
        {
            ReadResult result;
            do
            {
                result = await input.ReadAsync(enough.Token).ConfigureAwait(false);
                input.AdvanceTo(result.Buffer.End);
            } while (!result.IsCompleted);
        }
        catch (Exception e) when (e is OperationCanceledException or IOException)
        {
            connection.Abort(new ConnectionAbortedException("The client did not close a connection that has ended."));
        }
    }

    private static bool HasFailed(HttpContext http)
    {
        string? status = http.Response.Headers[Status];
        status ??= http.Features.Get<IHttpResponseTrailersFeature>()?.Trailers[Status];
        return status is not null and not Ok;
    }

    private sealed record Paced(PipeReader Input, PipeWriter Output) : IDuplexPipe;
}
