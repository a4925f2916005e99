using System.Globalization;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Protocol;
using LightQ.Server.Diagnosis;

namespace LightQ.Cli.Doctor;

/// <summary>The broker's clock and those of its clients.</summary>
internal static class ClockChecks
{
    /// <summary>What the findings are about.</summary>
    public const string Check = "broker's clock";

    /// <summary>Asks the broker what it has seen.</summary>
    public static async Task<Finding> RunAsync(LightQClient client, CancellationToken cancellationToken)
    {
        BrokerStats broker = await client.Stats.GetBrokerAsync(cancellationToken);
        return Judge(broker.ClockStep, await client.Stats.ListConnectionsAsync(cancellationToken));
    }

    /// <summary>Says what is wrong with the clocks.</summary>
    /// <param name="step">By how much the clock of the broker's machine was set; null when it was not.</param>
    /// <param name="connections">Its clients.</param>
    public static Finding Judge(TimeSpan? step, IReadOnlyList<ConnectionInfo> connections)
    {
        if (step is { } by)
        {
            return Finding.Warning(
                Check,
                $"its machine's clock was set by {Text(by)}; the broker goes by its own time until that has lasted",
                "Look at what sets the clock there. See docs/design/clocks.md."
            );
        }
        ConnectionInfo[] off =
        [
            .. connections
                .Where(c => c.ClockSkew is { } skew && skew.Duration() > ProtocolLimits.ClockSkewToTell)
                .OrderByDescending(c => c.ClockSkew!.Value.Duration()),
        ];
        if (off is not [var worst, ..])
        {
            TimeSpan most = connections.Max(c => c.ClockSkew?.Duration()) ?? TimeSpan.Zero;
            return Finding.Ok(
                Check,
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"goes evenly; no client's differs by more than {Math.Ceiling(most.TotalSeconds)} s"
                )
            );
        }
        return Finding.Warning(
            Check,
            string.Create(
                CultureInfo.InvariantCulture,
                $"the clocks of {off.Length} of {connections.Count} connections differ from it by more than "
                    + $"{ProtocolLimits.ClockSkewToTell.TotalSeconds} s; '{worst.ClientName}' from "
                    + $"{worst.RemoteAddress} by {Text(worst.ClockSkew!.Value)}"
            ),
            "Have both machines' clocks set by NTP. The broker's decides about messages; a DeliverAt is off by that "
                + "much."
        );
    }

    private static string Text(TimeSpan by) =>
        (by < TimeSpan.Zero ? "-" : "+")
        + TimeSpan.FromSeconds(Math.Round(by.Duration().TotalSeconds)).ToString("c", CultureInfo.InvariantCulture);
}
