namespace LightQ.Disruptor;

/// <summary>
/// Handles the entries of a <see cref="BatchEventProcessor{THandler}"/>. A struct is called without interface dispatch.
/// </summary>
public interface IRunHandler
{
    /// <summary>Handles a run of entries, which is valid until this returns.</summary>
    /// <param name="run">Whole entries, in order.</param>
    void OnRun(in RingRun run);
}
