namespace LightQ.Disruptor;

/// <summary>
/// What a <see cref="BatchEventProcessor{THandler}"/> does with entries. A struct is called without dispatch.
/// </summary>
public interface IRunHandler
{
    /// <summary>Takes a run of entries, which is valid until this returns.</summary>
    /// <param name="run">Whole entries, in order.</param>
    void OnRun(in RingRun run);
}
