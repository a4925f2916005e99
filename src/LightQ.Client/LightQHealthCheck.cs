using System.Globalization;
using LightQ.Client.Hosting;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace LightQ.Client;

/// <summary>
/// Checks whether a broker answers. The result is healthy, with the round trip on the data plane, or names the reason.
/// The check connects if the client is not connected yet. In a host the result is also unhealthy until topics and
/// producers are open, and while a producer that was registered with the host has failed or a processor does not run or
/// handles nothing (<see cref="LightQProcessor.Failure"/>).
/// </summary>
/// <remarks>Waits for a second at most, unless it was told otherwise. Thread-safe.</remarks>
/// <example>
/// <code>
/// builder.Services.AddHealthChecks().AddLightQ();
/// </code>
/// </example>
public sealed class LightQHealthCheck : IHealthCheck
{
    /// <summary>
    /// Less than what asks waits for, with room for other checks: a broker that is frozen must be in the answer.
    /// </summary>
    private static readonly TimeSpan DefaultTimeout = TimeSpan.FromSeconds(1);

    private readonly LightQClient _client;
    private readonly StartService? _start;
    private readonly TimeSpan _timeout = DefaultTimeout;

    /// <summary>Creates the check.</summary>
    /// <param name="client">The client whose broker is checked.</param>
    public LightQHealthCheck(LightQClient client)
    {
        ArgumentNullException.ThrowIfNull(client);
        _client = client;
    }

    internal LightQHealthCheck(LightQClient client, StartService? start, TimeSpan? timeout = null)
        : this(client) => (_start, _timeout) = (start, timeout ?? DefaultTimeout);

    /// <inheritdoc/>
    public async Task<HealthCheckResult> CheckHealthAsync(
        HealthCheckContext context,
        CancellationToken cancellationToken = default
    )
    {
        ArgumentNullException.ThrowIfNull(context);
        LightQClientOptions options = _client.Options;
        if ((_start?.Absence ?? _client.Absence) is { } absence)
        {
            return new HealthCheckResult(
                context.Registration.FailureStatus,
                $"Waiting for the broker at {options}: {absence.Message}"
            ); // Every probe would log a stack.
        }

        if (_start?.Ready is { IsCompletedSuccessfully: false } ready)
        {
            Exception? reason = ready.Exception?.InnerException;
            return new HealthCheckResult(
                context.Registration.FailureStatus,
                $"The host has not begun with the broker at {options}{(reason is null ? "." : $": {reason.Message}")}",
                reason
            );
        }
        if (_start?.Producers.FirstOrDefault(p => p.Failure is not null) is { Failure: { } failure } failed)
        {
            return new HealthCheckResult(
                context.Registration.FailureStatus,
                $"The producer of {failed.Topic} has failed ({failure.Code}): {failure.Message}",
                failure
            );
        }

        if (_start?.ProcessorFailure is ({ } processor, { } cause))
        {
            return new HealthCheckResult(
                context.Registration.FailureStatus,
                $"The processor of {processor.Topic} for {processor.Group} handles nothing: {cause.Message}",
                cause
            );
        }

        try
        {
            TimeSpan roundTrip = await _client
                .PingAsync(cancellationToken)
                .WaitAsync(_timeout, options.ConnectionTime, cancellationToken)
                .ConfigureAwait(false);
            return HealthCheckResult.Healthy(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"{options} answered within {roundTrip.TotalMilliseconds:0.0} ms."
                )
            );
        }
        catch (LightQException e)
        {
            return new HealthCheckResult(context.Registration.FailureStatus, e.Message, e);
        }
        catch (TimeoutException e)
        {
            return new HealthCheckResult(
                context.Registration.FailureStatus,
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"{options} has not answered within {_timeout.TotalSeconds:0.###} s; the client is "
                        + $"{_client.State}."
                ),
                e
            );
        }
    }
}
