using System.Globalization;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace LightQ.Client;

/// <summary>Whether a broker answers: healthy with the round trip on the data plane, or why not. Connects if nothing else has yet.</summary>
/// <remarks>Waits for <see cref="LightQClientOptions.ConnectTimeout"/> at most. Thread-safe.</remarks>
/// <example>
/// <code>
/// builder.Services.AddHealthChecks().AddCheck&lt;LightQHealthCheck&gt;("lightq");
/// </code>
/// </example>
public sealed class LightQHealthCheck : IHealthCheck
{
    private readonly LightQClient _client;

    /// <summary>Makes the check.</summary>
    /// <param name="client">Whose broker to ask.</param>
    public LightQHealthCheck(LightQClient client)
    {
        ArgumentNullException.ThrowIfNull(client);
        _client = client;
    }

    /// <inheritdoc/>
    public async Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(context);
        LightQClientOptions options = _client.Options;
        try
        {
            TimeSpan roundTrip = await _client.PingAsync(cancellationToken).WaitAsync(options.ConnectTimeout, options.TimeProvider, cancellationToken).ConfigureAwait(false);
            return HealthCheckResult.Healthy(string.Create(CultureInfo.InvariantCulture, $"{options} answered within {roundTrip.TotalMilliseconds:0.0} ms."));
        }
        catch (LightQException e)
        {
            return new HealthCheckResult(context.Registration.FailureStatus, e.Message, e);
        }
        catch (TimeoutException e)
        {
            return new HealthCheckResult(
                context.Registration.FailureStatus,
                string.Create(CultureInfo.InvariantCulture, $"{options} has not answered within {options.ConnectTimeout.TotalSeconds:0.###} s; the client is {_client.State}."),
                e);
        }
    }
}
