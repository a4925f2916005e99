using LightQ.Client;

namespace LightQ.IntegrationTests.Delivery;

/// <summary>One caller that publishes on and on before its producer is open, and while it opens.</summary>
internal static class UnawaitedPublishes
{
    private const int MoreThanOpening = 500;

    /// <summary>The offsets, in the order of the calls. It ends some calls after the first ack.</summary>
    public static async Task<long[]> OffsetsAsync(Func<int, ValueTask<PublishAck>> publish, TimeSpan patience)
    {
        var acks = new List<Task<PublishAck>>();
        for (int afterwards = 0; afterwards < MoreThanOpening; )
        {
            acks.Add(publish(acks.Count).AsTask());
            afterwards += acks[0].IsCompleted ? 1 : 0;
            if (acks.Count % 1000 == 0)
                await Task.Delay(acks.Count / 1000); // One core may be all there is: the slower it opens, the fewer.
        }
        return [.. (await Task.WhenAll(acks).WaitAsync(patience)).Select(ack => ack.Offset)];
    }
}
