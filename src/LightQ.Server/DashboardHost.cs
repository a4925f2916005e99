using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using LightQ.Server.Ports;
using LightQ.Server.Web;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace LightQ.Server;

/// <summary>
/// Serves the dashboard on this machine for a broker elsewhere: the page's calls go on to the broker's control port,
/// with the token that the page shows, and with no other identity.
/// </summary>
public sealed class DashboardHost : IAsyncDisposable
{
    private readonly WebApplication _app;
    private readonly CallRelay _relay;

    private DashboardHost(WebApplication app, CallRelay relay)
    {
        _app = app;
        _relay = relay;
        Address = new Uri(app.Urls.Single());
    }

    /// <summary>Whether the dashboard was there when this assembly was built.</summary>
    public static bool IsInThisBuild => DashboardPages.AreInThisBuild;

    /// <summary>Where browsers of this machine find it.</summary>
    public Uri Address { get; }

    /// <summary>Listens on loopback.</summary>
    /// <param name="control">The broker's control port: <c>http</c> or, with TLS, <c>https</c>.</param>
    /// <param name="tls">How the broker's certificate is checked; null without TLS, or for the machine's rules.</param>
    /// <param name="port">The port; 0 takes a free one.</param>
    /// <param name="cancellationToken">Cancels the start.</param>
    /// <exception cref="ServerStartException">
    /// The port cannot be had, or the dashboard is not in this build.
    /// </exception>
    public static async Task<DashboardHost> StartAsync(
        Uri control,
        SslClientAuthenticationOptions? tls = null,
        int port = 0,
        CancellationToken cancellationToken = default
    )
    {
        if (!IsInThisBuild)
        {
            throw new ServerStartException(
                ServerStartFailure.Configuration,
                "The dashboard is not in this build: packaging/dashboard makes it, before the build."
            );
        }

        if (port is < 0 or > ushort.MaxValue)
        {
            throw new ServerStartException(
                ServerStartFailure.Configuration,
                $"--port is '{port}'; allowed: 0 (a free port) to 65535."
            );
        }

        WebApplicationBuilder builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.Services.AddSingleton<IHostLifetime, GuestLifetime>();
        builder.Services.AddRoutingCore();
        builder.WebHost.UseKestrelCore();
        builder.WebHost.ConfigureKestrel(kestrel =>
        {
            kestrel.AddServerHeader = false;
            kestrel.Limits.MinResponseDataRate = null;
            kestrel.Listen(IPAddress.Loopback, port);
        });
        WebApplication app = builder.Build();
        var relay = new CallRelay(control, tls, app.Lifetime.ApplicationStopping);
        app.Use(CheckHost);
        app.UseGrpcWeb(new GrpcWebOptions { DefaultEnabled = true });
        DashboardPages.Map(app, http => http.Response.WriteAsync("LightQ's dashboard: open this in a browser.\n"));
        app.MapPost("/{service}/{method}", (RequestDelegate)relay.InvokeAsync);
        try
        {
            await app.StartAsync(cancellationToken).ConfigureAwait(false);
            return new DashboardHost(app, relay);
        }
        catch (IOException e) when (SocketErrorOf(e) is { } error)
        {
            await app.DisposeAsync().ConfigureAwait(false);
            relay.Dispose();
            throw ListenSocket.Explain(error, IPAddress.Loopback, port, "--port");
        }
    }

    /// <summary>Closes the port and the connections to the broker.</summary>
    public async ValueTask DisposeAsync()
    {
        await _app.DisposeAsync().ConfigureAwait(false);
        _relay.Dispose();
    }

    /// <summary>As at the broker's web port: a page elsewhere may have the name of its host lead here.</summary>
    private static Task CheckHost(HttpContext http, RequestDelegate next)
    {
        if (HostCheck.IsAllowed(http.Request.Host.Host, ""))
            return next(http);
        http.Response.StatusCode = StatusCodes.Status421MisdirectedRequest;
        return Task.CompletedTask;
    }

    private static SocketException? SocketErrorOf(Exception? e) =>
        e switch
        {
            null => null,
            SocketException error => error,
            _ => SocketErrorOf(e.InnerException),
        };
}
