using System.CommandLine;
using LightQ.Cli.Options;
using LightQ.Cli.Output;

namespace LightQ.Cli;

/// <summary><c>lightq completion</c>: what a shell runs to complete command lines.</summary>
/// <remarks>
/// Each script asks the tool itself, <c>lightq [suggest:POSITION] LINE</c>, so that it never has to be made anew.
/// </remarks>
internal static class CompletionCommand
{
    private const string Bash = """
        _lightq() {
          local cur="${COMP_WORDS[COMP_CWORD]}" line="lightq${COMP_LINE:${#COMP_WORDS[0]}}" words
          local at=$((COMP_POINT - ${#COMP_WORDS[0]} + 6))
          words="$("$1" "[suggest:$at]" "$line" 2>/dev/null)"
          [[ $cur == -* ]] || words="$(grep -v '^[-/]' <<< "$words")"
          COMPREPLY=($(compgen -W "$words" -- "$cur"))
        }
        complete -o bashdefault -o default -F _lightq lightq
        """;

    private const string Zsh = """
        #compdef lightq
        _lightq() {
          local line="lightq ${(j: :)words[2,CURRENT]}"
          local -a found
          found=("${(@f)$("$words[1]" "[suggest:${#line}]" "$line" 2>/dev/null)}")
          [[ $words[CURRENT] == -* ]] || found=(${found:#[-/]*})
          if (( $#found )); then compadd -a found; else _files; fi
        }
        if (( ! $+functions[compdef] )); then autoload -Uz compinit && compinit; fi
        compdef _lightq lightq
        """;

    private const string Fish = """
        function __lightq_complete
            set -l words (commandline -opc)
            set -l current (commandline -ct)
            set -l line (string join ' ' -- lightq $words[2..] "$current")
            set -l wanted '^[^-/]'
            string match -q -- '-*' "$current"; and set wanted '^-'
            $words[1] "[suggest:"(string length -- "$line")"]" "$line" 2>/dev/null | string match -r -- "$wanted.*"
        end
        complete -c lightq -a '(__lightq_complete)'
        """;

    private const string PowerShell = """
        Register-ArgumentCompleter -Native -CommandName lightq -ScriptBlock {
            param($word, $ast, $position)
            $first = $ast.CommandElements[0].ToString()
            $line = 'lightq' + $ast.ToString().Substring($first.Length)
            $at = [Math]::Max(0, $position - $ast.Extent.StartOffset - $first.Length + 6)
            if ($at -gt $line.Length) { $line = $line.PadRight($at) }
            & $first "[suggest:$at]" $line 2>$null |
                Where-Object { $_ -like "$word*" -and ($word -like '-*' -or $_ -notmatch '^[-/]') } |
                ForEach-Object { [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_) }
        }
        """;

    public static Command Create() =>
        new ExampleCommand(
            "completion",
            "Print what makes a shell complete lightq's command lines.",
            "lightq completion bash",
            "lightq completion fish > ~/.config/fish/completions/lightq.fish"
        )
        {
            Shell("bash", "For bash: put 'source <(lightq completion bash)' into ~/.bashrc.", Bash),
            Shell("zsh", "For zsh: put 'source <(lightq completion zsh)' into ~/.zshrc.", Zsh),
            Shell("fish", "For fish: lightq completion fish > ~/.config/fish/completions/lightq.fish", Fish),
            Shell(
                "pwsh",
                "For PowerShell: put 'lightq completion pwsh | Out-String | Invoke-Expression' into $PROFILE.",
                PowerShell
            ),
        };

    private static ExampleCommand Shell(string name, string description, string script)
    {
        var command = new ExampleCommand(name, description, $"lightq completion {name}");
        command.SetAction(_ =>
        {
            CommandConsole.Line(script);
            return ExitCode.Ok;
        });
        return command;
    }
}
