using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using LightQ.Server.Control;
using LightQ.Server.Hosting;
using LightQ.Server.Limits;
using LightQ.Server.Ports;
using LightQ.Server.Telemetry;
using LightQ.Server.Tls;
using LightQ.Server.Transport;
using LightQ.Server.Web;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Cors.Infrastructure;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace LightQ.Server;

/// <summary>Kestrel with two ports: gRPC (HTTP/2 without negotiation) and web (HTTP/1.1).</summary>
internal sealed class HttpHost : IAsyncDisposable
{
    private static readonly TimeSpan BodyGrace = TimeSpan.FromSeconds(5),
        PingDelay = TimeSpan.FromSeconds(30),
        PingTimeout = TimeSpan.FromSeconds(15);

    private readonly WebApplication _app;
    private Task _healthTold = Task.CompletedTask;

    private HttpHost(WebApplication app, IPEndPoint control, IPEndPoint web)
    {
        _app = app;
        ControlEndPoint = control;
        WebEndPoint = web;
    }

    /// <summary>Where gRPC is served.</summary>
    public IPEndPoint ControlEndPoint { get; }

    /// <summary>Where health and metrics are served.</summary>
    public IPEndPoint WebEndPoint { get; }

    /// <summary>Binds both ports and serves.</summary>
    /// <exception cref="ServerStartException">A port cannot be had.</exception>
    public static async Task<HttpHost> StartAsync(
        ServerLimits limits,
        ServerTls? tls,
        int dataPort,
        ControlServices control,
        WebEndpoints web,
        Readiness readiness,
        CallSpans spans,
        ILoggerFactory loggers,
        CancellationToken cancellationToken
    )
    {
        LightQServerOptions options = limits.Options;
        Socket controlSocket = ListenSocket.Open(options.Bind, options.ControlPort, "--control-port");
        UnsentLimit.Set(controlSocket, options.DataPlane);
        Socket webSocket;
        try
        {
            webSocket = ListenSocket.Open(options.Bind, options.WebPort, "--web-port");
            UnsentLimit.Set(webSocket, options.DataPlane);
        }
        catch
        {
            controlSocket.Dispose();
            throw;
        }
        var controlEnd = (IPEndPoint)controlSocket.LocalEndPoint!;
        var webEnd = (IPEndPoint)webSocket.LocalEndPoint!;
        WebApplication app = Build(
            limits,
            tls,
            dataPort,
            services => control.Add(services, readiness),
            loggers,
            controlEnd,
            webEnd,
            end => end.Equals(webEnd) ? webSocket : controlSocket
        );
        try
        {
            app.Use((http, next) => AnswerBody.InvokeAsync(http, limits, next));
            app.Use(PaceGate.MeterAsync);
            app.Use((http, next) => WrongPort.Check(http, controlEnd.Port, webEnd.Port, next));
            app.Use(
                (http, next) =>
                    http.Connection.LocalPort == webEnd.Port
                        ? web.AdmitAsync(http, next)
                        : spans.InvokeAsync(http, next)
            );
            app.UseWhen(http => http.Connection.LocalPort == webEnd.Port, AddBrowsers);
            web.Map(app, control.Map(app), dataPort, controlEnd.Port);
            await app.StartAsync(cancellationToken).ConfigureAwait(false);
            var host = new HttpHost(app, controlEnd, webEnd);
            readiness.Changed = () => host._healthTold = host.TellHealthAsync(host._healthTold);
            return host;
        }
        catch
        {
            await app.DisposeAsync().ConfigureAwait(false);
            controlSocket.Dispose();
            webSocket.Dispose();
            throw;
        }
    }

    /// <summary>
    /// Ends streaming calls with UNAVAILABLE, waits for the others up to <paramref name="timeout"/>, and closes both
    /// ports.
    /// </summary>
    public async Task StopAsync(TimeSpan timeout)
    {
        await _healthTold.ConfigureAwait(false);
        using var enough = new CancellationTokenSource(timeout);
        await _app.StopAsync(enough.Token).ConfigureAwait(false);
    }

    /// <inheritdoc/>
    public ValueTask DisposeAsync() => _app.DisposeAsync();

    /// <summary>Reports to the clients that watch the health over gRPC.</summary>
    private async Task TellHealthAsync(Task before)
    {
        await before.ConfigureAwait(false);
        HealthReport report = await _app
            .Services.GetRequiredService<HealthCheckService>()
            .CheckHealthAsync()
            .ConfigureAwait(false);
        foreach (IHealthCheckPublisher publisher in _app.Services.GetServices<IHealthCheckPublisher>())
            await publisher.PublishAsync(report, CancellationToken.None).ConfigureAwait(false);
    }

