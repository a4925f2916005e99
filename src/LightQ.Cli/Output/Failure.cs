using System.Net.Sockets;
using LightQ.Bench;
using LightQ.Client;
using LightQ.Protocol;
using LightQ.Server;
using LightQ.Storage;

namespace LightQ.Cli.Output;

/// <summary>The message about an exception for a user, and the exit code.</summary>
/// <param name="ExitCode">One of <see cref="Output.ExitCode"/>.</param>
/// <param name="Message">One line.</param>
internal readonly record struct Failure(int ExitCode, string Message)
{
    /// <summary>Explains the failures a command expects.</summary>
    /// <returns>False for anything else: that is a defect of the tool.</returns>
    public static bool TryExplain(Exception exception, out Failure failure)
    {
        Failure? known = exception switch
        {
            CommandException e => new Failure(e.ExitCode, e.Message),
            BenchException { Failure: BenchFailure.Unreachable } e => new Failure(
                Output.ExitCode.Unavailable,
                e.Message
            ),
            BenchException e => new Failure(Output.ExitCode.Failed, e.Message),
            ServerStartException e => new Failure(e.ExitCode, e.Message),
            LightQException e when IsOtherProtocol(e) => new Failure(
                Output.ExitCode.Unavailable,
                e.Message + Advice(ErrorCode.Unavailable)
            ),
            LightQException e => new Failure(ExitCodeOf(e.Code), e.Message + Advice(e.Code)),
            ProtocolException e => new Failure(Output.ExitCode.Failed, e.Message),
            SocketException e => new Failure(Output.ExitCode.Unavailable, e.Message),
            OperationCanceledException => new Failure(Output.ExitCode.Failed, "Interrupted."),
            FileNotFoundException or DirectoryNotFoundException => new Failure(
                Output.ExitCode.Failed,
                exception.Message
            ),
            DataDirectoryException e => new Failure(Output.ExitCode.Unavailable, e.Message),
            UnauthorizedAccessException => new Failure(Output.ExitCode.Denied, exception.Message),
            IOException => new Failure(Output.ExitCode.Failed, exception.Message),
            ArgumentException => new Failure(Output.ExitCode.Usage, FirstLine(exception.Message)),
            _ => null,
        };
        failure = known is { } found ? found with { Message = OneLine(found.Message) } : default;
        return known is not null;
    }

    public static string OneLine(string text) =>
        string.Join(' ', text.Split('\n', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries));

    // Some other HTTP service, for example the broker's own web port.
    private static bool IsOtherProtocol(Exception? exception)
    {
        while (exception is not (null or HttpRequestException))
            exception = exception.InnerException;
        return exception
            is HttpRequestException
            {
                HttpRequestError: HttpRequestError.HttpProtocolError or HttpRequestError.VersionNegotiationError
            };
    }

    private static int ExitCodeOf(ErrorCode code) =>
        code switch
        {
            ErrorCode.Unavailable
            or ErrorCode.TimedOut
            or ErrorCode.ShuttingDown
            or ErrorCode.MalformedFrame
            or ErrorCode.UnexpectedFrame
            or ErrorCode.UnsupportedVersion
            or ErrorCode.FrameTooLarge => Output.ExitCode.Unavailable,
            ErrorCode.Unauthenticated or ErrorCode.PermissionDenied => Output.ExitCode.Denied,
            ErrorCode.TlsFailed or ErrorCode.TlsRequired => Output.ExitCode.Configuration,
            ErrorCode.InvalidArgument => Output.ExitCode.Usage,
            _ => Output.ExitCode.Failed,
        };

    private static string Advice(ErrorCode code) =>
        code switch
        {
            ErrorCode.Unavailable or ErrorCode.TimedOut or ErrorCode.MalformedFrame or ErrorCode.FrameTooLarge =>
                " Is a broker running there ('lightq server'), and are these its data and control ports? See --server.",
            ErrorCode.Unauthenticated =>
                " Give the user in --server lightq://USER@HOST and its password in LIGHTQ_PASSWORD or "
                    + "LIGHTQ_PASSWORD_FILE, or a token in LIGHTQ_TOKEN; the admin's password is in the data "
                    + "directory's admin-password.",
            ErrorCode.PermissionDenied =>
                " An administrator gives rights: 'lightq grant add USER RIGHT TOPIC', or 'lightq grant add USER "
                    + "admin'.",
            ErrorCode.UnknownTopic => " 'lightq topic list' shows what there is, 'lightq topic create NAME' makes one.",
            ErrorCode.MessageTooLarge =>
                " A topic's limit is set when it is made and cannot be changed: send less in one message, or make "
                    + "another topic with 'lightq topic create NAME --max-message BYTES' (at most 64MiB) and publish "
                    + "there.",
            _ => "",
        };

    // ArgumentException appends the parameter's name in brackets, which means nothing to a user of the tool.
    private static string FirstLine(string message)
    {
        int parameter = message.IndexOf(" (Parameter '", StringComparison.Ordinal);
        return parameter < 0 ? message : message[..parameter];
    }
}
