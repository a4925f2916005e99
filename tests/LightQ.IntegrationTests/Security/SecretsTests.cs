using System.Collections.Concurrent;
using System.Diagnostics;
using System.Net.Http.Headers;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;
using LightQ.Cli.Backups;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.IntegrationTests.Cli;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Security;

/// <summary>
/// After everything that has to do with passwords and tokens was done to a broker, none of them is in anything that it
/// or the tool has shown or written for people.
/// </summary>
public sealed partial class SecretsTests
{
    private const string PfxPassword = "pfx-Aeb3oolo",
        AlicePassword = "alice-Eiph7xee",
        SecondPassword = "alice-Oosh4bai",
        WrongPassword = "wrong-Ahgh9ohz",
        TopicPassword = "topic-Ieque6ri";

    /// <summary>What was shown, by where.</summary>
    private readonly ConcurrentQueue<(string Where, string Text)> _shown = new();

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task No_password_token_or_hash_is_in_logs_metrics_answers_arguments_or_errors()
    {
        FaultRun.RequireTier("It runs processes.");
        using var directory = new TemporaryDirectory();
        using var authority = new TestAuthority();
        using TestCertificate certificate = authority.IssueServer(lastDay: 90);
        File.WriteAllBytes(directory.File("broker.pfx"), certificate.Pfx(PfxPassword));
        File.WriteAllText(directory.File("pfx-password"), PfxPassword);
        File.WriteAllText(directory.File("ca.crt"), authority.Pem);
        string data = directory.File("data");
        (string, string)[] settings = [("LIGHTQ__Tls__PasswordFile", directory.File("pfx-password"))];
        string[] flags =
        [
            "--data",
            data,
            "--data-port",
            "0",
            "--control-port",
            "0",
            "--web-port",
            "0",
            "--require-auth",
            "--tls-cert",
            directory.File("broker.pfx"),
        ];

        var secrets = new Dictionary<string, string>
        {
            ["PFX password"] = PfxPassword,
            ["user's password"] = AlicePassword,
            ["user's second password"] = SecondPassword,
            ["wrong password"] = WrongPassword,
            ["topic's password"] = TopicPassword,
        };
        File.WriteAllText(directory.File("wrong"), WrongPassword);
        await Task.WhenAll(
            RunAsync("--print-config", settings, ["server", "--print-config", .. flags]),
            RunAsync("--print-config in JSON", settings, ["server", "--print-config", "--output", "json", .. flags]),
            RunAsync(
                "a wrong PFX password",
                [("LIGHTQ__Tls__PasswordFile", directory.File("wrong"))],
                ["server", .. flags]
            )
        );

        // In JSON a line has its text, as the other formats do, and every value beside it.
        using Process server = LightQTool.StartWith(
            settings,
            ["server", "--log-level", "trace", "--log-format", "json", "--output", "json", .. flags]
        );
        Task<string> errors = server.StandardError.ReadToEndAsync(Cancelled);
        try
        {
            JsonElement ports = JsonDocument.Parse((await server.StandardOutput.ReadLineAsync(Cancelled))!).RootElement;
            Show("server's announcement", ports.GetRawText());
            Show("server's arguments", CommandLineOf(server));
            await UseAsync(directory, ports, File.ReadAllText(Path.Combine(data, "admin-password")), secrets);
        }
        finally
        {
            server.StandardInput.Close();
            using Process kill = Process.Start(
                "kill",
                ["-TERM", server.Id.ToString(System.Globalization.CultureInfo.InvariantCulture)]
            );
            await LightQTool.EndAsync(kill);
            await LightQTool.EndAsync(server);
        }
        string log = await errors;
        Assert.Contains("Trace", log, StringComparison.OrdinalIgnoreCase);
        Assert.StartsWith("{", log, StringComparison.Ordinal);
        Assert.Contains("alice", log, StringComparison.Ordinal); // It speaks of logins at all.
        Show("server's log", log.Replace("\\u002B", "+", StringComparison.Ordinal)); // As JSON writes it.
        foreach (
            string file in Directory
                .GetFiles(data, "*", SearchOption.AllDirectories)
                .Where(f => f.Contains("audit", StringComparison.Ordinal))
        )
        {
            Show($"audit log {Path.GetFileName(file)}", File.ReadAllText(file));
        }

        AddHashes(Path.Combine(data, "catalog"), secrets);
        Assert.True(
            secrets.Count(s => s.Key.StartsWith("hash", StringComparison.Ordinal)) >= 3,
            "The hashes were not found in the catalog."
        );
        foreach ((string name, string secret) in secrets)
        {
            Assert.True(secret.Length >= 8, name);
            foreach ((string where, string text) in _shown)
            {
                if (text.Contains(secret, StringComparison.OrdinalIgnoreCase))
                    Assert.Fail($"The {name} is in: {where}:\n{LineWith(text, secret)}");
            }
        }
        foreach (string file in Directory.GetFiles(directory.File("backup"), "*", SearchOption.AllDirectories))
        {
            string text = File.ReadAllText(file, Encoding.Latin1);
            foreach (
                (string name, string secret) in secrets.Where(s => !s.Key.StartsWith("hash", StringComparison.Ordinal))
            )
            {
                Assert.False(text.Contains(secret, StringComparison.Ordinal), $"The {name} is in the backup: {file}");
            }
        }
    }

