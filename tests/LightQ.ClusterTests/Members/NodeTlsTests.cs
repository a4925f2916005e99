using Google.Protobuf;
using Grpc.Core;
using LightQ.IntegrationTests.Control;
using LightQ.Protocol.Control;
using LightQ.Server;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.ClusterTests.Members;

/// <summary>Nodes pass calls on over TLS, to nodes that they can trust and to no others.</summary>
public sealed class NodeTlsTests : IDisposable
{
    private const string Host = "127.0.0.1";

    private readonly TestAuthority _authority = new("nodes"),
        _other = new("others");

    public void Dispose()
    {
        _authority.Dispose();
        _other.Dispose();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Calls_are_passed_on_over_TLS_and_nodes_show_certificates_where_clients_must(bool isMutual)
    {
        using TestCertificate client = _authority.IssueClient("tester");
        await using SecureCluster cluster = Cluster(_authority.Pem, isMutual ? _authority.Pem : null, client);
        foreach (string _ in SecureCluster.Names)
        {
            using TestCertificate own = _authority.IssueNode(Host);
            await cluster.StartAsync(own);
        }
        foreach (string node in SecureCluster.Names)
        {
            for (uint partition = 0; partition < SecureCluster.Names.Count; partition++)
                await PublishAsync(cluster, node, partition);
        }
    }

    [Theory]
    [InlineData(true, Host)]
    [InlineData(false, "elsewhere.example")]
    public async Task A_node_with_a_certificate_of_another_authority_or_for_another_host_gets_no_call(
        bool isOther,
        string host
    )
    {
        await using SecureCluster cluster = Cluster(_authority.Pem);
        using TestCertificate a = _authority.IssueNode(Host),
            b = _authority.IssueNode(Host),
            c = (isOther ? _other : _authority).IssueNode(host);
        foreach (TestCertificate own in new[] { a, b, c })
            await cluster.StartAsync(own);
        foreach (string node in new[] { "a", "b" })
        {
            RpcException refused = await ControlCalls.FailsAsync(
                () => PublishAsync(cluster, node, 2),
                StatusCode.Unavailable,
                "Unavailable"
            );
            Assert.Matches("was not forwarded to the node 'c' at .+, since TLS with it fails: ", refused.Status.Detail);
            Assert.Matches(
                isOther ? "PartialChain|UntrustedRoot" : "RemoteCertificateNameMismatch",
                refused.Status.Detail
            );
            Assert.Contains("Cluster:NodeCaFile", refused.Status.Detail, StringComparison.Ordinal);
            // What the others lead is served.
            await PublishAsync(cluster, node, 0);
            await PublishAsync(cluster, node, 1);
        }
        await PublishAsync(cluster, "c", 0); // It can trust them.
    }

    [Fact]
    public async Task A_node_whose_certificate_is_no_clients_may_not_call_where_clients_must_show_one()
    {
        using TestCertificate client = _authority.IssueClient("tester");
        await using SecureCluster cluster = Cluster(_authority.Pem + "\n" + _other.Pem, _authority.Pem, client);
        using TestCertificate a = _authority.IssueNode(Host),
            b = _authority.IssueNode(Host),
            c = _other.IssueNode(Host);
        foreach (TestCertificate own in new[] { a, b, c })
            await cluster.StartAsync(own);
        await PublishAsync(cluster, "a", 2);
        RpcException refused = await ControlCalls.FailsAsync(
            () => PublishAsync(cluster, "c", 0),
            StatusCode.Unavailable,
            "Unavailable"
        );
        Assert.Contains("refuses the certificate of this node", refused.Status.Detail, StringComparison.Ordinal);
        Assert.Contains("Tls:ClientCaFile", refused.Status.Detail, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("")]
    [InlineData("no certificate")]
    public async Task Authorities_that_cannot_be_read_are_named_at_the_start(string pem)
    {
        using TestCertificate own = _authority.IssueNode(Host);
        await using SecureCluster cluster = Cluster(pem);
        ServerStartException refused = await Assert.ThrowsAsync<ServerStartException>(() => cluster.StartAsync(own));
        Assert.Equal(ServerStartFailure.Configuration, refused.Failure);
        Assert.StartsWith("Cluster:NodeCaFile is '", refused.Message, StringComparison.Ordinal);
    }

    private static SecureCluster Cluster(string nodes, string? clients = null, TestCertificate? own = null) =>
        new()
        {
            NodeAuthorities = nodes,
            ClientAuthorities = clients,
            ClientCertificate = clients is null ? null : own?.Certificate,
        };

    private static Task<PublishResponse> PublishAsync(SecureCluster cluster, string node, uint partition) =>
        cluster
            .At(node)
            .CallAsync<PublishRequest, PublishResponse>(
                "Publish",
                new()
                {
                    Topic = SecureCluster.Topic,
                    Partition = partition,
                    Messages = { new PublishedMessage { Body = ByteString.CopyFromUtf8("x") } },
                }
            );
}
