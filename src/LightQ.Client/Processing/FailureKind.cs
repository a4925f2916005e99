using System.Diagnostics;

namespace LightQ.Client.Processing;

/// <summary>What makes two failures alike: what failed, with what exception, thrown where.</summary>
/// <param name="What">What failed.</param>
/// <param name="Error">The exception's type.</param>
/// <param name="Method">The method that threw it.</param>
/// <param name="Position">Where in the method; of code that was compiled ahead of time it is not known.</param>
internal readonly record struct FailureKind(string What, Type? Error, string? Method, int Position)
{
    /// <summary>All that are too many to be told apart.</summary>
    public static readonly FailureKind Other = new("other failures", null, null, 0);

    public static FailureKind Of(Exception exception, string what)
    {
        StackFrame? frame = new StackTrace(exception).GetFrame(0);
        DiagnosticMethodInfo? method = frame is null ? null : DiagnosticMethodInfo.Create(frame);
        return new FailureKind(
            what,
            exception.GetType(),
            method is null ? null : $"{method.DeclaringTypeName}.{method.Name}",
            frame?.GetILOffset() ?? 0
        );
    }
}
