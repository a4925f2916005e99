namespace LightQ.Protocol.Batches;

/// <summary>What becomes of a batch that a consumer gets to; see <see cref="BatchView.FateAt"/>.</summary>
public enum BatchFate
{
    /// <summary>Its messages are handed out.</summary>
    Deliver,

    /// <summary>It holds no messages: a note of the broker to itself.</summary>
    Skip,

    /// <summary>Its messages are not due. They come again, in another batch, when they are.</summary>
    Later,

    /// <summary>The time to live of its messages is over: the consumer gets a gap.</summary>
    Expired,

    /// <summary>Its messages are lost: the consumer gets a gap.</summary>
    Lost,
}
