using LightQ.Broker.Users;
using LightQ.Client;
using LightQ.IntegrationTests.Tls;
using LightQ.Server;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Security;

/// <summary>A client certificate that names a user logs in as that user, on both planes.</summary>
public sealed class CertificateUserTests
{
    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Whom_a_verified_certificate_names_is_that_user()
    {
        using var files = new TlsFiles();
        await using TestServer server = await files.StartServerAsync(o =>
            o with
            {
                RequireAuth = true,
                Tls = files.Options with
                {
                    ClientCaFile = files.CaFile,
                    ClientCertificates = ClientCertificates.Allowed,
                },
            }
        );
        await server.CreateTopicAsync("orders");
        await server.CreateTopicAsync("invoices");
        server.Broker.Users.Create("alice", "");
        server.Broker.Users.Grant("alice", Grant.Create(Right.Publish, "orders"));
        using TestCertificate alice = files.Authority.IssueClient("alice"),
            nobody = files.Authority.IssueClient("nobody");

        await using (var client = new LightQClient(files.ClientOptions(server, alice)))
        {
            Assert.Equal("alice", (await client.Users.WhoAmIAsync(Cancel)).User);
            await using Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancel);
            await producer.PublishAsync("by certificate"u8, cancellationToken: Cancel);
            Assert.Equal(
                ErrorCode.PermissionDenied,
                (
                    await Assert.ThrowsAsync<LightQException>(() =>
                        client.CreateProducerAsync("invoices", cancellationToken: Cancel)
                    )
                ).Code
            );
            server.Broker.Users.Delete("alice");
            Assert.Equal(
                ErrorCode.Unauthenticated,
                (await Assert.ThrowsAsync<LightQException>(() => client.Users.WhoAmIAsync(Cancel))).Code
            );
        }
        await using var stranger = new LightQClient(files.ClientOptions(server, nobody));
        foreach (Task refused in (Task[])[stranger.ConnectAsync(Cancel), stranger.Users.WhoAmIAsync(Cancel)])
        {
            LightQException error = await Assert.ThrowsAsync<LightQException>(() => refused);
            Assert.Equal(ErrorCode.Unauthenticated, error.Code);
            Assert.StartsWith(
                "The client certificate names nobody, and no user has one of these names",
                error.Message,
                StringComparison.Ordinal
            );
        }
        await using var without = new LightQClient(files.ClientOptions(server));
        Assert.Equal(
            ErrorCode.Unauthenticated,
            (await Assert.ThrowsAsync<LightQException>(() => without.ConnectAsync(Cancel))).Code
        );
    }
}
