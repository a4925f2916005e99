namespace LightQ.Client;

/// <summary>
/// What the producer of a host does when a newer producer of its <see cref="ProducerOptions.Name"/> has fenced it.
/// </summary>
public enum FencedAction
{
    /// <summary>
    /// It has failed: every publish throws <see cref="ErrorCode.Fenced"/>, and <see cref="LightQHealthCheck"/> says so.
    /// Usually two programs were given one name, or a newer instance of this one is there; both would only take the
    /// name from each other.
    /// </summary>
    Fail = 0,

    /// <summary>
    /// Publishes that were fenced have failed with <see cref="ErrorCode.Fenced"/>; with the next one, or the next look
    /// at its health, another producer takes the name back. Not within
    /// <see cref="LightQClientOptions.MaxReconnectDelay"/> of the time before. For names of which a newer producer is
    /// there for a moment only, like a tool that repairs something.
    /// </summary>
    TakeOver = 1,
}
