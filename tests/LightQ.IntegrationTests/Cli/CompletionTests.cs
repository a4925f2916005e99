using System.Diagnostics;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Cli;

/// <summary>What <c>lightq completion</c> prints makes a shell complete command lines.</summary>
public sealed class CompletionTests
{
    private const string Bash = """
        source <(lightq completion bash)
        complete_line() {
          COMP_LINE="$1"; COMP_POINT=${#1}; read -ra COMP_WORDS <<< "$1"; [[ $1 == *" " ]] && COMP_WORDS+=("")
          COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _lightq "${COMP_WORDS[0]}"; echo "${COMPREPLY[*]}"
        }
        """;

    private const string Zsh = """
        autoload -Uz compinit && compinit -u -D
        source <(lightq completion zsh)
        compadd() { local -a a; a=("${(@P)2}"); print -r -- ${(M)a:#$words[CURRENT]*} }
        complete_line() { words=("${(@s: :)1}"); CURRENT=$#words; _lightq }
        """;

    private const string Fish = """
        lightq completion fish | source
        function complete_line; echo (complete -C $argv[1]); end
        """;

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    public static TheoryData<string, string> Shells =>
        new()
        {
            { "bash", Bash },
            { "zsh", Zsh },
            { "fish", Fish },
        };

    [Theory]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    [MemberData(nameof(Shells))]
    public async Task A_shell_completes_commands_options_and_values(string shell, string script)
    {
        FaultRun.RequireTier("A shell starts the tool for each word.");
        string? program = (Environment.GetEnvironmentVariable("PATH") ?? "")
            .Split(':')
            .Select(d => Path.Combine(d, shell))
            .FirstOrDefault(File.Exists);
        Assert.SkipWhen(program is null, $"{shell} is missing.");
        using var directory = new TemporaryDirectory(); // Without files that would be completed, too.
        string bin = Directory.CreateDirectory(Path.Combine(directory.Path, ".bin")).FullName,
            tool = Path.Combine(bin, "lightq");
        await File.WriteAllTextAsync(tool, $"#!/bin/sh\nexec {LightQTool.Typed} \"$@\"\n", Cancelled);
        if (!OperatingSystem.IsWindows())
            File.SetUnixFileMode(tool, UnixFileMode.UserRead | UnixFileMode.UserExecute);
        string[] lines =
        [
            "lightq topic cr",
            "lightq topic create t --kind ",
            "lightq topic create t --max-m",
            $"{tool} comp",
        ];
        string all = Path.Combine(directory.Path, ".script");
        await File.WriteAllLinesAsync(all, [script, .. lines.Select(l => $"complete_line '{l}'")], Cancelled);
        var start = new ProcessStartInfo(program, shell == "zsh" ? ["-f", all] : [all])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            WorkingDirectory = directory.Path,
        };
        start.Environment["PATH"] = $"{bin}:{start.Environment["PATH"]}";
        start.Environment["HOME"] = directory.Path;

        using Process process = Process.Start(start)!;
        string output = await process.StandardOutput.ReadToEndAsync(Cancelled),
            errors = await process.StandardError.ReadToEndAsync(Cancelled);
        await LightQTool.EndAsync(process);

        string[] wanted = ["create", "durable transient", "--max-message", "completion"];
        Assert.Equal((string.Join('\n', wanted), ""), (output.TrimEnd(), errors));
    }

    [Fact]
    public async Task The_script_for_PowerShell_registers_the_tool() =>
        Assert.StartsWith(
            "Register-ArgumentCompleter -Native -CommandName lightq ",
            (await LightQTool.RunAsync(null, "completion", "pwsh")).Succeeded().Text,
            StringComparison.Ordinal
        );
}
