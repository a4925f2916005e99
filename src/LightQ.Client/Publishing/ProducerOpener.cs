using LightQ.Client.Batches;
using LightQ.Client.Connections;
using LightQ.Protocol;

namespace LightQ.Client.Publishing;

/// <summary>
/// Opens a producer: one stream, which says how many partitions there are, and then one for each of the others.
/// </summary>
/// <param name="links">The connections.</param>
/// <param name="topic">The topic.</param>
/// <param name="options">How it sends.</param>
/// <param name="batches">The batches that it shares with others; null for its own.</param>
internal sealed class ProducerOpener(BrokerLinks links, string topic, ProducerOptions options, SendBatchPool? batches)
{
    private readonly List<ProducerStream> _opened = [];
    private readonly TaskCompletionSource<LightQException> _life = new();
    private readonly ProducerIdentity _identity = new(options, links.Options.TimeProvider, links.Logger);

    public async Task<Producer> OpenAsync(CancellationToken cancellationToken)
    {
        try
        {
            ProducerStream first = Attach(Make(options.Partition));
            await first.FirstAnswer.WaitAsync(cancellationToken).ConfigureAwait(false);
            PartitionRouter? router =
                options.Partition is null && first.PartitionCount != 1
                    ? await OpenOthersAsync(first, cancellationToken).ConfigureAwait(false)
                    : null;
            return new Producer(first, router, options, links.Options.TimeProvider, _life.Task);
        }
        catch
        {
            foreach (ProducerStream stream in _opened)
                stream.Close();
            throw;
        }
    }

    /// <summary>
    /// Messages cannot be published to a partition that the broker rejects; the others are opened all the same.
    /// </summary>
    private async Task<PartitionRouter> OpenOthersAsync(ProducerStream first, CancellationToken cancellationToken)
    {
        if (first.KeyHashVersion != KeyRouting.Version)
        {
            throw new LightQException(
                ErrorCode.NotSupported,
                $"{topic} routes keys by rule {first.KeyHashVersion}, which this version of the client does not know: "
                    + $"it knows {KeyRouting.Version}."
            );
        }

        if (first.PartitionCount is < 1 or > ProtocolLimits.MaxPartitions)
        {
            throw new LightQException(
                ErrorCode.NotSupported,
                $"{topic} has {(uint)first.PartitionCount} partitions; this version of the client knows up to "
                    + $"{ProtocolLimits.MaxPartitions}."
            );
        }

        var streams = new ProducerStream[first.PartitionCount];
        for (int partition = 0; partition < streams.Length; partition++)
            streams[partition] = partition == first.Partition ? first : Make(partition);
        var router = new PartitionRouter(streams);
        foreach (ProducerStream stream in streams)
            stream.Router = router;
        foreach (ProducerStream stream in streams.Where(s => s != first))
            Attach(stream);
        await Task.WhenAll(streams.Select(s => s.FirstAnswer)).WaitAsync(cancellationToken).ConfigureAwait(false);
        return router;
    }

    private ProducerStream Make(int? partition) =>
        new(
            links,
            topic,
            partition,
            options,
            batches,
            _life,
            _identity,
            isReturning: _opened.Count != 0 && options.Name is not null
        );

    private ProducerStream Attach(ProducerStream stream)
    {
        _opened.Add(stream);
        links.Attach(stream);
        return stream;
    }
}
