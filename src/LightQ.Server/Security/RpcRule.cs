using Google.Protobuf;
using LightQ.Broker.Users;

namespace LightQ.Server.Security;

/// <summary>What an rpc demands of its caller.</summary>
internal sealed record RpcRule
{
    private RpcRule(RpcAccess access) => Access = access;

    /// <summary>Nothing: it is how to log in, or what monitors ask before they do.</summary>
    public static RpcRule Open { get; } = new(RpcAccess.Open);

    /// <summary>
    /// A login where one is required. The answer holds only what the caller may see, or the handler demands more.
    /// </summary>
    public static RpcRule LoggedIn { get; } = new(RpcAccess.LoggedIn);

    /// <summary>The right Admin.</summary>
    public static RpcRule Admin { get; } = new(RpcAccess.Admin);

    /// <summary>Another node of the cluster.</summary>
    public static RpcRule Node { get; } = new(RpcAccess.Node);

    /// <summary>How it is decided.</summary>
    public RpcAccess Access { get; }

    /// <summary>Whether it is decided by the topic that a request names.</summary>
    public bool HasTopic => Access is RpcAccess.Topic or RpcAccess.Sight or RpcAccess.FilteredSight or RpcAccess.Stream;

    /// <summary>The right demanded on the topic.</summary>
    public Right Right { get; private init; }

    /// <summary>The right that a refusal names, where any right will do at first.</summary>
    private Right? RefusedFor { get; init; }

    /// <summary>The topic that a request names.</summary>
    public Func<IMessage, string>? TopicOf { get; private init; }

    /// <summary>A right on the topic that the request names.</summary>
    public static RpcRule On<TRequest>(Right right, Func<TRequest, string> topicOf)
        where TRequest : IMessage =>
        new(RpcAccess.Topic) { Right = right, TopicOf = request => topicOf((TRequest)request) };

    /// <summary>
    /// Any right on the topic that the request names, and the handler demands more. Who has none is refused in the
    /// handler's words, which must not depend on what there is.
    /// </summary>
    public static RpcRule SeeingFor<TRequest>(Right right, Func<TRequest, string> topicOf)
        where TRequest : IMessage => Seeing(topicOf) with { RefusedFor = right };

    /// <summary>Any right on the topic that the request names.</summary>
    public static RpcRule Seeing<TRequest>(Func<TRequest, string> topicOf)
        where TRequest : IMessage => new(RpcAccess.Sight) { TopicOf = request => topicOf((TRequest)request) };

    /// <summary>
    /// Any right on the topic that the request names; when it names none, the answer holds only what the caller
    /// may see.
    /// </summary>
    public static RpcRule SeeingAny<TRequest>(Func<TRequest, string> topicOf)
        where TRequest : IMessage => new(RpcAccess.FilteredSight) { TopicOf = request => topicOf((TRequest)request) };

    /// <summary>Demands of a caller what the rule demands on a topic.</summary>
    /// <exception cref="LightQ.Broker.BrokerException">It is missing.</exception>
    public void Demand(AccessControl access, Principal principal, string topic)
    {
        switch (Access)
        {
            case RpcAccess.Topic or RpcAccess.Stream:
                access.Demand(principal, Right, topic);
                break;
            case RpcAccess.Sight when RefusedFor is { } right:
                if (!access.Sees(principal, topic))
                    access.Demand(principal, right, topic);
                break;
            case RpcAccess.Sight:
                access.DemandSight(principal, topic);
                break;
            case RpcAccess.FilteredSight:
                if (topic.Length != 0)
                    access.DemandSight(principal, topic);
                break;
            default:
                throw new InvalidOperationException($"{Access} does not depend on a topic.");
        }
    }

    /// <summary>
    /// A right on the topic that the first request of a stream names: the call demands it before it opens
    /// anything.
    /// </summary>
    public static RpcRule Stream(Right right) => new(RpcAccess.Stream) { Right = right };
}
