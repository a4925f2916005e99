using System.Globalization;
using System.Net.Security;
using System.Net.Sockets;
using Grpc.Core;
using LightQ.Broker;
using LightQ.Broker.Cluster;
using LightQ.Protocol.Control;
using LightQ.Server.Security;

namespace LightQ.Server.Cluster;

/// <summary>
/// Tries each other node before it is needed, when it comes and now and then: its control plane with the login of
/// nodes, as forwarded calls do, and its data plane, where clients are sent. What fails is a condition.
/// </summary>
/// <remarks>What fails once may be a node that ends: it is tried again before that is said.</remarks>
internal sealed class NodeTrials(
    ClusterMembers members,
    NodeTokens tokens,
    NodeChannels channels,
    NodeTls? tls,
    TimeProvider time
) : IDisposable
{
    /// <summary>Partitions of no topic: the answer is short.</summary>
    private const string NoTopic = "-";

    private const string Remedy =
        "Its ports must be reached where it advertises them. With TLS its certificate must come from an authority in "
        + "Cluster:NodeCaFile, and be for that host; where clients show certificates, this broker's must come from an "
        + "authority in the other's Tls:ClientCaFile, and be good for clients. See docs/operate/cluster.md.";

    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(500),
        Interval = TimeSpan.FromMinutes(1),
        Longest = TimeSpan.FromSeconds(5);

    private static readonly Method<GetMetadataRequest, ClusterMetadata> Ask = NodeMethod.Of<
        GetMetadataRequest,
        ClusterMetadata
    >(MethodType.Unary, "/lightq.control.v1.Cluster/GetMetadata");

    private readonly Dictionary<string, Trial> _trials = new(StringComparer.Ordinal);
    private readonly CancellationTokenSource _stop = new();

    /// <summary>Begins.</summary>
    public void Begin() => _ = Task.Run(RunAsync);

    /// <summary>Ends it, and does not wait for a trial that is under way.</summary>
    public void Dispose() => _stop.Cancel();

    private async Task RunAsync()
    {
        while (!_stop.IsCancellationRequested)
        {
            Member[] others = [.. members.Members.Where(m => m.IsLive && m.Name != members.Node)];
            foreach (string gone in _trials.Keys.Except(others.Select(m => m.Name)).ToArray())
            {
                _trials.Remove(gone);
                members.Conditions.End(ConditionKind.NodeUntrusted, gone);
            }
            await Task.WhenAll(others.Where(IsDue).Select(TryAsync)).ConfigureAwait(false);
            await Task.Delay(Poll, time, _stop.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    private bool IsDue(Member node)
    {
        if (node.ControlAddress.Length == 0 || node.DataAddress.Length == 0)
            return false;
        string addresses = $"{node.DataAddress} {node.ControlAddress}";
        if (!_trials.TryGetValue(node.Name, out Trial? trial) || trial.Addresses != addresses)
            trial = _trials[node.Name] = new Trial(addresses);
        return trial.Problem.Length != 0 || trial.At is not { } at || time.GetElapsedTime(at) >= Interval;
    }

    private async Task TryAsync(Member node)
    {
        Trial trial = _trials[node.Name];
        string problem = await FindProblemAsync(node).ConfigureAwait(false);
        if (_stop.IsCancellationRequested)
            return;
        bool isLasting = trial.Problem.Length != 0 && problem.Length != 0;
        (trial.At, trial.Problem) = (time.GetTimestamp(), problem);
        if (problem.Length == 0)
            members.Conditions.End(ConditionKind.NodeUntrusted, node.Name);
        else if (isLasting)
            members.Conditions.Begin(ConditionKind.NodeUntrusted, node.Name, problem.TrimEnd('.', ' '), Remedy);
    }

    /// <returns>Why it cannot be used; empty when it can.</returns>
    private async Task<string> FindProblemAsync(Member node)
    {
        using var late = new CancellationTokenSource(Longest, time);
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(late.Token, _stop.Token);
        try
        {
            await AskAsync(node, ending.Token).ConfigureAwait(false);
            await ConnectAsync(node.DataAddress, ending.Token).ConfigureAwait(false);
            return "";
        }
        catch (BrokerException e)
        {
            return e.Message;
        }
        catch (RpcException e)
        {
            return $"its control plane at {node.ControlAddress} refuses this node: {e.Status.Detail}";
        }
        catch (Exception e)
            when (e
                    is SocketException
                        or IOException
                        or System.Security.Authentication.AuthenticationException
                        or OperationCanceledException
            )
        {
            string why = e is OperationCanceledException ? "it does not answer in time" : e.Message;
            return $"its data plane at {node.DataAddress}, where clients are sent, cannot be used: {why}";
        }
    }

    private async Task AskAsync(Member node, CancellationToken cancellationToken)
    {
        (CallInvoker invoker, string address) = channels.Of(node.Name);
        var headers = new Metadata
        {
            { NodeTokens.MetadataName, tokens.Issue(node.Name, Ask.FullName, Principal.Admin()) },
        };
        try
        {
            using AsyncUnaryCall<ClusterMetadata> call = invoker.AsyncUnaryCall(
                Ask,
                null,
                new CallOptions(headers, cancellationToken: cancellationToken),
                new GetMetadataRequest { Topics = { NoTopic } }
            );
            await call.ResponseAsync.ConfigureAwait(false);
        }
        catch (RpcException e)
        {
            throw NodeCalls.Explain(e, node.Name, address, CancellationToken.None);
        }
    }

    private async Task ConnectAsync(string address, CancellationToken cancellationToken)
    {
        int colon = address.LastIndexOf(':');
        string host = address[..colon].Trim('[', ']');
        using var client = new TcpClient();
        await client
            .ConnectAsync(host, int.Parse(address.AsSpan(colon + 1), CultureInfo.InvariantCulture), cancellationToken)
            .ConfigureAwait(false);
        if (tls is null)
            return;
        SslClientAuthenticationOptions rules = tls.Current;
        var stream = new SslStream(client.GetStream());
        await using (stream.ConfigureAwait(false))
        {
            await stream
                .AuthenticateAsClientAsync(
                    new SslClientAuthenticationOptions
                    {
                        TargetHost = host,
                        CertificateChainPolicy = rules.CertificateChainPolicy,
                        LocalCertificateSelectionCallback = rules.LocalCertificateSelectionCallback,
                    },
                    cancellationToken
                )
                .ConfigureAwait(false);
        }
    }

    private sealed class Trial(string addresses)
    {
        public string Addresses { get; } = addresses;

        public long? At { get; set; }

        public string Problem { get; set; } = "";
    }
}