    /// <summary>
    /// An application that takes nothing from the process around it: no environment, no settings files, no signals.
    /// </summary>
    private static WebApplication Build(
        ServerLimits limits,
        ServerTls? tls,
        int dataPort,
        Action<IServiceCollection> add,
        ILoggerFactory loggers,
        IPEndPoint control,
        IPEndPoint web,
        Func<EndPoint, Socket> socketOf
    )
    {
        LightQServerOptions options = limits.Options;
        TimeProvider time = options.ConnectionTime;
        ILogger logger = loggers.CreateLogger("LightQ.Server");
        TlsGate? gate = tls is null ? null : new TlsGate(tls, limits, options.DataPlane.HandshakeTimeout, time, logger);
        void SpokeTls(ConnectionContext connection) =>
            TlsGate.Log(limits, logger, connection, "speaks TLS, and this port does not");
        WebApplicationBuilder builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.Services.AddSingleton<ILoggerFactory>(new HostLoggers(loggers));
        add(builder.Services);
        builder.Services.AddSingleton<IHostLifetime, GuestLifetime>();
        builder.Services.AddRoutingCore();
        builder.Services.AddCors(cors => Allow(cors, options.Http.AllowedOrigins));
        builder.WebHost.UseKestrelCore();
        builder.Services.AddSingleton<IConnectionListenerFactory>(services => new BackOffListener.Factory(
            socketOf,
            services.GetRequiredService<IMemoryPoolFactory<byte>>(),
            limits,
            time,
            logger
        ));
        ConnectionGate controlGate = new(
            limits,
            nameof(HttpOptions.MaxControlConnections),
            o => o.MaxControlConnections
        );
        ConnectionGate webGate = new(limits, nameof(HttpOptions.MaxWebConnections), o => o.MaxWebConnections);
        builder.WebHost.ConfigureKestrel(kestrel =>
        {
            kestrel.AddServerHeader = false;
            Limit(kestrel.Limits, options.Http);
            kestrel.Listen(
                control,
                listen =>
                {
                    controlGate.Guard(listen);
                    gate?.Guard(listen, SslApplicationProtocol.Http2);
                    listen.Use(next =>
                        MisplacedHello.Answer(
                            $"Port {control.Port} is the broker's control port (gRPC); its data port is {dataPort}.",
                            options.Http.HeaderTimeout,
                            time,
                            SpokeTls,
                            next
                        )
                    );
                    gate?.RequireHttp2(listen);
                    PaceGate.Guard(listen, limits, time);
                    listen.Protocols = HttpProtocols.Http2;
                }
            );
            kestrel.Listen(
                web,
                listen =>
                {
                    webGate.Guard(listen);
                    gate?.Guard(listen, SslApplicationProtocol.Http11);
                    listen.Use(next =>
                        MisplacedHello.Answer(
                            $"Port {web.Port} is the broker's web port (HTTP/1.1); its data port is {dataPort}.",
                            options.Http.HeaderTimeout,
                            time,
                            SpokeTls,
                            next
                        )
                    );
                    listen.Protocols = HttpProtocols.Http1;
                }
            );
        });
        return builder.Build();
    }

    /// <summary>Of the web port: gRPC-Web, and pages of the origins that the settings name.</summary>
    private static void AddBrowsers(IApplicationBuilder web) =>
        web.UseCors().Use(Base64Body.InvokeAsync).UseGrpcWeb(new GrpcWebOptions { DefaultEnabled = true });

    /// <summary>Nobody is allowed unless the settings name origins.</summary>
    private static void Allow(CorsOptions cors, string origins) =>
        cors.AddDefaultPolicy(policy =>
            policy
                .WithOrigins(origins.Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries))
                .AllowAnyMethod()
                .AllowAnyHeader()
                .WithExposedHeaders("grpc-status", "grpc-message", "grpc-status-details-bin", ControlErrors.CodeTrailer)
        );

    /// <summary>What Kestrel itself enforces, from the start on.</summary>
    /// <remarks>
    /// A stream of responses may be slow or idle for any time, and HTTP/2 has no minimum rate for one alone: pings find
    /// clients that are gone, and <see cref="AnswerBody"/> those that do not read.
    /// </remarks>
    private static void Limit(KestrelServerLimits kestrel, HttpOptions limits)
    {
        kestrel.MinResponseDataRate = null;
        kestrel.Http2.KeepAlivePingDelay = PingDelay;
        kestrel.Http2.KeepAlivePingTimeout = PingTimeout;
        kestrel.MaxRequestBodySize = limits.MaxRequestBytes;
        kestrel.MaxRequestHeadersTotalSize = limits.MaxHeaderBytes;
        kestrel.Http2.MaxRequestHeaderFieldSize = limits.MaxHeaderBytes;
        kestrel.Http2.MaxStreamsPerConnection = limits.MaxStreamsPerConnection;
        kestrel.RequestHeadersTimeout = limits.HeaderTimeout;
        kestrel.KeepAliveTimeout = limits.IdleTimeout;
        kestrel.MinRequestBodyDataRate =
            limits.MinBodyBytesPerSecond == 0 ? null : new MinDataRate(limits.MinBodyBytesPerSecond, BodyGrace);
    }
}
