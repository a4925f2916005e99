using System.Diagnostics;
using Grpc.Core;
using LightQ.Client;
using LightQ.IntegrationTests.DataPlane;
using LightQ.IntegrationTests.Grpc;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using LightQ.Server.Security;
using Xunit;

namespace LightQ.IntegrationTests.Control;

public sealed class AuthTests
{
    [Fact]
    public async Task Without_a_login_a_call_is_refused_when_one_is_required()
    {
        await using TestServer server = await TestServer.StartAsync(o => o with { RequireAuth = true });
        await ControlCalls.FailsAsync(() => ListAsync(server, null), StatusCode.Unauthenticated, "Unauthenticated");
        await ControlCalls.FailsAsync(
            () => ListAsync(server, "made-up"),
            StatusCode.Unauthenticated,
            "Unauthenticated"
        );
    }

    [Fact]
    public async Task A_token_admits_until_it_is_revoked()
    {
        await using TestServer server = await TestServer.StartAsync(o => o with { RequireAuth = true });
        LoginResponse login = await LoginAsync(server, "admin", server.AdminPassword);
        Assert.InRange(
            login.ExpireTime.ToDateTimeOffset() - DateTimeOffset.UtcNow,
            TimeSpan.FromMinutes(14),
            TimeSpan.FromMinutes(16)
        );
        await ListAsync(server, login.Token);
        await server.Control.CallAsync<LogoutRequest, LogoutResponse>("Logout", new(), login.Token);
        await ControlCalls.FailsAsync(
            () => ListAsync(server, login.Token),
            StatusCode.Unauthenticated,
            "Unauthenticated"
        );
    }

    [Theory]
    [InlineData("admin", "")]
    [InlineData("admin", "wrong")]
    [InlineData("root", null)]
    [InlineData("", null)]
    public async Task A_wrong_user_or_password_is_refused_and_logged_without_either(string user, string? password)
    {
        await using TestServer server = await TestServer.StartAsync();
        RpcException error = await ControlCalls.FailsAsync(
            () => LoginAsync(server, user, password ?? server.AdminPassword),
            StatusCode.Unauthenticated,
            "Unauthenticated"
        );
        Assert.Equal("User or password is wrong.", error.Status.Detail);
        Assert.Single(server.Log.Lines, l => l.Message.StartsWith("A login from 127.0.0.1:", StringComparison.Ordinal));
        Assert.DoesNotContain(
            server.Log.Lines,
            l => l.Message.Contains(server.AdminPassword, StringComparison.Ordinal)
        );
    }

    [Fact]
    public async Task Who_shows_a_wrong_password_waits_for_the_answer_on_every_plane()
    {
        await using TestServer server = await TestServer.StartAsync();
        await Task.WhenAll(
            TakesAsync(() =>
                ControlCalls.FailsAsync(
                    () => LoginAsync(server, "admin", "wrong"),
                    StatusCode.Unauthenticated,
                    "Unauthenticated"
                )
            ),
            TakesAsync(async () =>
            {
                (RawClient client, FrameHeader header, byte[] body) = await RawClient.LogInAsync(
                    server.DataPort,
                    HelloFrame.Plain,
                    "admin\0wrong"
                );
                await using RawClient owned = client;
                Assert.Equal(FrameType.Error, header.Type);
                Assert.Equal(ErrorCode.Unauthenticated, FrameCodec.Read<ErrorFrame>(body).Code);
            })
        );

        static async Task TakesAsync(Func<Task> refused)
        {
            long began = Stopwatch.GetTimestamp();
            await refused();
            Assert.True(
                Stopwatch.GetElapsedTime(began) > Authenticator.RefusalDelay.Least - TimeSpan.FromMilliseconds(20),
                "it was refused at once"
            ); // Timers are exact to their tick.
        }
    }

    [Fact]
    public async Task On_loopback_anonymous_clients_may_call_but_not_with_a_made_up_token()
    {
        await using TestServer server = await TestServer.StartAsync();
        await ListAsync(server, null);
        await ControlCalls.FailsAsync(
            () => ListAsync(server, "made-up"),
            StatusCode.Unauthenticated,
            "Unauthenticated"
        );
        await ControlCalls.FailsAsync(
            () => server.Control.CallAsync<LogoutRequest, LogoutResponse>("Logout", new()),
            StatusCode.Unauthenticated,
            "Unauthenticated"
        );
    }

    [Fact]
    public async Task A_user_has_so_many_logins_at_once_and_another_as_many()
    {
        await using TestServer server = await TestServer.StartAsync(o => o with { MaxLoginsPerUser = 2 });
        await server.Control.CallAsync<CreateUserRequest, CreateUserResponse>(
            "CreateUser",
            new() { Name = "alice", Password = "correct horse" }
        );
        LoginResponse first = await LoginAsync(server, "admin", server.AdminPassword);
        await LoginAsync(server, "admin", server.AdminPassword);
        RpcException error = await ControlCalls.FailsAsync(
            () => LoginAsync(server, "admin", server.AdminPassword),
            StatusCode.ResourceExhausted,
            "ResourceExhausted"
        );
        Assert.Contains("the limit (MaxLoginsPerUser) is 2", error.Status.Detail, StringComparison.Ordinal);
        await ListAsync(server, first.Token);
        LoginResponse hers = await LoginAsync(server, "alice", "correct horse");
        await LoginAsync(server, "alice", "correct horse");
        await ControlCalls.FailsAsync(
            () => LoginAsync(server, "alice", "correct horse"),
            StatusCode.ResourceExhausted,
            "ResourceExhausted"
        );
        await server.Control.CallAsync<LogoutRequest, LogoutResponse>("Logout", new(), hers.Token);
        await LoginAsync(server, "alice", "correct horse");
        await server.Control.CallAsync<SetPasswordRequest, SetPasswordResponse>(
            "SetPassword",
            new() { Name = "alice", Password = "another horse" },
            first.Token
        );
        await LoginAsync(server, "alice", "another horse"); // Those before count no more.
    }

    [Theory]
    [InlineData("/lightq.control.v1.Topics/ListTopics")]
    [InlineData("/grpc.health.v1.Health/Check")]
    public async Task Two_entries_of_authorization_are_refused_whichever_of_them_is_right(string path)
    {
        await using TestServer server = await TestServer.StartAsync();
        string token = (await LoginAsync(server, "admin", server.AdminPassword)).Token;
        await using Http2Peer peer = await Http2Peer.ConnectAsync(server.ControlPort);
        foreach (string[] shown in new[] { new[] { token }, [token, token], [token, "made-up"], ["made-up", token] })
        {
            byte[] headers = Http2Peer.HeaderBlock(path, [.. shown.Select(t => ("authorization", $"Bearer {t}"))]);
            await peer.SendAsync(peer.Call(headers, isLast: true, new ListTopicsRequest()));
            Http2Frame answer = (await peer.ReadAsync())!.Value;
            // A refusal is all in the headers.
            Assert.Equal((Http2FrameType.Headers, shown.Length != 1), (answer.Type, answer.IsLast));
            while (!answer.IsLast)
                answer = (await peer.ReadAsync())!.Value;
        }
    }

    private static Task<LoginResponse> LoginAsync(TestServer server, string user, string password) =>
        server.Control.CallAsync<LoginRequest, LoginResponse>("Login", new() { User = user, Password = password });

    private static Task<ListTopicsResponse> ListAsync(TestServer server, string? token) =>
        server.Control.CallAsync<ListTopicsRequest, ListTopicsResponse>("ListTopics", new(), token);
}
