using Google.Protobuf;
using Grpc.Core;
using LightQ.IntegrationTests;
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
        foreach (string node in new[] { "a", "b" })
        {
            Broker.Cluster.ClusterCondition found = await UntrustedAsync(cluster, node, "c");
            Assert.Contains("TLS with it fails", found.Detail, StringComparison.Ordinal);
        }
        Assert.Empty(cluster.ConditionsOf("c"));
    }

    [Fact]
    public async Task Authorities_and_certificates_are_replaced_while_the_nodes_run()
    {
        using TestCertificate client = _authority.IssueClient("tester");
        await using SecureCluster cluster = Cluster(_authority.Pem, _authority.Pem + "\n" + _other.Pem, client);
        foreach (string _ in SecureCluster.Names)
        {
            using TestCertificate own = _authority.IssueNode(Host);
            await cluster.StartAsync(own);
        }
        await PublishAsync(cluster, "a", 2);
        cluster.Trust(_authority.Pem + "\n" + _other.Pem);
        using TestCertificate renewed = _other.IssueNode(Host);
        foreach (string node in SecureCluster.Names)
            renewed.Write(cluster.Folder, node);
        foreach (string node in SecureCluster.Names)
        {
            await Eventually.TrueAsync(
                async () => (await cluster.IssuerOfAsync(node)).Contains("others", StringComparison.Ordinal),
                ForwardingCluster.Patience,
                () => $"{node} shows its old certificate."
            );
        }
        // With the old authority alone the new certificates are not trusted, and with the new one they are.
        cluster.Trust(_authority.Pem);
        await Eventually.TrueAsync(
            () => FailsAsync(cluster, "a", 2),
            ForwardingCluster.Patience,
            () => "The authorities stay."
        );
        cluster.Trust(_other.Pem);
        await Eventually.TrueAsync(
            async () => !await FailsAsync(cluster, "a", 2) && !await FailsAsync(cluster, "c", 0),
            ForwardingCluster.Patience,
            () => "The authorities stay."
        );
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
        await Eventually.TrueAsync(
            () =>
                cluster.ConditionsOf("c").Select(c => $"{c.Kind} {c.Subject}").Order() is var said
                && said.SequenceEqual(["node-untrusted a", "node-untrusted b"]),
            ForwardingCluster.Patience,
            () => "c says nothing of it."
        );
        Assert.Empty(cluster.ConditionsOf("a"));
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

    private static async Task<bool> FailsAsync(SecureCluster cluster, string node, uint partition)
    {
        try
        {
            await PublishAsync(cluster, node, partition);
            return false;
        }
        catch (RpcException e) when (e.StatusCode == StatusCode.Unavailable)
        {
            return true;
        }
    }

    private static async Task<Broker.Cluster.ClusterCondition> UntrustedAsync(
        SecureCluster cluster,
        string node,
        string other
    )
    {
        Broker.Cluster.ClusterCondition? found = null;
        await Eventually.TrueAsync(
            () => (found = cluster.ConditionsOf(node).FirstOrDefault(c => c.Kind == "node-untrusted")) is not null,
            ForwardingCluster.Patience,
            () => $"{node} says nothing of {other}."
        );
        Assert.Equal(other, found!.Subject);
        return found;
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
