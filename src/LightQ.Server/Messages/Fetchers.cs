using Grpc.Core;
using LightQ.Broker;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using LightQ.Server.Limits;
using LightQ.Server.Security;

namespace LightQ.Server.Messages;

/// <summary>Serves Fetch and Settle, and keeps the members of groups that they are. Thread-safe.</summary>
internal sealed class Fetchers(
    LightQBroker broker,
    MessageCalls calls,
    AccessControl access,
    ServerLimits limits,
    TimeProvider time
)
{
    private const int MostMessages = 1_000;

    private static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(60);

    /// <summary>
    /// How long a member stays that no client calls and that holds nothing: the polls of a client are one member, and a
    /// client that has gone for good soon keeps no partition from others.
    /// </summary>
    private static readonly TimeSpan IdleTime = TimeSpan.FromSeconds(10);

    private readonly Lock _lock = new();
    private readonly Dictionary<FetchKey, Fetcher> _byKey = [];
    private readonly Dictionary<Guid, Fetcher> _byId = [];
    private readonly Shares _shares = limits.NewShares();

    /// <summary>Checks what a request asks for.</summary>
    /// <returns>How long it waits for messages.</returns>
    /// <exception cref="BrokerException">A value is outside its range.</exception>
    public static TimeSpan Check(FetchRequest request)
    {
        if (request.Group.Length == 0)
            throw Refuse("group is empty; allowed: the name of a group");
        if (request.MaxMessages > MostMessages)
            throw Refuse($"max_messages is {request.MaxMessages}; allowed: 1 to {MostMessages}, or 0 for 1");
        return request.Wait is null
            ? TimeSpan.Zero
            : RequestTimes.Read(request.Wait, "wait", TimeSpan.Zero, LongestWait, "0 to 60 s");
    }

    /// <summary>Checks what is to be settled.</summary>
    /// <returns>The tokens, and what is done with their messages, in order.</returns>
    /// <exception cref="BrokerException">A value is outside its range.</exception>
    public static (SettleToken Token, SettleRange Range)[] Check(SettleRequest request)
    {
        SettlementMapping.CheckCount(request.Settlements.Count);
        var entries = new (SettleToken, SettleRange)[request.Settlements.Count];
        for (int i = 0; i < entries.Length; i++)
        {
            FetchedSettlement settlement = request.Settlements[i];
            if (!SettleToken.TryParse(settlement.Token, out SettleToken token))
                throw Refuse($"settlements[{i}].token is none; allowed: the settle_token of a fetched message");
            entries[i] = (token, SettlementMapping.ToRange(ToSettlement(settlement, token), i));
        }
        return entries;
    }

    /// <summary>Serves Fetch.</summary>
    /// <exception cref="BrokerException">A value is outside its range, or the group cannot be had.</exception>
    public async Task<FetchResponse> FetchAsync(FetchRequest request, ServerCallContext context)
    {
        TimeSpan wait = Check(request);
        Principal user = CallPrincipal.Of(context);
        using var timer = new CancellationTokenSource(wait, calls.Time);
        using var waiting = CancellationTokenSource.CreateLinkedTokenSource(timer.Token, context.CancellationToken);
        Fetcher fetcher = Enter(FetchKey.Of(user, request), context);
        try
        {
            int most = Math.Max(1, (int)request.MaxMessages);
            CallAccess rights = CallAccess.Of(context, access);
            CancellationToken cancelled = context.CancellationToken;
            return await fetcher.FetchAsync(rights, most, waiting.Token, cancelled).ConfigureAwait(false);
        }
        finally
        {
            Leave(fetcher);
        }
    }

    /// <summary>Serves Settle.</summary>
    /// <exception cref="BrokerException">A value is outside its range; then nothing is settled. Or the broker
    /// stops.</exception>
    public SettleResponse Settle(SettleRequest request, ServerCallContext context)
    {
        Principal user = CallPrincipal.Of(context);
        (Fetcher? Fetcher, SettleToken Token, SettleRange Range)[] entries =
        [
            .. Check(request).Select(e => (Find(e.Token, user, request.Topic), e.Token, e.Range)),
        ];
        if (calls.IsStopping && Array.Exists(entries, e => e.Fetcher is null))
            throw new BrokerException(ErrorCode.ShuttingDown, "The broker is stopping.");
        var response = new SettleResponse();
        for (int i = 0; i < entries.Length; i++)
        {
            (Fetcher? fetcher, SettleToken token, SettleRange range) = entries[i];
            Client.SettleOutcome? outcome = fetcher?.Settle(token, range, request.Settlements[i].Reason);
            response.Outcomes.Add(SettlementMapping.ToProto(outcome ?? Client.SettleOutcome.LockExpired));
        }
        return response;
    }

    private static Settlement ToSettlement(FetchedSettlement settlement, in SettleToken token) =>
        new()
        {
            Partition = token.Partition,
            DeliveryId = token.Delivery,
            FirstOffset = token.Offset,
            Kind = settlement.Kind,
            Delay = settlement.Delay,
            Reason = settlement.Reason,
        };

    private static BrokerException Refuse(string problem) => new(ErrorCode.InvalidArgument, $"{problem}.");

    /// <summary>
    /// The member that holds a message; null when it is gone, or another user's, or another topic's: its token says
    /// nothing then.
    /// </summary>
    private Fetcher? Find(in SettleToken token, Principal user, string topic)
    {
        lock (_lock)
        {
            Fetcher? fetcher = _byId.GetValueOrDefault(token.Fetcher);
            return fetcher is not null && fetcher.Key.IsOf(user) && fetcher.Key.Topic == topic ? fetcher : null;
        }
    }

    /// <summary>Who gets a share: members are kept between calls, which may come from many addresses.</summary>
    private static object SourceOf(ServerCallContext context) =>
        CallPrincipal.Of(context).Source ?? (object)PeerNetwork.Of(context.GetHttpContext().Connection.RemoteIpAddress);

    private Fetcher Enter(FetchKey key, ServerCallContext context)
    {
        lock (_lock)
        {
            if (!_byKey.TryGetValue(key, out Fetcher? fetcher))
            {
                int most = limits.Http.MaxFetchers;
                object source = SourceOf(context);
                Admission admission = _shares.TryTake(source, most);
                if (admission != Admission.Admitted)
                {
                    string reason = limits.HttpRefusals.Refuse(
                        nameof(HttpOptions.MaxFetchers),
                        most,
                        admission == Admission.TooMany
                            ? "As many users fetch from groups"
                            : $"{source} has its share of the members that fetch from groups"
                    );
                    throw new BrokerException(ErrorCode.ResourceExhausted, reason);
                }
                (string name, string peer) = (MessageCall.NameOf(context), MessageCall.PeerOf(context));
                fetcher = new Fetcher(broker, calls, key, time, calls.NextId(), name, peer)
                {
                    Source = source,
                    Ending = Forget,
                };
                _byKey.Add(key, fetcher);
                _byId.Add(fetcher.Id, fetcher);
                calls.Add(fetcher);
            }
            fetcher.Callers++;
            return fetcher;
        }
    }

    private void Leave(Fetcher fetcher)
    {
        lock (_lock)
        {
            if (--fetcher.Callers == 0 && _byId.ContainsKey(fetcher.Id))
                EndLater(fetcher);
        }
    }

    private void EndLater(Fetcher fetcher)
    {
        TimeSpan never = Timeout.InfiniteTimeSpan;
        fetcher.Idle ??= calls.Time.CreateTimer(_ => EndIdle(fetcher), null, never, never);
        fetcher.Idle.Change(IdleTime, never);
    }

    private void EndIdle(Fetcher fetcher)
    {
        lock (_lock)
        {
            if (fetcher.Callers != 0 || !_byId.ContainsKey(fetcher.Id))
                return;
            if (fetcher.Held != 0)
            {
                EndLater(fetcher);
                return;
            }
            Forget(fetcher); // Who comes now is another member.
        }
        var why = new BrokerException(ErrorCode.Closed, "Nothing was fetched for a while.");
        _ = fetcher.EndAsync(why, isOrderly: true);
    }

    private void Forget(Fetcher fetcher)
    {
        lock (_lock)
        {
            if (!_byId.Remove(fetcher.Id))
                return;
            _byKey.Remove(fetcher.Key);
            _shares.Give(fetcher.Source);
            fetcher.Idle?.Dispose();
        }
    }
}
