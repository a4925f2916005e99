using LightQ.Bench.Roles;

namespace LightQ.Bench.InProcess;

/// <summary>A consumer in a child process.</summary>
internal sealed class ProcessPartner : IHandOverPartner
{
    private readonly RoleProcess _process;
    private readonly CancellationToken _stop;

    private ProcessPartner(RoleProcess process, CancellationToken stop) => (_process, _stop) = (process, stop);

    public static async Task<ProcessPartner> StartAsync(HandOverSpec spec, CancellationToken stop)
    {
        var partner = new ProcessPartner(RoleProcess.Start(HandOverRole.Name, showErrors: true), stop);
        try
        {
            await partner._process.SendAsync(spec, HandOverJson.Default.HandOverSpec);
            await partner._process.ExpectAsync(RoleEvent.Ready, stop);
            return partner;
        }
        catch
        {
            await partner.DisposeAsync();
            throw;
        }
    }

    public async Task StartAsync(HandOverTask task)
    {
        await _process.SendAsync(task, HandOverJson.Default.HandOverTask);
        await _process.ExpectAsync(RoleEvent.Ready, _stop);
    }

    public Task<RoleMessage> EndAsync() => _process.ExpectAsync(RoleEvent.Done, _stop);

    public async ValueTask DisposeAsync()
    {
        try
        {
            await _process.SendAsync(RoleChannel.Quit);
        }
        catch (BenchException)
        {
            // It is gone already, and the caller that waited for it got the reason.
        }
        await _process.DisposeAsync();
    }
}
