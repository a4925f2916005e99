namespace LightQ.Server;

/// <summary>The server did not start. The message is one line for people: what is wrong and what to do.</summary>
public sealed class ServerStartException : Exception
{
    /// <summary>Makes the exception.</summary>
    public ServerStartException(ServerStartFailure failure, string message, Exception? innerException = null)
        : base(message, innerException) => Failure = failure;

    /// <summary>What kind of failure it is.</summary>
    public ServerStartFailure Failure { get; }

    /// <summary>The exit code of a program that ends for this reason, after <c>sysexits.h</c>.</summary>
    public int ExitCode => Failure switch
    {
        ServerStartFailure.Configuration or ServerStartFailure.Address => 78,
        ServerStartFailure.AccessDenied => 77,
        ServerStartFailure.PortInUse or ServerStartFailure.DataDirectory => 69,
        _ => 1,
    };
}
