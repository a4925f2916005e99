using Google.Protobuf.WellKnownTypes;
using Grpc.Core;
using LightQ.Broker;
using LightQ.Protocol.Control;
using LightQ.Server.Audit;
using LightQ.Server.Configuration;
using LightQ.Server.Hosting;
using LightQ.Server.Messages;
using LightQ.Server.Security;

namespace LightQ.Server.Control;

/// <summary>Serves <c>lightq.control.v1.Operations</c>.</summary>
/// <param name="server">The server.</param>
/// <param name="events">Gets what is done.</param>
/// <param name="audit">The audit log; null where there is none.</param>
/// <param name="node">The name of this broker's node.</param>
/// <param name="time">The clock of calls.</param>
internal sealed class OperationsService(
    IServerOperations server,
    ISecurityEvents events,
    AuditLog? audit,
    Func<string> node,
    TimeProvider time
) : Protocol.Control.Operations.OperationsBase
{
    private static readonly TimeSpan UsualTimeout = TimeSpan.FromSeconds(30),
        Look = TimeSpan.FromMilliseconds(100);

    public override async Task Stop(
        StopRequest request,
        IServerStreamWriter<StopProgress> responses,
        ServerCallContext context
    )
    {
        TimeSpan timeout = ReadTimeout(request);
        string how = request.Drain ? $"with {timeout} for clients to finish" : "at once";
        await events
            .RaiseAsync(
                new SecurityEvent(
                    SecurityAction.StopRequested,
                    CallPrincipal.Of(context).ToString(),
                    Origin.Control(context),
                    Detail: how
                )
            )
            .ConfigureAwait(false);
        if (!request.Drain)
        {
            server.BeginStop();
            return;
        }
        Drain drain = server.BeginDrain(timeout);
        Task stopping = drain.Completion.ContinueWith(
            _ => server.BeginStop(),
            CancellationToken.None,
            TaskContinuationOptions.None,
            TaskScheduler.Default
        );
        DrainProgress? told = null;
        while (!stopping.IsCompleted)
        {
            if (drain.Progress is var progress && progress != told)
                await responses.WriteAsync(ToProto(told = progress, drain.TimeLeft)).ConfigureAwait(false);
            await stopping
                .WaitAsync(Look, time, context.CancellationToken)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            context.CancellationToken.ThrowIfCancellationRequested();
        }
        await responses.WriteAsync(ToProto(drain.Progress, drain.TimeLeft)).ConfigureAwait(false);
    }

    public override async Task<ReloadResponse> Reload(ReloadRequest request, ServerCallContext context)
    {
        ReloadReport report = await server
            .ReloadAsync(CallPrincipal.Of(context).ToString(), Origin.Control(context))
            .ConfigureAwait(false);
        return new ReloadResponse
        {
            Settings =
            {
                report.Settings.Select(s => new ChangedSetting
                {
                    Key = s.Setting.Key,
                    From = s.From,
                    To = s.To,
                    Applied = s.IsApplied,
                }),
            },
            Refusal = report.Refusal ?? "",
            Certificate =
                !report.HasCertificate ? CertificateReload.None
                : report.CertificateProblem is null ? CertificateReload.Applied
                : CertificateReload.Refused,
            CertificateProblem = report.CertificateProblem ?? "",
        };
    }

    public override async Task<ConfirmCatalogResponse> ConfirmCatalog(
        ConfirmCatalogRequest request,
        ServerCallContext context
    ) =>
        new()
        {
            Confirmed = await server
                .ConfirmCatalogAsync(CallPrincipal.Of(context).ToString(), Origin.Control(context))
                .ConfigureAwait(false),
        };

    public override Task<ListSettingsResponse> ListSettings(ListSettingsRequest request, ServerCallContext context) =>
        Task.FromResult(
            new ListSettingsResponse { Node = node(), Settings = { SettingMapping.ToProto(server.Options) } }
        );

    public override Task<ListAuditEventsResponse> ListAuditEvents(
        ListAuditEventsRequest request,
        ServerCallContext context
    )
    {
        AuditQuery query = AuditEventPage.ToQuery(request);
        if (audit is null)
        {
            throw new BrokerException(
                ErrorCode.NotSupported,
                "This broker keeps no audit log: Audit:IsEnabled is false, or its data directory is a temporary one."
            );
        }
        return Task.FromResult(AuditEventPage.ToProto(audit.Read(query), node()));
    }

    private static TimeSpan ReadTimeout(StopRequest request)
    {
        if (request.Timeout is null)
            return UsualTimeout;
        if (!request.Drain)
        {
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                "timeout is set without drain: the broker then waits for no client."
            );
        }
        return RequestTimes.Read(
            request.Timeout,
            "timeout",
            TimeSpan.Zero,
            LightQServerOptions.LongestDrain,
            $"0 to {LightQServerOptions.LongestDrain.TotalMinutes} minutes"
        );
    }

    private static StopProgress ToProto(DrainProgress progress, TimeSpan left) =>
        new()
        {
            Connections = (uint)progress.Connections,
            BusyProducers = (uint)progress.BusyProducers,
            HeldMessages = (ulong)progress.Held,
            TimeLeft = left.ToDuration(),
        };
}
