using System.Text;
using Xunit;

namespace LightQ.IntegrationTests.Cli;

/// <summary>How a run of the tool ended.</summary>
internal sealed record ToolResult(int ExitCode, byte[] Output, string Errors)
{
    /// <summary>Standard output as text.</summary>
    public string Text => Encoding.UTF8.GetString(Output);

    /// <summary>It ended well.</summary>
    public ToolResult Succeeded()
    {
        Assert.True(ExitCode == 0, $"Exit code {ExitCode}: {Errors}");
        return this;
    }

    /// <summary>
    /// It ended with a code and said why in one line on standard error, and nothing on standard output.
    /// </summary>
    public void FailedWith(int exitCode, string says)
    {
        Assert.Equal(exitCode, ExitCode);
        Assert.Contains(says, Errors, StringComparison.Ordinal);
        Assert.StartsWith("lightq: ", Errors, StringComparison.Ordinal);
        Assert.Equal(Errors.Length - 1, Errors.IndexOf('\n', StringComparison.Ordinal));
        Assert.Empty(Text);
    }

    /// <summary>It ended with a code and said why in the last line, behind whatever progress it showed.</summary>
    public void FailedLastWith(int exitCode)
    {
        Assert.Equal(exitCode, ExitCode);
        Assert.StartsWith("lightq: ", Errors.TrimEnd().Split('\n')[^1], StringComparison.Ordinal);
        Assert.Empty(Text);
    }
}
