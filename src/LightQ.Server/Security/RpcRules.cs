using System.Collections.Frozen;
using Grpc.Core;
using LightQ.Broker;
using LightQ.Protocol.Control;
using Right = LightQ.Broker.Users.Right;

namespace LightQ.Server.Security;

/// <summary>What each rpc demands: the one place that says so. An rpc that is not here is rejected.</summary>
internal static class RpcRules
{
    private const string Topics = "/lightq.control.v1.Topics/",
        Stats = "/lightq.control.v1.Stats/",
        Groups = "/lightq.control.v1.Groups/",
        Messages = "/lightq.control.v1.Messages/",
        Auth = "/lightq.control.v1.Auth/",
        Operations = "/lightq.control.v1.Operations/",
        Backups = "/lightq.control.v1.Backups/",
        Nodes = "/lightq.control.v1.Cluster/",
        DeadLetters = "/lightq.control.v1.DeadLetters/",
        Letters = "/lightq.control.v1.Letters/";

    /// <summary>
    /// Services of gRPC itself, by the beginning of their methods' names. Reflection is for clients: it is a stream
    /// that a stranger could keep open, and tells what there is to call.
    /// </summary>
    private static readonly (string Service, RpcRule Rule)[] Others =
    [
        ("/grpc.health.v1.Health/", RpcRule.Open),
        ("/grpc.reflection.v1.ServerReflection/", RpcRule.LoggedIn),
        ("/grpc.reflection.v1alpha.ServerReflection/", RpcRule.LoggedIn),
    ];

    /// <summary>The rules of LightQ's own services, by the method's full name.</summary>
    public static FrozenDictionary<string, RpcRule> All { get; } =
        new Dictionary<string, RpcRule>
        {
            [Topics + "CreateTopic"] = RpcRule.On<CreateTopicRequest>(Right.Manage, r => r.Name),
            [Topics + "EnsureTopic"] = RpcRule.On<EnsureTopicRequest>(Right.Manage, r => r.Name),
            [Topics + "GetTopic"] = RpcRule.Seeing<GetTopicRequest>(r => r.Name),
            [Topics + "ListTopics"] = RpcRule.LoggedIn,
            [Topics + "DeleteTopic"] = RpcRule.On<DeleteTopicRequest>(Right.Manage, r => r.Name),
            [Topics + "TruncateTopic"] = RpcRule.On<TruncateTopicRequest>(Right.Manage, r => r.Name),
            [Topics + "ReplicateTopic"] = RpcRule.On<ReplicateTopicRequest>(Right.Manage, r => r.Name),
            [Topics + "SetTopicCredentials"] = RpcRule.On<SetTopicCredentialsRequest>(Right.Manage, r => r.Topic),
            [Stats + "GetTopicStats"] = RpcRule.Seeing<GetTopicStatsRequest>(r => r.Topic),
            [Stats + "WatchTopicStats"] = RpcRule.Seeing<WatchTopicStatsRequest>(r => r.Topic),
            [Stats + "ListTopicStats"] = RpcRule.LoggedIn,
            [Stats + "GetBrokerStats"] = RpcRule.LoggedIn,
            [Stats + "WatchBrokerStats"] = RpcRule.LoggedIn,
            [Stats + "ListConnections"] = RpcRule.Admin,
            [Stats + "ListSubscriptions"] = RpcRule.SeeingAny<ListSubscriptionsRequest>(r => r.Topic),
            [Groups + "ListGroups"] = RpcRule.SeeingAny<ListGroupsRequest>(r => r.Topic),
            [Groups + "DescribeGroup"] = RpcRule.Seeing<DescribeGroupRequest>(r => r.Topic),
            [Groups + "ExplainGroup"] = RpcRule.Seeing<ExplainGroupRequest>(r => r.Topic),
            [Groups + "ResetGroup"] = RpcRule.On<ResetGroupRequest>(Right.Manage, r => r.Topic),
            [Groups + "PauseGroup"] = RpcRule.On<PauseGroupRequest>(Right.Manage, r => r.Topic),
            [Groups + "ResumeGroup"] = RpcRule.On<ResumeGroupRequest>(Right.Manage, r => r.Topic),
            // Or who has made it.
            [Groups + "DeleteGroup"] = RpcRule.SeeingFor<DeleteGroupRequest>(Right.Manage, r => r.Topic),
            [Groups + "RedriveGroup"] = RpcRule.On<RedriveGroupRequest>(Right.Manage, r => r.Topic),
            [Messages + "Publish"] = RpcRule.On<PublishRequest>(Right.Publish, r => r.Topic),
            [Messages + "PublishStream"] = RpcRule.Stream(Right.Publish),
            [Messages + "Consume"] = RpcRule.Stream(Right.Consume),
            [Messages + "Fetch"] = RpcRule.On<FetchRequest>(Right.Consume, r => r.Topic),
            [Messages + "Settle"] = RpcRule.On<SettleRequest>(Right.Consume, r => r.Topic),
            [Messages + "Browse"] = RpcRule.On<BrowseRequest>(Right.Consume, r => r.Topic),
            [Messages + "Republish"] = RpcRule.On<RepublishRequest>(Right.Consume, r => r.Topic),
            [Messages + "ListScheduled"] = RpcRule.On<ListScheduledRequest>(Right.Consume, r => r.Topic),
            [Messages + "CancelScheduled"] = RpcRule.On<CancelScheduledRequest>(Right.Publish, r => r.Topic),
            [DeadLetters + "ListLetters"] = RpcRule.On<ListLettersRequest>(Right.Consume, r => r.Topic),
            [DeadLetters + "RedriveLetters"] = RpcRule.On<RedriveLettersRequest>(Right.Manage, r => r.Topic),
            [DeadLetters + "DeleteLetters"] = RpcRule.On<DeleteLettersRequest>(Right.Manage, r => r.Topic),
            [DeadLetters + "RepublishLetter"] = RpcRule.On<RepublishLetterRequest>(Right.Manage, r => r.Topic),
            [Operations + "Stop"] = RpcRule.Admin,
            [Operations + "Reload"] = RpcRule.Admin,
            [Operations + "ConfirmCatalog"] = RpcRule.Admin,
            [Operations + "ListSettings"] = RpcRule.Admin,
            [Operations + "ListAuditEvents"] = RpcRule.Admin,
            [Auth + "Login"] = RpcRule.Open,
            [Auth + "Logout"] = RpcRule.LoggedIn,
            [Auth + "WhoAmI"] = RpcRule.LoggedIn,
            [Auth + "CreateUser"] = RpcRule.Admin,
            [Auth + "SetPassword"] = RpcRule.LoggedIn,
            [Auth + "DeleteUser"] = RpcRule.Admin,
            [Auth + "ListUsers"] = RpcRule.Admin,
            [Auth + "Grant"] = RpcRule.Admin,
            [Auth + "Revoke"] = RpcRule.Admin,
            [Auth + "ListGrants"] = RpcRule.LoggedIn,
            [Auth + "CreateToken"] = RpcRule.LoggedIn,
            [Auth + "ListTokens"] = RpcRule.LoggedIn,
            [Auth + "RevokeToken"] = RpcRule.LoggedIn,
            [Backups + "CreateBackup"] = RpcRule.Admin,
            [Nodes + "GetMetadata"] = RpcRule.LoggedIn,
            [Nodes + "WatchMetadata"] = RpcRule.LoggedIn,
            [Nodes + "DrainNode"] = RpcRule.Admin,
            [Nodes + "RepairTopic"] = RpcRule.On<RepairTopicRequest>(Right.Admin, r => r.Topic),
            [Nodes + "RepairCatalog"] = RpcRule.Admin,
            [Nodes + "RemoveStreams"] = RpcRule.Admin,
            [Nodes + "MovePartition"] = RpcRule.On<MovePartitionRequest>(Right.Admin, r => r.Topic),
            [Nodes + "BalancePartitions"] = RpcRule.Admin,
            [Letters + "AppendLetters"] = RpcRule.Node,
            [Letters + "ReadLetters"] = RpcRule.Node,
        }.ToFrozenDictionary(StringComparer.Ordinal);

