using LightQ.Client.Batches;

namespace LightQ.Client.Connections;

/// <summary>Has batches to send on a connection, when its turn comes.</summary>
internal interface IOutgoing
{
    /// <summary>Adds what goes out next. Called by the outbox's sender, one at a time.</summary>
    /// <param name="from">The outbox; where the producer has moved on to another connection, nothing goes out.</param>
    /// <param name="segments">What the round sends.</param>
    /// <param name="held">The batches in it; each is released when the round has been sent.</param>
    /// <param name="maxSegments">The most segments in a round.</param>
    /// <returns>Whether there is more, in which case it stays scheduled.</returns>
    bool TakeForSend(Outbox from, List<ArraySegment<byte>> segments, List<SendBatch> held, int maxSegments);
}
