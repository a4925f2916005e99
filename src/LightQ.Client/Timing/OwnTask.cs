namespace LightQ.Client.Timing;

/// <summary>Work of the client's own, on the thread pool.</summary>
internal static class OwnTask
{
    /// <summary>
    /// Begins work that has nothing of the caller's <see cref="AsyncLocal{T}"/> values, such as its span: it goes on
    /// long after the caller is done.
    /// </summary>
    public static Task Run(Func<Task> work) => Begin(() => Task.Run(work));

    /// <inheritdoc cref="Run(Func{Task})"/>
    public static Task<T> Run<T>(Func<Task<T>> work) => Begin(() => Task.Run(work));

    private static T Begin<T>(Func<T> begin)
    {
        if (ExecutionContext.IsFlowSuppressed())
            return begin();
        using (ExecutionContext.SuppressFlow())
            return begin();
    }
}
