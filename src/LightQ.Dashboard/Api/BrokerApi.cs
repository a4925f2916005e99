using Grpc.Core;
using Grpc.Core.Interceptors;
using Grpc.Net.Client;
using Grpc.Net.Client.Web;
using LightQ.Protocol.Control;

namespace LightQ.Dashboard.Api;

/// <summary>The broker that has served this page, over gRPC-Web.</summary>
internal sealed class BrokerApi : IDisposable
{
    private static readonly TimeSpan Renewal = TimeSpan.FromSeconds(30);

    private readonly Session _session;
    private readonly GrpcChannel _channel;

    public BrokerApi(Uri address, Session session)
    {
        _session = session;
        _channel = GrpcChannel.ForAddress(
            address,
            new GrpcChannelOptions { HttpHandler = new GrpcWebHandler(GrpcWebMode.GrpcWeb, new HttpClientHandler()) }
        );
        CallInvoker invoker = _channel.Intercept(new SessionInterceptor(session));
        Auth = new Auth.AuthClient(invoker);
        Cluster = new Cluster.ClusterClient(invoker);
        DeadLetters = new DeadLetters.DeadLettersClient(invoker);
        Groups = new Groups.GroupsClient(invoker);
        Messages = new Messages.MessagesClient(invoker);
        Operations = new Operations.OperationsClient(invoker);
        Stats = new Stats.StatsClient(invoker);
        Topics = new Topics.TopicsClient(invoker);
    }

    public Auth.AuthClient Auth { get; }

    public Cluster.ClusterClient Cluster { get; }

    public DeadLetters.DeadLettersClient DeadLetters { get; }

    public Groups.GroupsClient Groups { get; }

    public Messages.MessagesClient Messages { get; }

    public Operations.OperationsClient Operations { get; }

    public Stats.StatsClient Stats { get; }

    public Topics.TopicsClient Topics { get; }

    public void Dispose() => _channel.Dispose();

    /// <summary>Finds out whether the kept token, or none, will do.</summary>
    public async Task OpenAsync()
    {
        try
        {
            _session.Begin(await Auth.WhoAmIAsync(new WhoAmIRequest()));
        }
        catch (RpcException e) when (e.StatusCode is StatusCode.Unauthenticated or StatusCode.PermissionDenied)
        {
            await _session.EndAsync(_session.Token is null ? "" : Failure.TextOf(e));
        }
    }

    /// <summary>Asks what the user may do, unless that was asked a moment ago: an admin may have changed it.</summary>
    public async Task RenewAsync(CancellationToken cancellation)
    {
        if (DateTimeOffset.UtcNow - _session.Told < Renewal || _session.State != Session.Stage.SignedIn)
            return;
        _session.Begin(await Auth.WhoAmIAsync(new WhoAmIRequest(), cancellationToken: cancellation));
    }

    /// <summary>Signs in with a password.</summary>
    public async Task SignInAsync(string user, string password)
    {
        LoginResponse login = await Auth.LoginAsync(new LoginRequest { User = user, Password = password });
        await _session.KeepAsync(login.Token, login.ExpireTime.ToDateTimeOffset());
        _session.Begin(await Auth.WhoAmIAsync(new WhoAmIRequest()));
    }

    /// <summary>Signs in with a token.</summary>
    public async Task SignInAsync(string token)
    {
        await _session.KeepAsync(token, null);
        try
        {
            _session.Begin(await Auth.WhoAmIAsync(new WhoAmIRequest()));
        }
        catch (RpcException)
        {
            await _session.EndAsync("");
            throw;
        }
    }

    /// <summary>Ends the session, and the token where it is one of a login.</summary>
    public async Task SignOutAsync()
    {
        string? token = _session.End is null ? null : _session.Token;
        await _session.EndAsync(""); // First, or the stream says that the login has ended.
        if (token is not null)
        {
            try
            {
                await Auth.LogoutAsync(new LogoutRequest(), new Metadata { { "authorization", "Bearer " + token } });
            }
            catch (RpcException)
            {
                // The token has ended before, or will within 15 minutes.
            }
        }
        await OpenAsync();
    }
}
