using LightQ.Broker.Users;
using LightQ.Client;
using LightQ.IntegrationTests.Messages;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using Right = LightQ.Broker.Users.Right;
using StopProgress = LightQ.Protocol.Control.StopProgress;

namespace LightQ.IntegrationTests.Security;

/// <summary>Everything that can be tried on a topic, on both planes.</summary>
internal static class Operations
{
    private const string Data = "data plane",
        Control = "control plane",
        Group = "nobody";

    /// <summary>The operations. None of them changes what another one is answered.</summary>
    public static IReadOnlyList<Operation> All { get; } =
    [
        new(
            Data,
            "OpenProducer",
            Right.Publish,
            ErrorCode.None,
            ErrorCode.UnknownTopic,
            (s, t) => s.OpenStreamAsync(new OpenProducerFrame(t, 0, Durability.Default, ""))
        ),
        new(
            Data,
            "OpenProducer, named",
            Right.Publish,
            ErrorCode.None,
            ErrorCode.UnknownTopic,
            (s, t) => s.OpenStreamAsync(new OpenProducerFrame(t, 0, Durability.Default, "p"))
        ),
        new(
            Data,
            "OpenProducer, partition 7",
            Right.Publish,
            ErrorCode.UnknownPartition,
            ErrorCode.UnknownTopic,
            (s, t) => s.OpenStreamAsync(new OpenProducerFrame(t, 7, Durability.Default, ""))
        ),
        new(
            Data,
            "Subscribe",
            Right.Consume,
            ErrorCode.None,
            ErrorCode.UnknownTopic,
            (s, t) => s.OpenStreamAsync(Subscribe(t, ""))
        ),
        new(
            Data,
            "Subscribe, group",
            Right.Consume,
            ErrorCode.None,
            ErrorCode.UnknownTopic,
            (s, t) => s.OpenStreamAsync(Subscribe(t, "shared"))
        ),
        new(
            Control,
            "Publish",
            Right.Publish,
            ErrorCode.None,
            ErrorCode.UnknownTopic,
            (s, t) =>
                s.CallAsync<PublishRequest, PublishResponse>(
                    "Publish",
                    new() { Topic = t, Messages = { PublishStream.Text("x") } }
                )
        ),
        new(
            Control,
            "PublishStream",
            Right.Publish,
            ErrorCode.None,
            ErrorCode.UnknownTopic,
            (s, t) =>
                s.DuplexAsync<PublishStreamRequest, PublishStreamResponse>(
                    "PublishStream",
                    new() { Open = new() { Topic = t } }
                )
        ),
        new(
            Control,
            "Consume",
            Right.Consume,
            ErrorCode.None,
            ErrorCode.UnknownTopic,
            (s, t) =>
                s.DuplexAsync<ConsumeRequest, ConsumeResponse>("Consume", new() { Subscribe = new() { Topic = t } })
        ),
        new(
            Control,
            "Consume, group",
            Right.Consume,
            ErrorCode.None,
            ErrorCode.UnknownTopic,
            (s, t) =>
                s.DuplexAsync<ConsumeRequest, ConsumeResponse>(
                    "Consume",
                    new()
                    {
                        Subscribe = new() { Topic = t, Group = "shared" },
                    }
                )
        ),
        new(
            Control,
            "Fetch",
            Right.Consume,
            ErrorCode.UnknownPartition,
            ErrorCode.UnknownTopic,
            (s, t) =>
                s.CallAsync<FetchRequest, FetchResponse>(
                    "Fetch",
                    new()
                    {
                        Topic = t,
                        Group = "shared",
                        Partition = 7,
                    }
                )
        ),
        new(
            Control,
            "Settle",
            Right.Consume,
            ErrorCode.None,
            ErrorCode.None,
            (s, t) =>
                s.CallAsync<SettleRequest, SettleResponse>("Settle", new() { Topic = t, Settlements = { Unheld } })
        ),
        new(
            Control,
            "GetTopic",
            null,
            ErrorCode.None,
            ErrorCode.UnknownTopic,
            (s, t) => s.CallAsync<GetTopicRequest, GetTopicResponse>("GetTopic", new() { Name = t })
        ),
        new(
            Control,
            "GetTopicStats",
            null,
            ErrorCode.None,
            ErrorCode.UnknownTopic,
            (s, t) => s.CallAsync<GetTopicStatsRequest, GetTopicStatsResponse>("GetTopicStats", new() { Topic = t })
        ),
        new(
            Control,
            "WatchTopicStats",
            null,
            ErrorCode.None,
            ErrorCode.UnknownTopic,
            (s, t) =>
                s.WatchAsync<WatchTopicStatsRequest, WatchTopicStatsResponse>("WatchTopicStats", new() { Topic = t })
        ),
        new(
            Control,
            "ListSubscriptions",
            null,
            ErrorCode.None,
            ErrorCode.UnknownTopic,
            (s, t) =>
                s.CallAsync<ListSubscriptionsRequest, ListSubscriptionsResponse>(
                    "ListSubscriptions",
                    new() { Topic = t }
                )
        ),
        new(
            Control,
            "ListGroups",
            null,
            ErrorCode.None,
            ErrorCode.UnknownTopic,
            (s, t) => s.CallAsync<ListGroupsRequest, ListGroupsResponse>("ListGroups", new() { Topic = t })
        ),
        new(
            Control,
            "DescribeGroup",
            null,
            ErrorCode.UnknownGroup,
            ErrorCode.UnknownTopic,
            (s, t) =>
                s.CallAsync<DescribeGroupRequest, DescribeGroupResponse>(
                    "DescribeGroup",
                    new() { Topic = t, Group = Group }
                )
        ),
        new(
            Control,
            "ExplainGroup",
            null,
            ErrorCode.UnknownGroup,
            ErrorCode.UnknownTopic,
            (s, t) =>
                s.CallAsync<ExplainGroupRequest, ExplainGroupResponse>(
                    "ExplainGroup",
                    new() { Topic = t, Group = Group }
                )
        ),
        new(
            Control,
            "ResetGroup",
            Right.Manage,
            ErrorCode.UnknownGroup,
            ErrorCode.UnknownTopic,
            (s, t) =>
                s.CallAsync<ResetGroupRequest, ResetGroupResponse>(
                    "ResetGroup",
                    new()
                    {
                        Topic = t,
                        Group = Group,
                        Earliest = true,
                    }
                )
        ),
        new(
            Control,
            "PauseGroup",
            Right.Manage,
            ErrorCode.UnknownGroup,
            ErrorCode.UnknownTopic,
            (s, t) =>
                s.CallAsync<PauseGroupRequest, PauseGroupResponse>("PauseGroup", new() { Topic = t, Group = Group })
        ),
        new(
            Control,
            "ResumeGroup",
            Right.Manage,
            ErrorCode.UnknownGroup,
            ErrorCode.UnknownTopic,
            (s, t) =>
                s.CallAsync<ResumeGroupRequest, ResumeGroupResponse>("ResumeGroup", new() { Topic = t, Group = Group })
        ),
        new(
            Control,
            "DeleteGroup",
            Right.Manage,
            ErrorCode.UnknownGroup,
            ErrorCode.UnknownTopic,
            (s, t) =>
                s.CallAsync<DeleteGroupRequest, DeleteGroupResponse>("DeleteGroup", new() { Topic = t, Group = Group })
        ),
        new(
            Control,
            "RedriveGroup",
            Right.Manage,
            ErrorCode.UnknownGroup,
            ErrorCode.UnknownTopic,
            (s, t) =>
                s.CallAsync<RedriveGroupRequest, RedriveGroupResponse>(
                    "RedriveGroup",
                    new() { Topic = t, Group = Group }
                )
        ),
        new(
            Control,
            "Browse",
            Right.Consume,
            ErrorCode.None,
            ErrorCode.UnknownTopic,
            (s, t) => s.CallAsync<BrowseRequest, BrowseResponse>("Browse", new() { Topic = t, MaxBodyBytes = 0 })
        ),
        new(
            Control,
            "ListLetters",
            Right.Consume,
            ErrorCode.UnknownGroup,
            ErrorCode.UnknownTopic,
            (s, t) =>
                s.CallAsync<ListLettersRequest, ListLettersResponse>("ListLetters", new() { Topic = t, Group = Group })
        ),
        new(
            Control,
            "RedriveLetters",
            Right.Manage,
            ErrorCode.UnknownGroup,
            ErrorCode.UnknownTopic,
            (s, t) =>
                s.CallAsync<RedriveLettersRequest, RedriveLettersResponse>(
                    "RedriveLetters",
                    new()
                    {
                        Topic = t,
                        Group = Group,
                        Offsets = { 0 },
                    }
                )
        ),
        new(
            Control,
            "DeleteLetters",
            Right.Manage,
            ErrorCode.UnknownGroup,
            ErrorCode.UnknownTopic,
            (s, t) =>
                s.CallAsync<DeleteLettersRequest, DeleteLettersResponse>(
                    "DeleteLetters",
                    new()
                    {
                        Topic = t,
                        Group = Group,
                        Offsets = { 0 },
                    }
                )
        ),
        new(
            Control,
            "CreateTopic",
            Right.Manage,
            ErrorCode.TopicExists,
            null,
            (s, t) => s.CallAsync<CreateTopicRequest, CreateTopicResponse>("CreateTopic", new() { Name = t })
        ),
        new(
            Control,
            "EnsureTopic",
            Right.Manage,
            ErrorCode.None,
            null,
            (s, t) => s.CallAsync<EnsureTopicRequest, EnsureTopicResponse>("EnsureTopic", new() { Name = t })
        ),
        new(
            Control,
            "TruncateTopic",
            Right.Manage,
            ErrorCode.None,
            ErrorCode.UnknownTopic,
            (s, t) => s.CallAsync<TruncateTopicRequest, TruncateTopicResponse>("TruncateTopic", new() { Name = t })
        ),
        new(
            Control,
            "ReplicateTopic",
            Right.Manage,
            ErrorCode.NotSupported,
            ErrorCode.UnknownTopic,
            (s, t) =>
                s.CallAsync<ReplicateTopicRequest, ReplicateTopicResponse>(
                    "ReplicateTopic",
                    new() { Name = t, Replicas = 3 }
                )
        ),
        new(
            Control,
            "DeleteTopic",
            Right.Manage,
            null,
            ErrorCode.UnknownTopic,
            (s, t) => s.CallAsync<DeleteTopicRequest, DeleteTopicResponse>("DeleteTopic", new() { Name = t })
        ),
        new(
            Control,
            "SetTopicCredentials",
            Right.Manage,
            null,
            ErrorCode.UnknownTopic,
            (s, t) =>
                s.CallAsync<SetTopicCredentialsRequest, SetTopicCredentialsResponse>(
                    "SetTopicCredentials",
                    new() { Topic = t }
                )
        ),
    ];

