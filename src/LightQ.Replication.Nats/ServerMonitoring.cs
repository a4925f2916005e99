using System.Text.Json;

namespace LightQ.Replication.Nats;

/// <summary>Asks the monitoring ports of nats-servers.</summary>
public static class ServerMonitoring
{
    /// <summary>An answer has some thousand bytes; one with more is no nats-server's.</summary>
    private const int LongestAnswer = 1024 * 1024;

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(2);

    private static readonly HttpClient Http = new(
        new SocketsHttpHandler { AllowAutoRedirect = false, PooledConnectionIdleTimeout = TimeSpan.FromSeconds(5) }
    )
    {
        Timeout = Patience,
        MaxResponseContentBufferSize = LongestAnswer,
    };

    /// <summary>Asks all at once. A server that does not answer in 2 seconds is given with the reason.</summary>
    public static async Task<IReadOnlyList<MonitoredServer>> AskAsync(
        IReadOnlyList<Uri> addresses,
        CancellationToken cancellationToken
    ) => await Task.WhenAll(addresses.Select(address => AskAsync(address, cancellationToken))).ConfigureAwait(false);

    private static async Task<MonitoredServer> AskAsync(Uri address, CancellationToken cancellationToken)
    {
        string failure;
        try
        {
            using HttpResponseMessage answer = await Http.GetAsync(new Uri(address, "varz"), cancellationToken)
                .ConfigureAwait(false);
            if (answer.IsSuccessStatusCode)
            {
                byte[] body = await answer.Content.ReadAsByteArrayAsync(cancellationToken).ConfigureAwait(false);
                using var varz = JsonDocument.Parse(body);
                return MonitoredServer.Read(address, varz.RootElement);
            }
            failure = $"it answers with status {(int)answer.StatusCode}";
        }
        catch (JsonException)
        {
            failure = "it is no nats-server's monitoring port";
        }
        catch (HttpRequestException e)
        {
            failure =
                e.HttpRequestError == HttpRequestError.ConfigurationLimitExceeded
                    ? "it is no nats-server's monitoring port"
                    : e.Message;
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            failure = $"no answer in {Patience.TotalSeconds:0} s";
        }
        return new() { Address = address, Failure = failure };
    }
}
