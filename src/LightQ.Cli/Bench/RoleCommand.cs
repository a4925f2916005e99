using System.CommandLine;
using LightQ.Bench;
using LightQ.Bench.Nats;
using LightQ.Bench.Relay;
using LightQ.Bench.Roles;
using LightQ.Cli.Output;

namespace LightQ.Cli.Bench;

/// <summary>The parts of a bench that run in processes of their own. Not for people: hidden.</summary>
internal static class RoleCommand
{
    public static Command Create()
    {
        var command = new Command(RoleProcess.Command, "Part of a bench.") { Hidden = true };
        foreach (string name in BenchRoles.Names)
            command.Add(Role(name));
        command.Add(Relay());
        Argument<string[]> program = new("COMMAND") { Arity = ArgumentArity.OneOrMore };
        var guard = new Command(GuardRole.Name) { program };
        guard.TreatUnmatchedTokensAsErrors = false;
        guard.SetAction(
            (parsed, cancellationToken) =>
                BenchRoles.GuardAsync(
                    [.. parsed.GetRequiredValue(program), .. parsed.UnmatchedTokens],
                    cancellationToken
                )
        );
        command.Add(guard);
        return command;
    }

    private static Command Relay()
    {
        Argument<string?> certificate = new("CERTIFICATE") { Arity = ArgumentArity.ZeroOrOne };
        Argument<string?> key = new("KEY") { Arity = ArgumentArity.ZeroOrOne };
        var relay = new Command(RelayRole.Name) { certificate, key };
        relay.SetAction(parsed =>
        {
            BenchRoles.Relay(parsed.GetValue(certificate), parsed.GetValue(key));
            return ExitCode.Ok;
        });
        return relay;
    }

    private static Command Role(string name)
    {
        var role = new Command(name);
        role.SetAction(
            async (_, cancellationToken) =>
            {
                await BenchRoles.RunAsync(name, Explain, cancellationToken);
                return ExitCode.Ok;
            }
        );
        return role;
    }

    private static string Explain(Exception exception) =>
        Failure.TryExplain(exception, out Failure failure) ? failure.Message : Failure.OneLine(exception.ToString());
}
