using System.Net;
using LightQ.Client;
using LightQ.Server;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Hosting;

/// <summary>
/// S1: what other machines reach starts only encrypted and closed, unless that is waived; and what starts is as closed
/// as it says.
/// </summary>
[Trait("Fault", "S1")]
[Trait("Tier", "C")]
public sealed class StartMatrixTests
{
    private static readonly string[] Addresses = ["127.0.0.1", "::1", "0.0.0.0", "::"];
    private static readonly bool[] NoAndYes = [false, true];

    [Fact]
    [Trait("Plain", "no")]
    public async Task Every_combination_of_address_TLS_login_and_insecure_starts_or_says_what_is_missing()
    {
        FaultRun.RequireTier("It starts some thirty brokers.");
        var run = new FaultRun("S1", "every address, with and without TLS, login and --insecure");
        var violations = new List<string>();
        foreach (
            (string address, bool tls, bool login, bool insecure) in from address in Addresses
            from tls in NoAndYes
            from login in NoAndYes
            from insecure in NoAndYes
            select (address, tls, login, insecure)
        )
        {
            bool isAllowed = address is "127.0.0.1" or "::1" || insecure || (tls && login);
            string problem = await TryAsync(address, tls, login, insecure, isAllowed);
            run.Count(isAllowed ? "started" : "refused");
            if (problem.Length != 0)
                violations.Add($"{address}, TLS {tls}, login {login}, insecure {insecure}: {problem}");
        }
        run.Count("violations", violations.Count);
        run.Report();
        Assert.Empty(violations);
    }

    /// <returns>What was not as it should be.</returns>
    private static async Task<string> TryAsync(string address, bool tls, bool login, bool insecure, bool isAllowed)
    {
        LightQServerOptions options = LightQServerOptions.InProcess with
        {
            Bind = IPAddress.Parse(address),
            Tls = new() { SelfSigned = tls },
            RequireAuth = login,
            Insecure = insecure,
        };
        try
        {
            await using TestServer server = await TestServer.StartAsync(options);
            if (!isAllowed)
                return "it started";
            string waived = $"{!tls} {!login}",
                loud = $"{Warns(server, "without TLS")} {Warns(server, "without requiring a login")}";
            if (address is "0.0.0.0" or "::" && waived != loud)
                return $"it warned of \"{loud}\" instead of \"{waived}\" (no TLS, no login)";
            ErrorCode code = await CodeOfPlainAnonymousAsync(server),
                expected = tls ? ErrorCode.TlsFailed
                : login ? ErrorCode.Unauthenticated
                : ErrorCode.None;
            return code == expected ? "" : $"a client without TLS and name got {code}, not {expected}";
        }
        catch (ServerStartException e)
        {
            if (isAllowed || e.ExitCode != 78)
                return $"it ended with {e.ExitCode}: {e.Message}";
            string[] advice =
            [
                .. tls ? [] : (string[])["--tls-cert"],
                .. login ? [] : (string[])["--require-auth"],
                "--insecure",
                address,
            ];
            return string.Join(
                ", ",
                advice.Where(a => !e.Message.Contains(a, StringComparison.Ordinal)).Select(a => $"it did not name {a}")
            );
        }
    }

    private static bool Warns(TestServer server, string words) =>
        server.Log.Lines.Any(l => l.Message.Contains(words, StringComparison.Ordinal));

    private static async Task<ErrorCode> CodeOfPlainAnonymousAsync(TestServer server)
    {
        await using var client = new LightQClient(
            LightQClientOptions.Parse(server.ConnectionString) with
            {
                Tls = false,
                CertificateAuthorityFile = null,
            }
        );
        try
        {
            await client.ConnectAsync(TestContext.Current.CancellationToken);
            return ErrorCode.None;
        }
        catch (LightQException e)
        {
            return e.Code;
        }
    }
}