    /// <summary>The rule of a method.</summary>
    /// <param name="method"><c>/package.Service/Method</c>.</param>
    /// <exception cref="BrokerException">There is none, so no caller may call it.</exception>
    public static RpcRule Of(string method) =>
        Find(method)
        ?? throw new BrokerException(ErrorCode.PermissionDenied, $"No rule says who may call {method}, so nobody may.");

    /// <summary>
    /// Makes sure, before anything is served, that there is a rule for each method, and one that its shape can follow.
    /// </summary>
    /// <exception cref="InvalidOperationException">There is none, or one of another shape.</exception>
    public static void Check(IEnumerable<IMethod> methods)
    {
        foreach (IMethod method in methods)
        {
            RpcRule rule =
                Find(method.FullName)
                ?? throw new InvalidOperationException($"No rule says who may call {method.FullName}.");
            bool hasOneRequest = method.Type is MethodType.Unary or MethodType.ServerStreaming;
            if (rule.HasTopic && hasOneRequest == (rule.Access == RpcAccess.Stream))
            {
                throw new InvalidOperationException(
                    $"The rule of {method.FullName}, which is {method.Type}, is {rule.Access}."
                );
            }
        }
    }

    /// <summary>The rule of a method, or null: then no caller may call it.</summary>
    /// <param name="method"><c>/package.Service/Method</c>.</param>
    public static RpcRule? Find(string method) =>
        All.GetValueOrDefault(method)
        ?? Array.Find(Others, o => method.StartsWith(o.Service, StringComparison.Ordinal)).Rule;
}
