namespace LightQ.Scheduling;

/// <summary>
/// A piece of engine work that is posted rather than called, so that no stack grows by waking others.
/// </summary>
public abstract class WorkItem : IThreadPoolWorkItem
{
    /// <summary>Does the work. Must not block.</summary>
    public abstract void Run();

    void IThreadPoolWorkItem.Execute()
    {
        using (TurnScope.Enter())
            Run();
    }
}
