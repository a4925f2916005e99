using System.CommandLine;

namespace LightQ.Cli.Output;

/// <summary>Asks before something is done that cannot be undone.</summary>
internal static class Confirmation
{
    /// <summary>The option that answers in advance.</summary>
    public static Option<bool> Yes() =>
        new("--yes", "-y")
        {
            Description =
                $"Do it without asking. Otherwise the command asks on a terminal; elsewhere, or without a yes, it ends "
                + $"with {ExitCode.Unconfirmed}.",
        };

    /// <summary>Asks on a terminal.</summary>
    /// <param name="question">What is asked.</param>
    /// <param name="answer">What has to be typed.</param>
    /// <returns>False if the answer is another one, or there is no terminal to ask on.</returns>
    public static bool Ask(string question, string answer = "yes")
    {
        if (Console.IsInputRedirected || Console.IsErrorRedirected)
            return false;
        Console.Error.Write($"{question} Type {answer}: ");
        return Console.ReadLine()?.Trim() == answer;
    }

    /// <summary>Asks on a terminal, and ends the command unless the user says yes.</summary>
    /// <param name="what">What is to be done, such as <c>delete the topic orders</c>.</param>
    /// <exception cref="CommandException">The user has not.</exception>
    public static void Demand(string what)
    {
        if (!Ask($"This will {what}."))
            throw new CommandException(ExitCode.Unconfirmed, $"Nothing was changed. Give --yes to {what}.");
    }
}
