using System.Diagnostics;
using Grpc.Core;
using LightQ.Broker.Users;
using LightQ.Client;
using LightQ.IntegrationTests.Control;
using LightQ.IntegrationTests.DataPlane;
using LightQ.IntegrationTests.Faults;
using LightQ.Protocol;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using LightQ.Tests.Shared;
using Xunit;
using TopicKind = LightQ.Broker.Topics.TopicKind;

namespace LightQ.IntegrationTests.Security;

/// <summary>S3: clients that all come back at once, and names that mean something to a file system.</summary>
[Collection(FaultCollection.Name)]
[Trait("Fault", "S3")]
[Trait("Tier", "C")]
public sealed class BadLoginTests
{
    private const string Password = "correct horse battery staple";
    private static readonly TimeSpan StormTarget = TimeSpan.FromSeconds(15);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Plain", "no")]
    public async Task A_thousand_clients_that_come_back_at_once_are_served()
    {
        var run = new FaultRun(
            "S3.storm",
            "clients with passwords all come back at once, also to a broker that has just started"
        );
        FaultRun.RequireTier("It opens a thousand connections.");
        const int Clients = 1_000,
            Users = 20;
        int port = FreePorts.Find(3);
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                RequireAuth = true,
                DataPort = port,
                ControlPort = port + 1,
                WebPort = port + 2,
            }
        );
        string hash = PasswordHash.Create(Password);
        for (int i = 0; i < Users; i++)
            server.Broker.Users.Create($"user-{i}", hash);
        LightQClient[] clients =
        [
            .. Enumerable
                .Range(0, Clients)
                .Select(i => new LightQClient(
                    new LightQClientOptions
                    {
                        DataPort = port,
                        ControlPort = port + 1,
                        User = $"user-{i % Users}",
                        Password = Password,
                        ReceiveMode = ReceiveMode.Async,
                        ReconnectDelay = TimeSpan.FromMilliseconds(1),
                        MaxReconnectDelay = TimeSpan.FromMilliseconds(200),
                        ConnectTimeout = TimeSpan.FromSeconds(30), // All of them begin at once.
                    }
                )),
        ];
        try
        {
            run.Figure(
                "first connected after ms",
                await StormAsync(clients, () => Task.WhenAll(clients.Select(c => c.ConnectAsync(Cancel))))
            );
            run.Figure(
                "came back after ms",
                await StormAsync(
                    clients,
                    () =>
                    {
                        server.Server.DropConnections();
                        return Task.CompletedTask;
                    }
                )
            );
            int hashed = server.Server.Passwords.Hashed;
            run.Figure("passwords hashed before the restart", hashed);
            run.Figure("came back to a new broker after ms", await StormAsync(clients, () => server.RestartAsync()));
            run.Figure("passwords hashed after it", server.Server.Passwords.Hashed);
            run.Figure("clients", Clients);
            run.Report();
            Assert.InRange(hashed, Users, Users * LightQ.Server.Security.PasswordQueue.AtOnce);
            Assert.InRange(server.Server.Passwords.Hashed, Users, Users * LightQ.Server.Security.PasswordQueue.AtOnce);
            Assert.InRange(run["came back after ms"], 0, (long)(10 * StormTarget).TotalMilliseconds);
            Assert.InRange(run["came back to a new broker after ms"], 0, (long)(10 * StormTarget).TotalMilliseconds);
        }
        finally
        {
            foreach (LightQClient client in clients)
                await client.DisposeAsync();
        }
    }

    [Fact]
    [Trait("Plain", "no")]
    public async Task Names_that_mean_something_to_a_file_system_open_nothing_outside_the_data_directory()
    {
        var run = new FaultRun(
            "S3.names",
            "hostile names of topics, groups, producers, users and patterns, on both planes"
        );
        FaultRun.RequireTier("It makes thousands of calls.");
        using var outer = new TemporaryDirectory();
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                DataDirectory = Path.Combine(outer.Path, "data"),
                Http = new() { MaxCallsPerSecond = 0 },
            }
        );
        await server.CreateTopicAsync("t", TopicKind.Durable);
        var wrong = new List<string>();
        (RawClient client, _, _) = await RawClient.LogInAsync(server.DataPort, HelloFrame.Anonymous, "");
        await using RawClient owned = client;
        uint stream = 0;
        var logins = new List<(string Name, Task Login)>();
        foreach (string name in HostileNames(run))
        {
            await ExpectAsync(
                "CreateTopic",
                () =>
                    server.Control.CallAsync<CreateTopicRequest, CreateTopicResponse>(
                        "CreateTopic",
                        new()
                        {
                            Name = name,
                            Settings = new() { Kind = LightQ.Protocol.Control.TopicKind.Durable },
                        }
                    )
            );
            await ExpectAsync(
                "dead letters",
                () =>
                    server.Control.CallAsync<CreateTopicRequest, CreateTopicResponse>(
                        "CreateTopic",
                        new()
                        {
                            Name = $"x{++stream}",
                            Settings = new()
                            {
                                Kind = LightQ.Protocol.Control.TopicKind.Durable,
                                DeadLetterTopic = name.Length == 0 ? ".." : name,
                            },
                        }
                    )
            );
            await ExpectAsync(
                "GetTopic",
                () => server.Control.CallAsync<GetTopicRequest, GetTopicResponse>("GetTopic", new() { Name = name })
            );
            await ExpectAsync(
                "DeleteTopic",
                () =>
                    server.Control.CallAsync<DeleteTopicRequest, DeleteTopicResponse>(
                        "DeleteTopic",
                        new() { Name = name }
                    )
            );
            await ExpectAsync(
                "ResetGroup",
                () =>
                    server.Control.CallAsync<ResetGroupRequest, ResetGroupResponse>(
                        "ResetGroup",
                        new()
                        {
                            Topic = "t",
                            Group = name,
                            Earliest = true,
                        }
                    )
            );
            await ExpectAsync(
                "CreateUser",
                () =>
                    server.Control.CallAsync<CreateUserRequest, CreateUserResponse>("CreateUser", new() { Name = name })
            );
            await ExpectAsync(
                "DeleteUser",
                () =>
                    server.Control.CallAsync<DeleteUserRequest, DeleteUserResponse>("DeleteUser", new() { Name = name })
            );
            logins.Add(
                (
                    name,
                    server.Control.CallAsync<LoginRequest, LoginResponse>(
                        "Login",
                        new() { User = "admin", Password = name }
                    )
                )
            ); // It is refused after a second, so others are looked at meanwhile.
            await ExpectAsync(
                "Grant",
                () =>
                    server.Control.CallAsync<GrantRequest, GrantResponse>(
                        "Grant",
                        new()
                        {
                            Grant = new()
                            {
                                User = "nobody",
                                Right = LightQ.Protocol.Control.Right.Publish,
                                Topic = name,
                            },
                        }
                    )
            );
            if (System.Text.Encoding.UTF8.GetByteCount(name) <= ushort.MaxValue)
            {
                await RefusedAsync(new OpenProducerFrame(name, 0, Durability.Default, ""));
                if (name.Length != 0)
                    await RefusedAsync(new OpenProducerFrame("t", 0, Durability.Default, name));
                await RefusedAsync(
                    new SubscribeFrame(
                        name,
                        0,
                        "",
                        StartKind.Earliest,
                        0,
                        -1,
                        0,
                        0,
                        SettleMode.Automatic,
                        SlowPolicy.TopicDefault,
                        0
                    )
                );
                if (name.Length != 0)
                {
                    await RefusedAsync(
                        new SubscribeFrame(
                            "t",
                            0,
                            name,
                            StartKind.Earliest,
                            0,
                            -1,
                            0,
                            0,
                            SettleMode.Automatic,
                            SlowPolicy.TopicDefault,
                            0
                        )
                    );
                }
            }
            run.Count("names");
            wrong.AddRange(OpenedOutside(outer.Path).Select(path => $"{TopicName.Printable(name)}: {path} is open"));

            Task ExpectAsync(string what, Func<Task> call) => ExpectRefusedAsync(what, name, call);

            async Task RefusedAsync<TBody>(TBody frame)
                where TBody : IFrameBody<TBody>
            {
                run.Count("tries");
                await client.SendAsync(frame, ++stream, 1);
                (FrameHeader header, byte[] body) = await client.ReadAsync();
                if (
                    header.Type != FrameType.Closed
                    || FrameCodec.Read<ClosedFrame>(body).Code
                        is not (ErrorCode.InvalidArgument or ErrorCode.UnknownTopic)
                )
                {
                    wrong.Add($"{TBody.Type} of {TopicName.Printable(name)}: {header.Type}");
                }
            }
        }
        foreach ((string name, Task login) in logins)
            await ExpectRefusedAsync("Login", name, () => login);
        Assert.Equal([Path.Combine(outer.Path, "data")], Directory.GetFileSystemEntries(outer.Path));
        string[] made =
        [
            .. Directory
                .EnumerateFileSystemEntries(Path.Combine(outer.Path, "data"), "*", SearchOption.AllDirectories)
                .Select(p => Path.GetFileName(p)),
        ];
        wrong.AddRange(
            made.Where(n => !n.All(c => char.IsAsciiLetterOrDigit(c) || c is '.' or '-' or '_'))
                .Select(n => $"the file {TopicName.Printable(n)}")
        );
        run.Figure("violations", wrong.Count);
        run.Report();
        Assert.True(wrong.Count == 0, $"LIGHTQ_SEED={run.Seed}: {string.Join("\n", wrong.Take(20))}");

        async Task ExpectRefusedAsync(string what, string name, Func<Task> call)
        {
            run.Count("tries");
            Exception? error = await Record.ExceptionAsync(call);
            if (
                error
                is not RpcException
                {
                    StatusCode: StatusCode.InvalidArgument
                        or StatusCode.NotFound
                        or StatusCode.Unauthenticated
                        or StatusCode.ResourceExhausted
                }
            )
            {
                wrong.Add($"{what} of {TopicName.Printable(name)}: {error?.Message ?? "went well"}");
            }
        }
    }

    private static IEnumerable<string> HostileNames(FaultRun run)
    {
        string[] known =
        [
            "",
            ".",
            "..",
            "../x",
            "..\\x",
            "/",
            "/etc/passwd",
            "\\\\host\\share",
            "C:\\x",
            "a/b",
            "a\\b",
            "a\0b",
            "\0",
            "\u202Egnp.exe",
            "a\u202Eb",
            "\uFEFFa",
            "a b",
            " a",
            "a\n",
            "a\r\nb",
            "\u001b[31m",
            "~",
            "~root",
            "$HOME",
            "%APPDATA%",
            "*",
            "?",
            "a:b",
            "a|b",
            "<a>",
            "\"",
            "'; drop table topics; --",
            "caf\u00e9",
            "\u0430dmin",
            "a..b",
            "-rf",
            ".hidden",
            "_x",
            new('a', 201),
            new('a', 65_536),
            "/dev/null",
            "/proc/self/mem",
            "CON:",
            "NUL.",
            "a/../../b",
            "%2e%2e%2f",
        ];
        foreach (string name in known.Where(n => !TopicName.IsValid(n)))
            yield return name;
        Random random = run.RandomFor(0);
        for (int i = FaultRun.Times(c: 100, n: 2_000); i > 0; i--)
        {
            char[] letters = new char[random.Next(1, 40)];
            for (int c = 0; c < letters.Length; c++)
                letters[c] = random.Next(3) == 0 ? "./\\\0:~*\n\u202E"[random.Next(9)] : (char)random.Next(1, 0xD7FF);
            if (!TopicName.IsValid(letters))
                yield return new string(letters);
        }
    }

    /// <summary>Files of this process beside the data directory.</summary>
    private static IEnumerable<string> OpenedOutside(string outer)
    {
        if (!OperatingSystem.IsLinux())
            yield break;
        foreach (string link in Directory.GetFileSystemEntries("/proc/self/fd"))
        {
            string? target = null;
            try
            {
                target = File.ResolveLinkTarget(link, returnFinalTarget: false)?.FullName;
            }
            catch (IOException)
            {
                continue; // It was the one of this listing.
            }
            if (
                target is not null
                && target.StartsWith(outer, StringComparison.Ordinal)
                && !target.StartsWith(Path.Combine(outer, "data") + "/", StringComparison.Ordinal)
            )
            {
                yield return target;
            }
        }
    }

    private static async Task<long> StormAsync(LightQClient[] clients, Func<Task> begin)
    {
        var took = Stopwatch.StartNew();
        await begin();
        await Task.WhenAll(
                clients.Select(async c =>
                {
                    while (true)
                    {
                        try
                        {
                            await c.PingAsync(Cancel);
                            return;
                        }
                        catch (LightQException e)
                            when (e.Code is ErrorCode.Unavailable or ErrorCode.ShuttingDown or ErrorCode.OutcomeUnknown)
                        {
                            await Task.Delay(20, Cancel);
                        }
                    }
                })
            )
            .WaitAsync(TimeSpan.FromMinutes(5), Cancel);
        return (long)took.Elapsed.TotalMilliseconds;
    }
}
