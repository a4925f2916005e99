using LightQ.Broker;
using LightQ.Broker.Topics;
using LightQ.Broker.Users;
using LightQ.Client;
using LightQ.Storage;
using LightQ.Storage.State;
using Xunit;

namespace LightQ.IntegrationTests.Security;

public sealed class UserStoreTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();

    [Fact]
    public async Task Users_rights_and_tokens_are_there_after_a_restart_and_gone_when_they_were_deleted()
    {
        AccessToken kept;
        await using (LightQBroker broker = await OpenAsync())
        {
            broker.Users.Create("alice", "$hash-of-alice");
            broker.Users.Grant("alice", Grant.Create(Right.Publish, "orders.*"));
            broker.Users.Grant("alice", Grant.Create(Right.Consume, "orders"));
            broker.Users.Revoke("alice", Grant.Create(Right.Consume, "orders"));
            broker.Users.SetPassword("alice", "$second");
            broker.Users.Create("bob", "");
            kept = broker.Users.AddToken("alice", "HASH-A", DateTimeOffset.UtcNow.AddDays(30), "for tests");
            broker.Users.AddToken("bob", "HASH-B", null, "");
            broker.Users.RevokeToken(broker.Users.AddToken("alice", "HASH-C", null, "").Id);
            broker.Users.AddToken(UserStore.Admin, "HASH-D", null, "");
            broker.Users.Delete("bob");
        }
        await using (LightQBroker broker = await OpenAsync())
        {
            User alice = Assert.Single(broker.Users.Table.Users.Values);
            Assert.Equal(
                ("alice", "$second", 1u, new Grant(Right.Publish, "orders.*")),
                (alice.Name, alice.Password, alice.PasswordGeneration, Assert.Single(alice.Grants))
            );
            Assert.Equal(["HASH-A", "HASH-D"], broker.Users.Table.Tokens.Keys.Order(StringComparer.Ordinal));
            Assert.Equal(kept, broker.Users.GetToken(kept.Id));
        }
    }

    [Fact]
    public async Task What_is_wrong_or_too_much_is_refused_and_changes_nothing()
    {
        await using LightQBroker broker = await OpenAsync();
        int changes = 0;
        broker.Users.Changed += () => changes++;
        broker.Users.Create("alice", "");
        Assert.Equal(1, changes);
        Fails(ErrorCode.UserExists, () => broker.Users.Create("alice", ""));
        foreach (
            string name in new[]
            {
                "",
                "admin",
                "anonymous",
                "a/b",
                "..",
                "a\0b",
                new string('a', 201),
                "\u202Ex",
                " alice",
            }
        )
        {
            Fails(ErrorCode.InvalidArgument, () => broker.Users.Create(name, ""));
        }

        Fails(ErrorCode.UnknownUser, () => broker.Users.Delete("bob"));
        Fails(ErrorCode.UnknownUser, () => broker.Users.Grant("bob", Grant.Create(Right.Publish, "t")));
        Fails(ErrorCode.UnknownUser, () => broker.Users.AddToken("bob", "H", null, ""));
        Fails(ErrorCode.UnknownToken, () => broker.Users.RevokeToken("none"));
        Fails(
            ErrorCode.InvalidArgument,
            () => broker.Users.AddToken("alice", "H", DateTimeOffset.UtcNow.AddSeconds(-1), "")
        );
        Fails(ErrorCode.InvalidArgument, () => broker.Users.AddToken("alice", "H", null, new string('x', 201)));
        Fails(ErrorCode.InvalidArgument, () => UserStore.CheckPassword("short"));
        Fails(ErrorCode.InvalidArgument, () => UserStore.CheckPassword(new string('x', 501)));
        Assert.False(broker.Users.Revoke("alice", Grant.Create(Right.Publish, "t")));
        Assert.True(broker.Users.Grant("alice", Grant.Create(Right.Publish, "t")));
        Assert.False(broker.Users.Grant("alice", Grant.Create(Right.Publish, "t")));
        Assert.Equal(2, changes);
    }

    [Fact]
    public async Task A_catalog_of_before_there_were_users_is_read()
    {
        string catalog = Path.Combine(_directory.Path, "catalog");
        using (var environment = new JournalEnvironment(new JournalEnvironmentOptions()))
        using (RecordJournal journal = RecordJournal.Open(catalog, environment, _ => { }))
        {
            journal.Append(
                """
                {"Topic":{"Name":"test","Id":"0b1c2d3e-0000-0000-0000-000000000001","Created":"2026-01-01T00:00:00+00:00","Settings":{"Kind":"Transient"},"Credentials":{"User":"test_admin","Salt":"AAAAAAAAAAAAAAAAAAAAAA==","Hash":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=","Iterations":210000}}}
                """u8
            );
        }
        await using LightQBroker broker = await OpenAsync();
        TopicCredentials credentials = broker.GetTopic("test").Credentials!;
        Assert.Equal("test_admin", credentials.User);
        Assert.StartsWith("$pbkdf2-sha512$i=210000$", credentials.Password, StringComparison.Ordinal);
        Assert.True(PasswordHash.IsValid(credentials.Password));
        Assert.Empty(broker.Users.Table.Users);
        Assert.Equal(new TopicSettings().Complete(), broker.GetTopic("test").Settings.Complete());
    }

    public void Dispose() => _directory.Dispose();

    private Task<LightQBroker> OpenAsync() =>
        LightQBroker.OpenAsync(_directory.Path, new BrokerOptions(), TimeProvider.System);

    private static void Fails(ErrorCode code, Action act) =>
        Assert.Equal(code, Assert.Throws<BrokerException>(act).Code);
}
