namespace LightQ.Protocol.Frames;

/// <summary>What happens when a subscriber is slower than the topic.</summary>
public enum SlowPolicy : byte
{
    /// <summary>What the topic says.</summary>
    TopicDefault = 0,

    /// <summary>Producers wait for it, up to the slow-consumer time-out; then it is disconnected.</summary>
    Block = 1,

    /// <summary>It loses the oldest messages and gets a Gap.</summary>
    DropOldest = 2,
}
