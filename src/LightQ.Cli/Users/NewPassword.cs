using System.CommandLine;
using System.Text;
using LightQ.Cli.Options;
using LightQ.Cli.Output;

namespace LightQ.Cli.Users;

/// <summary>
/// Where a command takes a secret from: a file, the environment, standard input, or the keyboard. Never an argument,
/// which every user of the machine can read.
/// </summary>
internal static class NewPassword
{
    /// <summary>The environment variable with the password that is to be set.</summary>
    public const string Variable = "LIGHTQ_NEW_PASSWORD";

    /// <summary>How to give one, for help and errors.</summary>
    public const string Sources =
        FileOption + " FILE (- is standard input), the environment variable LIGHTQ_NEW_PASSWORD, or the keyboard";

    private const string FileOption = "--password-file";

    /// <summary>The option for a file.</summary>
    public static Option<string?> File() =>
        new(FileOption)
        {
            Description =
                $"Read the password from this file, without the end of its line; - is standard input. Default: "
                + $"{Variable}, then the keyboard.",
            HelpName = "FILE",
        };

    /// <summary>Reads the password.</summary>
    /// <param name="file">The value of <see cref="File"/>.</param>
    /// <param name="whose">The user's name, for the prompt.</param>
    /// <exception cref="CommandException">There is none, or it cannot be read.</exception>
    public static string Read(string? file, string whose)
    {
        if (file == "-")
            return Check(Console.In.ReadLine() ?? "", "standard input");
        if (file is not null)
            return Check(NamedFile.ReadSecret(file, FileOption), $"'{file}'");
        if (Environment.GetEnvironmentVariable(Variable) is { Length: > 0 } variable)
            return variable;
        if (Console.IsInputRedirected)
            throw new CommandException(ExitCode.Usage, $"There is no password; give one by {Sources}.");
        string first = Prompt($"Password for {whose}: ");
        return first == Prompt("Once more: ")
            ? first
            : throw new CommandException(ExitCode.Usage, "The passwords differ.");
    }

    private static string Check(string password, string source) =>
        password.Length != 0
            ? password
            : throw new CommandException(ExitCode.Usage, $"There is no password in {source}.");

    private static string Prompt(string text)
    {
        Console.Error.Write(text);
        var typed = new StringBuilder();
        while (true)
        {
            ConsoleKeyInfo key = Console.ReadKey(intercept: true);
            if (key.Key == ConsoleKey.Enter)
                break;
            if (key.Key == ConsoleKey.Backspace)
                typed.Length = Math.Max(0, typed.Length - 1);
            else if (key.KeyChar != '\0')
                typed.Append(key.KeyChar);
        }
        Console.Error.WriteLine();
        return typed.ToString();
    }
}
