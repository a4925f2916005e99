namespace LightQ.Cli.Output;

/// <summary>Ends a command with one line on standard error: what is wrong, and what to do.</summary>
internal sealed class CommandException : Exception
{
    public CommandException(int exitCode, string message, Exception? innerException = null)
        : base(message, innerException) => ExitCode = exitCode;

    public int ExitCode { get; }
}
