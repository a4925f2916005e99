namespace LightQ.Protocol.Batches;

/// <summary>What a consumer does with the next batch; see <see cref="BatchView.FateAt"/>.</summary>
public enum BatchFate
{
    /// <summary>The consumer hands out its messages.</summary>
    Deliver,

    /// <summary>The consumer skips it: it holds a note that the broker wrote for itself, and no messages.</summary>
    Skip,

    /// <summary>Its messages are not due. The broker delivers them in another batch when they are.</summary>
    Later,

    /// <summary>The time to live of its messages has passed: the consumer gets a gap.</summary>
    Expired,

    /// <summary>Its messages are lost: the consumer gets a gap.</summary>
    Lost,
}
