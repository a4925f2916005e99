namespace LightQ.Server;

/// <summary>The server did not start. The message is one line for people: what is wrong and what to do.</summary>
public sealed class ServerStartException : Exception
{
    /// <summary>Creates the exception.</summary>
    /// <param name="failure">What kind of failure it is.</param>
    /// <param name="message">What is wrong and what to do.</param>
    /// <param name="innerException">The exception that caused it.</param>
    /// <param name="files">The files that the message names by their paths.</param>
    public ServerStartException(
        ServerStartFailure failure,
        string message,
        Exception? innerException = null,
        params IEnumerable<string> files
    )
        : base(message, innerException)
    {
        Failure = failure;
        ClientMessage = files.Aggregate(
            message,
            static (text, file) => text.Replace(file, Path.GetFileName(file), StringComparison.Ordinal)
        );
    }

    /// <summary>
    /// The message for a client that has asked for a reload: it names files without their directories.
    /// </summary>
    public string ClientMessage { get; }

    /// <summary>What kind of failure it is.</summary>
    public ServerStartFailure Failure { get; }

    /// <summary>The exit code of a program that ends for this reason, after <c>sysexits.h</c>.</summary>
    public int ExitCode =>
        Failure switch
        {
            ServerStartFailure.Configuration or ServerStartFailure.Address => 78,
            ServerStartFailure.AccessDenied => 77,
            ServerStartFailure.PortInUse or ServerStartFailure.DataDirectory => 69,
            _ => 1,
        };
}