    /// <summary>Rpcs that only an administrator may call, whatever they say.</summary>
    public static IReadOnlyList<Operation> OfAdministrators { get; } =
    [
        new(
            Control,
            "ListConnections",
            Right.Admin,
            ErrorCode.None,
            ErrorCode.None,
            (s, _) => s.CallAsync<ListConnectionsRequest, ListConnectionsResponse>("ListConnections", new())
        ),
        new(
            Control,
            "CreateBackup",
            Right.Admin,
            ErrorCode.None,
            ErrorCode.None,
            (s, _) => s.WatchAsync<CreateBackupRequest, CreateBackupResponse>("CreateBackup", new())
        ),
        new(
            Control,
            "Stop",
            Right.Admin,
            ErrorCode.InvalidArgument,
            ErrorCode.InvalidArgument,
            (s, _) => s.WatchAsync<StopRequest, StopProgress>("Stop", new() { Timeout = new() })
        ),
        new(
            Control,
            "Reload",
            Right.Admin,
            ErrorCode.NotSupported,
            ErrorCode.NotSupported,
            (s, _) => s.CallAsync<ReloadRequest, ReloadResponse>("Reload", new())
        ),
        new(
            Control,
            "ConfirmCatalog",
            Right.Admin,
            ErrorCode.None,
            ErrorCode.None,
            (s, _) => s.CallAsync<ConfirmCatalogRequest, ConfirmCatalogResponse>("ConfirmCatalog", new())
        ),
        new(
            Control,
            "ListSettings",
            Right.Admin,
            ErrorCode.None,
            ErrorCode.None,
            (s, _) => s.CallAsync<ListSettingsRequest, ListSettingsResponse>("ListSettings", new())
        ),
        new(
            Control,
            "ListAuditEvents",
            Right.Admin,
            ErrorCode.None,
            ErrorCode.None,
            (s, _) => s.CallAsync<ListAuditEventsRequest, ListAuditEventsResponse>("ListAuditEvents", new())
        ),
        new(
            Control,
            "DrainNode",
            Right.Admin,
            ErrorCode.NotSupported,
            ErrorCode.NotSupported,
            (s, _) => s.WatchAsync<DrainNodeRequest, DrainNodeProgress>("DrainNode", new() { Node = "local" })
        ),
        new(
            Control,
            "MovePartition",
            Right.Admin,
            ErrorCode.UnknownTopic,
            ErrorCode.UnknownTopic,
            (s, _) =>
                s.CallAsync<MovePartitionRequest, MovePartitionResponse>(
                    "MovePartition",
                    new() { Topic = Group, Node = "local" }
                )
        ),
        new(
            Control,
            "RepairTopic",
            Right.Admin,
            ErrorCode.UnknownTopic,
            ErrorCode.UnknownTopic,
            (s, _) => s.CallAsync<RepairTopicRequest, RepairTopicResponse>("RepairTopic", new() { Topic = Group })
        ),
        new(
            Control,
            "RepairCatalog",
            Right.Admin,
            ErrorCode.NotSupported,
            ErrorCode.NotSupported,
            (s, _) => s.CallAsync<RepairCatalogRequest, RepairCatalogResponse>("RepairCatalog", new())
        ),
        new(
            Control,
            "RemoveStreams",
            Right.Admin,
            ErrorCode.NotSupported,
            ErrorCode.NotSupported,
            (s, _) => s.CallAsync<RemoveStreamsRequest, RemoveStreamsResponse>("RemoveStreams", new())
        ),
        new(
            Control,
            "BalancePartitions",
            Right.Admin,
            ErrorCode.NotSupported,
            ErrorCode.NotSupported,
            (s, _) => s.CallAsync<BalancePartitionsRequest, BalancePartitionsResponse>("BalancePartitions", new())
        ),
        new(
            Control,
            "ListUsers",
            Right.Admin,
            ErrorCode.None,
            ErrorCode.None,
            (s, _) => s.CallAsync<ListUsersRequest, ListUsersResponse>("ListUsers", new())
        ),
        new(
            Control,
            "CreateUser",
            Right.Admin,
            ErrorCode.InvalidArgument,
            ErrorCode.InvalidArgument,
            (s, _) => s.CallAsync<CreateUserRequest, CreateUserResponse>("CreateUser", new() { Name = ".." })
        ),
        new(
            Control,
            "DeleteUser",
            Right.Admin,
            ErrorCode.UnknownUser,
            ErrorCode.UnknownUser,
            (s, _) => s.CallAsync<DeleteUserRequest, DeleteUserResponse>("DeleteUser", new() { Name = Group })
        ),
        new(
            Control,
            "SetPassword",
            Right.Admin,
            ErrorCode.UnknownUser,
            ErrorCode.UnknownUser,
            (s, _) =>
                s.CallAsync<SetPasswordRequest, SetPasswordResponse>(
                    "SetPassword",
                    new() { Name = Group, Password = "long enough" }
                )
        ),
        new(
            Control,
            "Grant",
            Right.Admin,
            ErrorCode.UnknownUser,
            ErrorCode.UnknownUser,
            (s, t) => s.CallAsync<GrantRequest, GrantResponse>("Grant", new() { Grant = Everything(Group) })
        ),
        new(
            Control,
            "Revoke",
            Right.Admin,
            ErrorCode.UnknownUser,
            ErrorCode.UnknownUser,
            (s, t) => s.CallAsync<RevokeRequest, RevokeResponse>("Revoke", new() { Grant = Everything(Group) })
        ),
        new(
            Control,
            "ListGrants",
            Right.Admin,
            ErrorCode.None,
            ErrorCode.None,
            (s, _) => s.CallAsync<ListGrantsRequest, ListGrantsResponse>("ListGrants", new())
        ),
        new(
            Control,
            "ListTokens",
            Right.Admin,
            ErrorCode.None,
            ErrorCode.None,
            (s, _) => s.CallAsync<ListTokensRequest, ListTokensResponse>("ListTokens", new())
        ),
        new(
            Control,
            "CreateToken",
            Right.Admin,
            ErrorCode.UnknownUser,
            ErrorCode.UnknownUser,
            (s, _) => s.CallAsync<CreateTokenRequest, CreateTokenResponse>("CreateToken", new() { User = Group })
        ),
        new(
            Control,
            "RevokeToken",
            Right.Admin,
            ErrorCode.UnknownToken,
            ErrorCode.UnknownToken,
            (s, _) => s.CallAsync<RevokeTokenRequest, RevokeTokenResponse>("RevokeToken", new() { Id = Group })
        ),
    ];

    /// <summary>Of a message that nobody holds.</summary>
    private static FetchedSettlement Unheld =>
        new() { Token = new string('A', 43), Kind = LightQ.Protocol.Control.SettleKind.Complete };

    private static UserGrant Everything(string user) =>
        new()
        {
            User = user,
            Right = LightQ.Protocol.Control.Right.Publish,
            Topic = Grant.Everything,
        };

    private static SubscribeFrame Subscribe(string topic, string group) =>
        new(topic, 0, group, StartKind.Earliest, 0, -1, 0, 0, SettleMode.Automatic, SlowPolicy.TopicDefault, 0);
}
