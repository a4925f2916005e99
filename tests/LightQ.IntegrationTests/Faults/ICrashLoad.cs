using LightQ.Tests.Shared;

namespace LightQ.IntegrationTests.Faults;

/// <summary>What goes on while a broker crashes, and judges what it has kept.</summary>
internal interface ICrashLoad : IAsyncDisposable
{
    /// <summary>What should not have happened.</summary>
    IEnumerable<string> Violations { get; }

    /// <summary>Completes when the running load has done enough for a crash to come.</summary>
    Task UnderWay { get; }

    /// <summary>Creates the topics.</summary>
    Task BeginAsync(FaultBroker broker);

    /// <summary>Publishes and consumes until the token is cancelled, or the broker is gone.</summary>
    Task RunAsync(Random random, CancellationToken stop);

    /// <summary>Judges a crash, once the broker is back.</summary>
    Task VerifyAsync();

    /// <summary>At the end of a data directory: everything is read again, and has come.</summary>
    Task VerifyAllAsync();

    /// <summary>Adds its figures to a report.</summary>
    void AddTo(FaultRun run);
}
