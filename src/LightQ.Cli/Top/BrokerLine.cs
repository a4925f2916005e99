using System.Globalization;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Client.Administration;

namespace LightQ.Cli.Top;

/// <summary>The line about the broker as a whole.</summary>
internal sealed class BrokerLine
{
    private readonly Rates<string> _rates = new();

    /// <summary>The line of the last reading.</summary>
    public string Text { get; private set; } = "";

    /// <summary>Asks the broker.</summary>
    public async Task ReadAsync(LightQClient client, CancellationToken cancellationToken)
    {
        BrokerStats stats = await client.Stats.GetBrokerAsync(cancellationToken);
        double?[] rates = _rates.Of(
            stats.BrokerId,
            DateTimeOffset.UtcNow,
            stats.MessagesReceived,
            stats.MessagesSent,
            stats.TotalBytesWritten,
            stats.TotalBytesRead
        );
        _rates.EndReading();
        string up = TopCell.Seconds(Math.Max(0, (DateTimeOffset.UtcNow - stats.StartTime).TotalSeconds)).Short();
        Text =
            string.Create(CultureInfo.InvariantCulture, $"up {up}, {Plural.Of(stats.TopicsCount, "topic")}, ")
            + string.Create(CultureInfo.InvariantCulture, $"{Plural.Of(stats.ConnectionsCount, "connection")}, ")
            + $"in {Rate(rates[0], rates[2])}, out {Rate(rates[1], rates[3])}, {SizeText.Short(stats.ResidentBytes)}"
            + (stats.IsCatalogUnconfirmed ? ", CATALOG NOT CONFIRMED" : "");
    }

    private static string Rate(double? messages, double? bytes) =>
        messages is null ? "-" : $"{TopCell.Number(messages).Short()}/s {TopCell.Bytes(bytes).Short()}/s";
}
