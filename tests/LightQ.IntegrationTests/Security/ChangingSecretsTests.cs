using System.Net.Http.Headers;
using System.Text;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Testing;
using Xunit;

namespace LightQ.IntegrationTests.Security;

/// <summary>Tokens and passwords that end, and others that take their place while a program runs.</summary>
public sealed class ChangingSecretsTests : IAsyncLifetime
{
    private const string Password = "first-Eiph7xee",
        Other = "second-Oosh4bai";
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private readonly TemporaryDirectory _directory = new();
    private LightQTestBroker _broker = null!;
    private LightQClient _admin = null!;
    private string _file = "";
    private string _adminPassword = "";

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_token_of_a_file_takes_the_place_of_one_that_has_ended_without_a_restart()
    {
        CreatedToken first = await _admin.Users.CreateTokenAsync("shop", TimeSpan.FromHours(1), "", Cancel);
        await File.WriteAllTextAsync(_file, first.Token + "\n", Cancel);
        using var log = new RecordedLog();
        await using LightQClient client = _broker.CreateClient(o => o with { TokenFile = _file, LoggerFactory = log });
        await client.PublishAsync("orders", "1", MessageSerializer.Text, cancellationToken: Cancel);
        Assert.Equal("orders", (await client.Topics.GetAsync("orders", Cancel)).Name);

        // Something keeps the file new: until then nothing is wrong.
        Assert.DoesNotContain(log.Lines, l => l.Message.Contains(" ends in ", StringComparison.Ordinal));
        _broker.Time.Advance(TimeSpan.FromMinutes(50));
        string said = Assert.Single(await log.HasAsync("The token with which", 1));
        Assert.Contains(" ends in 0.2 h", said, StringComparison.Ordinal);

        CreatedToken second = await _admin.Users.CreateTokenAsync("shop", TimeSpan.FromDays(30), "", Cancel);
        await File.WriteAllTextAsync(_file, second.Token, Cancel);
        _broker.Time.Advance(TimeSpan.FromMinutes(11)); // The first has ended, and its connection with it.

        await PublishAgainAsync(client);
        Assert.Equal("orders", (await client.Topics.GetAsync("orders", Cancel)).Name);
    }

    [Fact]
    public async Task A_client_waits_for_another_token_when_the_one_of_its_function_is_refused()
    {
        string token = "nonsense";
        int asked = 0;
        await using LightQClient client = _broker.CreateClient(o =>
            o with
            {
                WaitForBroker = true,
                MaxReconnectDelay = TimeSpan.FromMilliseconds(20),
                TokenProvider = _ =>
                {
                    Interlocked.Increment(ref asked);
                    return new ValueTask<string>(Volatile.Read(ref token));
                },
            }
        );
        Task<PublishAck> published = client
            .PublishAsync("orders", "1", MessageSerializer.Text, cancellationToken: Cancel)
            .AsTask();
        await Eventually.TrueAsync(() => Volatile.Read(ref asked) > 1, Patience, () => $"it was asked {asked} times");
        Assert.False(published.IsCompleted);

        CreatedToken made = await _admin.Users.CreateTokenAsync("shop", null, "", Cancel);
        Volatile.Write(ref token, made.Token);
        await published.WaitAsync(Patience, Cancel);
    }

    [Fact]
    public async Task A_password_of_a_file_is_read_at_each_login()
    {
        await File.WriteAllTextAsync(_file, Password, Cancel);
        await using LightQClient client = _broker.CreateClient(o =>
            o with
            {
                User = "shop",
                PasswordFile = _file,
                MaxReconnectDelay = TimeSpan.FromMilliseconds(20),
            }
        );
        await client.PublishAsync("orders", "1", MessageSerializer.Text, cancellationToken: Cancel);

        await File.WriteAllTextAsync(_file, Other, Cancel);
        // Ends what was opened with the one before.
        await _admin.Users.SetPasswordAsync("shop", Other, cancellationToken: Cancel);

        await PublishAgainAsync(client);
        Assert.Equal("orders", (await client.Topics.GetAsync("orders", Cancel)).Name);
    }

