namespace LightQ.Cli.Output;

/// <summary>
/// What the tool ends with; stable, scripts rely on them. The higher ones are those of <c>sysexits.h</c>.
/// </summary>
internal static class ExitCode
{
    public const int Ok = 0;
    public const int Failed = 1;
    public const int Usage = 2;
    public const int Unconfirmed = 3;
    public const int Warnings = 4;
    public const int Unavailable = 69;
    public const int Denied = 77;
    public const int Configuration = 78;

    /// <summary>
    /// Standard output has no reader any more: what a shell says of a program that SIGPIPE has ended.
    /// </summary>
    public const int OutputClosed = 141;
}
