using Google.Protobuf;
using Grpc.Net.Client;
using LightQ.Broker.Users;
using LightQ.IntegrationTests;
using LightQ.IntegrationTests.Control;
using LightQ.Protocol.Control;
using LightQ.Server.Security;
using Xunit;
using Right = LightQ.Broker.Users.Right;
using TopicKind = LightQ.Broker.Topics.TopicKind;
using TopicSettings = LightQ.Broker.Topics.TopicSettings;

namespace LightQ.ClusterTests.Members;

/// <summary>
/// Ids of messages are their user's at every node: also where the call is passed on, and when another node leads.
/// </summary>
public sealed class NamesOfUsersTests : IAsyncLifetime
{
    private ForwardingCluster _cluster = null!;

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync() =>
        _cluster = await ForwardingCluster.StartAsync(o => o with { RequireAuth = true });

    public ValueTask DisposeAsync() => _cluster.DisposeAsync();

    [Fact]
    public async Task An_id_of_another_user_makes_no_duplicate_at_any_node()
    {
        await _cluster.CreateAsync(
            "orders",
            new TopicSettings
            {
                Kind = TopicKind.Durable,
                Replicas = 3,
                DedupWindow = TimeSpan.FromHours(1),
            }
        );
        string alice = await MakeUserAsync("alice"),
            mallory = await MakeUserAsync("mallory");
        await _cluster.LeadAsync("orders", 0, "b");
        Assert.Equal((0, false), await PublishAsync(_cluster.AtA, mallory)); // b does it for a.
        Assert.Equal((1, false), await PublishAsync(_cluster.AtA, alice));
        Assert.Equal((1, true), await PublishAsync(_cluster.AtB, alice));

        await _cluster.LeadAsync("orders", 0, "a");
        Assert.Equal((1, true), await PublishAsync(_cluster.AtA, alice));
        Assert.Equal((0, true), await PublishAsync(_cluster.AtB, mallory));

        // What is remembered by a node that starts is read from its copy of the log.
        await _cluster.RestartBAsync();
        await _cluster.LeadAsync("orders", 0, "b");
        Assert.Equal((1, true), await PublishAsync(_cluster.AtA, alice));
        Assert.Equal((0, true), await PublishAsync(_cluster.AtA, mallory));
    }

    private static async Task<(long Offset, bool IsDuplicate)> PublishAsync(GrpcChannel channel, string token)
    {
        var request = new PublishRequest
        {
            Topic = "orders",
            Messages =
            {
                new PublishedMessage { Body = ByteString.CopyFromUtf8("x"), MessageId = "payment" },
            },
        };
        PublishResponse response = await channel.CallAsync<PublishRequest, PublishResponse>("Publish", request, token);
        MessagePosition position = Assert.Single(response.Positions);
        return (position.Offset, position.Duplicate);
    }

    private async Task<string> MakeUserAsync(string name)
    {
        string token = Authenticator.NewToken();
        await Task.Run(
            () =>
            {
                _cluster.A.Broker.Users.Create(name, "");
                _cluster.A.Broker.Users.Grant(name, Grant.Create(Right.Publish, "orders"));
                _cluster.A.Broker.Users.AddToken(name, Authenticator.HashOf(token), null, "");
            },
            Cancelled
        );
        await Eventually.TrueAsync(
            () => _cluster.B.Broker.Users.Table.Tokens.ContainsKey(Authenticator.HashOf(token)),
            ForwardingCluster.Patience,
            () => $"b does not know {name}"
        );
        return token;
    }
}