    private async Task UseAsync(
        TemporaryDirectory directory,
        JsonElement ports,
        string adminPassword,
        Dictionary<string, string> secrets
    )
    {
        secrets["admin's password"] = adminPassword;
        LightQClientOptions anonymous = new()
        {
            Host = "127.0.0.1",
            DataPort = ports.GetProperty("data_port").GetInt32(),
            ControlPort = ports.GetProperty("control_port").GetInt32(),
            Tls = true,
            CertificateAuthorityFile = directory.File("ca.crt"),
            ConnectTimeout = TimeSpan.FromMinutes(1), // A broker that logs every trace on a busy machine.
        };
        LightQClientOptions admin = anonymous with { User = "admin", Password = adminPassword };
        Show("options", admin.ToString());
        await using (var client = new LightQClient(admin))
        {
            Show("a user made", (await client.Users.CreateAsync("alice", AlicePassword, Cancelled)).ToString());
            await client.Users.GrantAsync("alice", UserRight.Publish, "orders", Cancelled);
            await client.Users.SetPasswordAsync("alice", SecondPassword, cancellationToken: Cancelled);
            CreatedToken token = await client.Users.CreateTokenAsync("alice", null, "for a test", Cancelled);
            secrets["token"] = token.Token;
            secrets["hash of the token"] = Convert.ToHexString(SHA256.HashData(Encoding.UTF8.GetBytes(token.Token)));
            Show("a token made", token.ToString());
            await client.Topics.CreateAsync(new TopicSpec("orders") { Kind = TopicKind.Durable }, Cancelled);
            await client.Topics.SetCredentialsAsync("orders", "own", TopicPassword, Cancelled);
            Show(
                "lists",
                string.Join(
                    '\n',
                    (object[])
                        [
                            .. (await client.Operations.ListSettingsAsync(Cancelled)).Settings,
                            .. (await client.Operations.ListAuditEventsAsync(null, Cancelled)).Events,
                            .. await client.Users.ListAsync(Cancelled),
                            .. await client.Users.ListTokensAsync(null, Cancelled),
                            await client.Topics.GetAsync("orders", Cancelled),
                        ]
                )
            );
        }
        foreach (
            LightQClientOptions right in new[]
            {
                anonymous with
                {
                    User = "alice",
                    Password = SecondPassword,
                },
                anonymous with
                {
                    Token = secrets["token"],
                },
                anonymous with
                {
                    User = "orders/own",
                    Password = TopicPassword,
                },
            }
        )
        {
            await using var client = new LightQClient(right);
            await using Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancelled);
            await producer.PublishAsync("x"u8, cancellationToken: Cancelled);
        }
        foreach (
            LightQClientOptions wrong in new[]
            {
                anonymous with
                {
                    User = "alice",
                    Password = WrongPassword,
                },
                anonymous with
                {
                    Token = WrongPassword,
                },
                anonymous with
                {
                    User = "orders/own",
                    Password = WrongPassword,
                },
                anonymous with
                {
                    User = "admin",
                    Password = WrongPassword,
                },
            }
        )
        {
            await using var client = new LightQClient(wrong);
            Show(
                "a refused login of the data plane",
                (await Assert.ThrowsAsync<LightQException>(() => client.ConnectAsync(Cancelled))).ToString()
            );
            Show(
                "a refused login of the control plane",
                (
                    await Assert.ThrowsAsync<LightQException>(() => client.Topics.GetAsync("orders", Cancelled))
                ).ToString()
            );
        }
        await UseWebAsync(directory, ports.GetProperty("web_port").GetInt32(), adminPassword, secrets);
        var job = new BackupJob(directory.File("backup"), 0, allowDamaged: false, new CommandConsole());
        Show("a backup", (await job.RunAsync(admin, Cancelled)).ToString());

