namespace LightQ.Client;

/// <summary>
/// What a producer that a host runs does when a newer producer of its <see cref="ProducerOptions.Name"/> has fenced it.
/// </summary>
public enum FencedAction
{
    /// <summary>
    /// The producer has failed: every publish throws <see cref="ErrorCode.Fenced"/>, and
    /// <see cref="LightQHealthCheck"/> reports it. Usually two programs have the same name, or a newer instance of this
    /// program runs. If both took the name back, they would take it from each other again and again.
    /// </summary>
    Fail = 0,

    /// <summary>
    /// Publishes that were fenced fail with <see cref="ErrorCode.Fenced"/>. Then a new producer takes the name back, at
    /// most once within <see cref="LightQClientOptions.MaxReconnectDelay"/>. Choose it when a newer
    /// producer has the name only for a moment, like a tool that repairs something.
    /// </summary>
    TakeOver = 1,
}
