using System.Net;
using LightQ.Broker;
using LightQ.Server.Limits;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Connections.Features;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;

namespace LightQ.Server.Ports;

/// <summary>
/// Counts the connections of an HTTP port. Those beyond the limit get one of the <see cref="SparePlaces"/>: health is
/// answered there, and any other request with the reason.
/// </summary>
/// <param name="limits">The limits.</param>
/// <param name="setting">The one of this port: the name of the <see cref="HttpOptions"/>' property.</param>
/// <param name="most">Its value.</param>
internal sealed class ConnectionGate(ServerLimits limits, string setting, Func<HttpOptions, int> most)
{
    private const string Refusal = "lightq.refusal";

    private readonly Shares _shares = limits.NewShares();
    private readonly SparePlaces _spare = new();

    /// <summary>Puts it in front of a port.</summary>
    public void Guard(ListenOptions listen) => listen.Use(next => connection => MeetAsync(connection, next));

    /// <summary>
    /// Why nothing but health is served on a request's connection, which then ends behind the answer; null when it is
    /// within the limits.
    /// </summary>
    public static string? RefusalOf(HttpContext http)
    {
        if (
            http.Features.Get<IConnectionItemsFeature>() is not { } connection
            || !connection.Items.TryGetValue(Refusal, out object? reason)
        )
        {
            return null;
        }
        http.Features.Get<IConnectionLifetimeNotificationFeature>()?.RequestClose();
        return (string?)reason;
    }

    private async Task MeetAsync(ConnectionContext connection, ConnectionDelegate next)
    {
        HttpOptions options = limits.Http;
        IPAddress address = PeerNetwork.Of(connection.RemoteEndPoint);
        Admission admission = _shares.TryTake(address, most(options), mostOfSource: options.MaxConnectionsPerAddress);
        if (admission != Admission.Admitted)
        {
            connection.Items[Refusal] = Refuse(connection, admission, options);
            _spare.Enter(connection);
        }
        else if (!limits.TryTakeDescriptor(address))
        {
            _shares.Give(address);
            admission = Admission.TooManyOfSource;
            string reason = $"the address of {connection.RemoteEndPoint} has its share of the descriptors";
            limits.OnAcceptFailed(((IPEndPoint)connection.LocalEndPoint!).Port, reason);
            connection.Items[Refusal] = $"{reason}.";
            _spare.Enter(connection);
        }
        try
        {
            await next(connection).ConfigureAwait(false);
        }
        finally
        {
            if (admission == Admission.Admitted)
            {
                _shares.Give(address);
                limits.GiveDescriptor(address);
            }
            else
            {
                _spare.Leave(connection);
            }
        }
    }

    private string Refuse(ConnectionContext connection, Admission admission, HttpOptions options) =>
        admission == Admission.TooManyOfSource && options.MaxConnectionsPerAddress != 0
            ? limits.HttpRefusals.Refuse(
                nameof(HttpOptions.MaxConnectionsPerAddress),
                options.MaxConnectionsPerAddress,
                $"{connection.RemoteEndPoint} is refused: as many connections are open from its address"
            )
            : limits.HttpRefusals.Refuse(
                setting,
                most(options),
                admission == Admission.TooMany
                    ? $"{connection.RemoteEndPoint} is refused: as many connections are open"
                    : $"{connection.RemoteEndPoint} is refused: its address has its share of the connections"
            );
}