    [Fact]
    public async Task A_secret_that_cannot_be_read_is_said_without_it()
    {
        await using LightQClient client = _broker.CreateClient(o => o with { TokenFile = _file });
        LightQException missing = await Assert.ThrowsAsync<LightQException>(() => client.ConnectAsync(Cancel));
        Assert.Equal(ErrorCode.Unauthenticated, missing.Code);
        Assert.StartsWith($"The token from '{_file}' cannot be used: ", missing.Message, StringComparison.Ordinal);
        await using LightQClient failing = _broker.CreateClient(o =>
            o with
            {
                TokenProvider = _ => throw new InvalidOperationException("the vault is sealed"),
            }
        );
        LightQException locked = await Assert.ThrowsAsync<LightQException>(() => failing.ConnectAsync(Cancel));
        Assert.Equal("The token from its provider cannot be used: the vault is sealed", locked.Message);
    }

    [Fact]
    public async Task A_token_that_ends_is_said_at_once_by_the_client_and_by_user_in_the_metrics_of_who_may_list_users()
    {
        CreatedToken soon = await _admin.Users.CreateTokenAsync("shop", TimeSpan.FromDays(2), "", Cancel);
        await _admin.Users.CreateTokenAsync("shop", TimeSpan.FromDays(90), "", Cancel);
        using var log = new RecordedLog();
        await using LightQClient client = _broker.CreateClient(o => o with { Token = soon.Token, LoggerFactory = log });
        await client.ConnectAsync(Cancel);
        Assert.Single(await log.HasAsync("The token with which this client is logged in", 1));
        _broker.Time.Advance(TimeSpan.FromDays(1));
        await log.HasAsync("The token with which this client is logged in", 2); // Once a day.

        string line =
            $"lightq_user_token_end_seconds{{user=\"shop\"}} {soon.Info.ExpireTime!.Value.ToUnixTimeSeconds()}";
        Assert.Contains(line, await MetricsAsync($"admin:{_adminPassword}"), StringComparison.Ordinal);
        Assert.DoesNotContain(
            "lightq_user_token_end",
            await MetricsAsync($"shop:{Password}"),
            StringComparison.Ordinal
        );
    }

    public async ValueTask InitializeAsync()
    {
        _file = _directory.File("secret");
        string data = _directory.File("data");
        _broker = await LightQTestBroker.StartAsync(o => o with { RequireAuth = true, DataDirectory = data });
        _adminPassword = await File.ReadAllTextAsync(Path.Combine(data, "admin-password"));
        _admin = _broker.CreateClient(o => o with { User = "admin", Password = _adminPassword });
        await _admin.Topics.CreateAsync(new TopicSpec("orders"));
        await _admin.Users.CreateAsync("shop", Password);
        await _admin.Users.GrantAsync("shop", UserRight.Publish, "orders");
    }

    public async ValueTask DisposeAsync()
    {
        await _admin.DisposeAsync();
        await _broker.DisposeAsync();
        _directory.Dispose();
    }

    /// <summary>Publishes behind a login that has ended: what is under way then has an unknown outcome.</summary>
    private static Task PublishAgainAsync(LightQClient client) =>
        Eventually.TrueAsync(
            async () =>
            {
                try
                {
                    await client.PublishAsync("orders", "2", MessageSerializer.Text, cancellationToken: Cancel);
                    return true;
                }
                catch (LightQException e) when (e.Code is ErrorCode.OutcomeUnknown)
                {
                    return false;
                }
            },
            Patience,
            () => "nothing can be published"
        );

    private async Task<string> MetricsAsync(string login)
    {
        using var http = new HttpClient();
        http.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue(
            "Basic",
            Convert.ToBase64String(Encoding.UTF8.GetBytes(login))
        );
        return await http.GetStringAsync($"http://127.0.0.1:{_broker.Server.WebPort}/metrics", Cancel);
    }
}