        string url = $"{anonymous.ToString().Replace("lightq://", "lightq://admin@", StringComparison.Ordinal)}";
        (string, string)[] login = [("LIGHTQ_SERVER", url), ("LIGHTQ_PASSWORD", adminPassword)];
        await Task.WhenAll(
            RunAsync("token list", login, ["token", "list"]),
            RunAsync(
                "doctor",
                login,
                ["doctor", "--data", directory.File("data"), "--server", url, "--output", "json"]
            ),
            RunAsync(
                "a wrong password",
                [("LIGHTQ_SERVER", url), ("LIGHTQ_PASSWORD", WrongPassword)],
                ["user", "list"]
            ),
            RunAsync(
                "a wrong connection string",
                [("LIGHTQ_SERVER", $"lightq://admin:1?{WrongPassword}@127.0.0.1")],
                ["user", "list"]
            )
        );
    }

    private async Task UseWebAsync(
        TemporaryDirectory directory,
        int port,
        string adminPassword,
        Dictionary<string, string> secrets
    )
    {
        using var handler = new HttpClientHandler
        {
            ServerCertificateCustomValidationCallback = HttpClientHandler.DangerousAcceptAnyServerCertificateValidator,
        };
        using var web = new HttpClient(handler) { BaseAddress = new Uri($"https://127.0.0.1:{port}") };
        foreach ((string topic, string password) in new[] { ("made", adminPassword), ("refused", WrongPassword) })
        {
            string create =
                $$"""{"cmd": "create_topic", "admin_user_id": "admin", "admin_password": "{{password}}", "broker_type": "file", "topic": "{{topic}}", "user_id": "own", "password": "{{TopicPassword}}"}""";
            using var content = new StringContent(create);
            using HttpResponseMessage answer = await web.PostAsync(
                new Uri("/admin", UriKind.Relative),
                content,
                Cancelled
            );
            Show($"the answer to create_topic of {topic}", await answer.Content.ReadAsStringAsync(Cancelled));
        }
        using (var broken = new StringContent($$"""{"cmd": "join", "password": "{{TopicPassword}}", """))
        using (HttpResponseMessage answer = await web.PostAsync(new Uri("/admin", UriKind.Relative), broken, Cancelled))
            Show("the answer to broken JSON", await answer.Content.ReadAsStringAsync(Cancelled));
        foreach (string password in new[] { WrongPassword, adminPassword })
        {
            web.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue(
                "Basic",
                Convert.ToBase64String(Encoding.UTF8.GetBytes($"admin:{password}"))
            );
            secrets[$"header of {password[..5]}"] = web.DefaultRequestHeaders.Authorization.Parameter!;
            foreach (string page in new[] { "/metrics", "/healthz/live", "/healthz/ready" })
            {
                Show(
                    page,
                    await (await web.GetAsync(new Uri(page, UriKind.Relative), Cancelled)).Content.ReadAsStringAsync(
                        Cancelled
                    )
                );
            }
        }
        Assert.Contains(_shown, s => s.Where == "/metrics" && s.Text.Contains("lightq_", StringComparison.Ordinal));
    }

    /// <summary>Runs the tool to its end, and keeps what it wrote and was started with.</summary>
    private async Task RunAsync(string what, (string, string)[] environment, string[] arguments)
    {
        using Process process = LightQTool.StartWith(environment, arguments);
        process.StandardInput.Close();
        Show($"{what}: arguments", CommandLineOf(process));
        Task<string> output = process.StandardOutput.ReadToEndAsync(Cancelled),
            errors = process.StandardError.ReadToEndAsync(Cancelled);
        await LightQTool.EndAsync(process);
        Show($"{what}: output", await output);
        Show($"{what}: errors", await errors);
        Assert.NotEmpty(await output + await errors);
    }

    private void Show(string where, string text) => _shown.Enqueue((where, text));

    private static string CommandLineOf(Process process)
    {
        string path = $"/proc/{process.Id}/cmdline";
        return OperatingSystem.IsLinux() && File.Exists(path)
            ? File.ReadAllText(path).Replace('\0', ' ')
            : string.Join(' ', process.StartInfo.ArgumentList);
    }

    private static string LineWith(string text, string secret) =>
        text.Split('\n')
            .First(l => l.Contains(secret, StringComparison.OrdinalIgnoreCase))
            .Replace(secret, "<HERE>", StringComparison.OrdinalIgnoreCase);

    /// <summary>The salts and hashes that the catalog keeps.</summary>
    private static void AddHashes(string catalog, Dictionary<string, string> secrets)
    {
        string text = string.Concat(Directory.GetFiles(catalog).Select(f => File.ReadAllText(f, Encoding.Latin1)))
            .Replace("\\u002B", "+", StringComparison.Ordinal);
        foreach (Match match in PasswordHash().Matches(text))
        {
            secrets[$"hash {secrets.Count}"] = match.Groups["hash"].Value;
            secrets[$"hash's salt {secrets.Count}"] = match.Groups["salt"].Value;
        }
    }

    [GeneratedRegex("""\$pbkdf2-[a-z0-9]+\$[^$"]+\$(?<salt>[A-Za-z0-9+/.]+)\$(?<hash>[A-Za-z0-9+/.]+)""")]
    private static partial Regex PasswordHash();
}
