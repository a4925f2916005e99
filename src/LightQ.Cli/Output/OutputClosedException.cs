namespace LightQ.Cli.Output;

/// <summary>
/// Standard output has no reader any more, as in <c>lightq sub orders | head</c>: the command ends, and says nothing.
/// </summary>
/// <remarks>No <see cref="IOException"/>, which would be taken for a failure of a file.</remarks>
internal sealed class OutputClosedException : Exception;
