using LightQ.Broker.Replication;
using LightQ.Protocol.Batches;

namespace LightQ.ClusterTests.Log;

/// <summary>Claims and takes nothing in: a node that is up to mischief.</summary>
internal sealed class Bystander : IReplayTarget
{
    public void OnSnapshot(ReadOnlySpan<byte> state)
    {
        // It serves nobody.
    }

    public void OnPassed(ReadOnlySpan<byte> state)
    {
        // It serves nobody.
    }

    public void OnPositions(ReadOnlySpan<byte> changed)
    {
        // It serves nobody.
    }

    public void OnEnd(long nextOffset)
    {
        // It needs nothing.
    }

    public bool TryTake(in BatchView batch, bool isInSnapshot) => true;

    public ValueTask WaitForRoomAsync(CancellationToken cancellationToken) => ValueTask.CompletedTask;
}
