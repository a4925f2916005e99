using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using LightQ.Server.Limits;
using LightQ.Server.Ports;
using LightQ.Server.Tls;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Hosting;

/// <summary>The web port of a broker that has not started yet: it lives, and is not ready.</summary>
internal sealed class WaitingPage : IAsyncDisposable
{
    private readonly WebApplication _app;
    private volatile string _reason = "";

    private WaitingPage(WebApplication app) => _app = app;

    /// <summary>What it waits for.</summary>
    public string Reason
    {
        get => _reason;
        set => _reason = value;
    }

    /// <summary>Binds the port and answers.</summary>
    /// <exception cref="ServerStartException">The port cannot be had.</exception>
    public static async Task<WaitingPage> StartAsync(
        ServerLimits limits,
        ServerTls? tls,
        ILoggerFactory loggers,
        CancellationToken cancellationToken
    )
    {
        LightQServerOptions options = limits.Options;
        TlsGate? gate = tls is null
            ? null
            : new TlsGate(
                tls,
                limits,
                options.DataPlane.HandshakeTimeout,
                options.ConnectionTime,
                loggers.CreateLogger("LightQ.Server")
            );
        WebApplicationBuilder builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.Services.AddSingleton<ILoggerFactory>(new HostLoggers(loggers));
        builder.Services.AddSingleton<IHostLifetime, GuestLifetime>();
        builder.WebHost.UseKestrelCore();
        builder.WebHost.ConfigureKestrel(kestrel =>
        {
            kestrel.AddServerHeader = false;
            kestrel.Listen(
                new IPEndPoint(options.Bind, options.WebPort),
                listen =>
                {
                    gate?.Guard(listen, SslApplicationProtocol.Http11);
                    listen.Protocols = HttpProtocols.Http1;
                }
            );
        });
        WebApplication app = builder.Build();
        var page = new WaitingPage(app);
        app.Run(page.AnswerAsync);
        try
        {
            await app.StartAsync(cancellationToken).ConfigureAwait(false);
            return page;
        }
        catch (IOException e) when (e.InnerException is SocketException or AddressInUseException)
        {
            await app.DisposeAsync().ConfigureAwait(false);
            throw ListenSocket.Explain(
                e.InnerException as SocketException
                    ?? e.InnerException.InnerException as SocketException
                    ?? new SocketException((int)SocketError.AddressAlreadyInUse),
                options.Bind,
                options.WebPort,
                "--web-port"
            );
        }
    }

    /// <inheritdoc/>
    public ValueTask DisposeAsync() => _app.DisposeAsync();

    private Task AnswerAsync(HttpContext http)
    {
        bool asksForLife = http.Request.Path == "/healthz/live";
        http.Response.StatusCode = asksForLife ? StatusCodes.Status200OK : StatusCodes.Status503ServiceUnavailable;
        http.Response.ContentType = "text/plain; charset=utf-8";
        return http.Response.WriteAsync(
            asksForLife ? "live\n" : $"not ready: the broker waits for the engine of its cluster: {_reason}\n"
        );
    }
}
