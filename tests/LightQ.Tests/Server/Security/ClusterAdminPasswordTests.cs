using LightQ.Broker;
using LightQ.Broker.Users;
using LightQ.Server.Security;
using Microsoft.Extensions.Logging.Abstractions;
using Xunit;

namespace LightQ.Tests.Server.Security;

/// <summary>
/// A node's own file sets the cluster's password only when somebody has changed the file. Where what the node had seen
/// is lost, an old password in it does not come back.
/// </summary>
public sealed class ClusterAdminPasswordTests : IAsyncLifetime
{
    private const string Old = "the password of then",
        Now = "the password of now";

    private readonly string _directory = Directory.CreateTempSubdirectory("lightq-admin-").FullName;
    private LightQBroker _broker = null!;

    private string FileOfPassword => Path.Combine(_directory, AdminPassword.FileName);

    private string FileOfSeen => Path.Combine(_directory, ClusterAdminPassword.SeenName);

    public async ValueTask InitializeAsync() =>
        _broker = await LightQBroker.OpenAsync(
            Path.Combine(_directory, "data"),
            new BrokerOptions(),
            TimeProvider.System
        );

    public async ValueTask DisposeAsync()
    {
        await _broker.DisposeAsync();
        Directory.Delete(_directory, recursive: true);
    }

    [Theory]
    [InlineData("removed")]
    [InlineData("empty")]
    [InlineData("cut")]
    [InlineData("end zeroed")]
    [InlineData("longer")]
    [InlineData("whole")]
    public void A_password_that_was_overtaken_stays_so_when_what_was_seen_is_damaged(string damage)
    {
        File.WriteAllText(FileOfPassword, Old);
        Settle();
        Assert.True(IsPassword(Old));
        _broker.Users.SetAdminPassword(PasswordHash.Create(Now), isFirst: false); // At another node.
        byte[] seen = File.ReadAllBytes(FileOfSeen);
        switch (damage)
        {
            case "removed":
                File.Delete(FileOfSeen);
                break;
            case "empty":
                File.WriteAllBytes(FileOfSeen, []);
                break;
            case "cut":
                File.WriteAllBytes(FileOfSeen, seen[..32]);
                break;
            case "end zeroed":
                seen.AsSpan(32).Clear();
                File.WriteAllBytes(FileOfSeen, seen);
                break;
            case "longer":
                File.WriteAllBytes(FileOfSeen, [.. seen, .. "ABCD"u8]);
                break;
        }
        Settle();
        Assert.True(IsPassword(Now));

        // It is known again from now on, and a change of the file counts.
        File.WriteAllText(FileOfPassword, "a password for all");
        Settle();
        Assert.True(IsPassword("a password for all"));
    }

    [Fact]
    public void A_password_that_is_put_where_there_was_no_file_counts()
    {
        Settle();
        File.Delete(FileOfPassword);
        Settle();
        File.WriteAllText(FileOfPassword, Now);
        Settle();
        Assert.True(IsPassword(Now));
    }

    private void Settle() => ClusterAdminPassword.Settle(_directory, _broker.Users, NullLogger.Instance);

    private bool IsPassword(string password) => PasswordHash.Verify(_broker.Users.Table.Admin!.Password, password);
}
