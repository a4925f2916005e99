using System.Globalization;
using System.Text;
using LightQ.Protocol;
using LightQ.Protocol.Records;

namespace LightQ.Broker.DeadLetters;

/// <summary>
/// Where a dead letter's original is, and which group dead-lettered it and when, as its headers say.
/// </summary>
internal readonly record struct LetterOrigin(
    string Topic,
    string TopicId,
    uint Partition,
    long Offset,
    string Group,
    string Time
)
{
    /// <summary>Reads it.</summary>
    /// <returns>False where headers are missing or contradict themselves.</returns>
    public static bool TryRead(in RecordView record, out LetterOrigin origin)
    {
        origin = default;
        try
        {
            bool isKnown =
                uint.TryParse(
                    ValueOf(record, DeadLetterHeader.Partition),
                    NumberStyles.None,
                    CultureInfo.InvariantCulture,
                    out uint partition
                )
                & long.TryParse(
                    ValueOf(record, DeadLetterHeader.Offset),
                    NumberStyles.None,
                    CultureInfo.InvariantCulture,
                    out long offset
                );
            origin = new LetterOrigin(
                ValueOf(record, DeadLetterHeader.Topic),
                ValueOf(record, DeadLetterHeader.TopicId),
                partition,
                offset,
                ValueOf(record, DeadLetterHeader.Group),
                ValueOf(record, DeadLetterHeader.Time)
            );
            return isKnown;
        }
        catch (ProtocolException)
        {
            return false;
        }
    }

    /// <summary>The value of the last header of a name: the broker's stand behind the message's own.</summary>
    public static string ValueOf(in RecordView record, string name)
    {
        string value = "";
        foreach (HeaderView header in record.Headers)
        {
            if (Encoding.UTF8.GetString(header.Name) == name)
                value = Encoding.UTF8.GetString(header.Value);
        }
        return value;
    }
}
