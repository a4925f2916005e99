using System.Globalization;
using System.Text;
using LightQ.Protocol.Frames;

namespace LightQ.Client.Processing;

/// <summary>What the log says of a message.</summary>
/// <param name="Partition">Its partition.</param>
/// <param name="Offset">Its offset.</param>
/// <param name="Key">Its key, as text where it is one.</param>
/// <param name="Id">Its message id.</param>
/// <param name="Delivery">Which delivery of it this is, of how many.</param>
internal readonly record struct LoggedMessage(int Partition, long Offset, string Key, string Id, string Delivery)
{
    private const string None = "none";

    private const int MostKeyBytes = 100;

    public static LoggedMessage Of(in Message message) =>
        new(
            message.Partition,
            message.Offset,
            message.HasKey ? KeyOf(message.Key.Span) : None,
            message.MessageId ?? None,
            DeliveryOf(message.DeliveryCount, message.DeliveryLock.Terms)
        );

    private static string DeliveryOf(int count, RedeliveryTerms? terms) =>
        terms switch
        {
            null => string.Create(CultureInfo.InvariantCulture, $"{count}"),
            { MaxDeliveries: 0 } => string.Create(CultureInfo.InvariantCulture, $"{count} without end"),
            { MaxDeliveries: var most } => string.Create(CultureInfo.InvariantCulture, $"{count} of {most}"),
        };

    private static string KeyOf(ReadOnlySpan<byte> key)
    {
        ReadOnlySpan<byte> shown = key.Length <= MostKeyBytes ? key : key[..MostKeyBytes];
        string text = Encoding.UTF8.GetString(shown);
        if (text.Any(static c => char.IsControl(c) || c == '\uFFFD'))
            text = Convert.ToHexStringLower(shown);
        return shown.Length == key.Length ? text : text + "…";
    }
}
