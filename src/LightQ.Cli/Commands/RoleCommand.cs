using System.CommandLine;
using LightQ.Cli.Bench.Fanout;
using LightQ.Cli.Bench.InProcess;
using LightQ.Cli.Bench.Relay;
using LightQ.Cli.Bench.Roles;
using LightQ.Cli.Hosting;
using LightQ.Cli.Output;
using LightQ.Server;
using LightQ.Server.Tls;

namespace LightQ.Cli.Commands;

/// <summary>The parts of a bench that run in processes of their own. Not for people: hidden.</summary>
internal static class RoleCommand
{
    public static Command Create()
    {
        var command = new Command("bench-role", "Part of a bench.") { Hidden = true };
        command.Add(Role("produce", ProduceRole.RunAsync));
        command.Add(Role("consume", ConsumeRole.RunAsync));
        command.Add(Role("latency", LatencyRole.RunAsync));
        command.Add(Role(ProcessPartner.Role, HandOverRole.RunAsync));
        command.Add(Role(FanoutRole.Name, FanoutRole.RunAsync));
        command.Add(Relay());
        Argument<string[]> program = new("COMMAND") { Arity = ArgumentArity.OneOrMore };
        var guard = new Command("guard") { program };
        guard.TreatUnmatchedTokensAsErrors = false;
        guard.SetAction((parsed, cancellationToken) => GuardRole.RunAsync([.. parsed.GetRequiredValue(program), .. parsed.UnmatchedTokens], cancellationToken));
        command.Add(guard);
        return command;
    }

    private static Command Relay()
    {
        Argument<string?> certificate = new("CERTIFICATE") { Arity = ArgumentArity.ZeroOrOne }, key = new("KEY") { Arity = ArgumentArity.ZeroOrOne };
        var relay = new Command("relay") { certificate, key };
        relay.SetAction(parsed =>
        {
            ParentLink.OnEnd(() => Environment.Exit(ExitCode.Ok));
            RelayRole.Run(parsed.GetValue(certificate) is { } file
                ? TlsCertificate.Load(new TlsOptions { CertificateFile = file, KeyFile = parsed.GetValue(key) })
                : null);
            return ExitCode.Ok;
        });
        return relay;
    }

    private static Command Role(string name, Func<CancellationToken, Task> run)
    {
        var role = new Command(name);
        role.SetAction(async (_, cancellationToken) =>
        {
            await run(cancellationToken);
            return ExitCode.Ok;
        });
        return role;
    }
}
