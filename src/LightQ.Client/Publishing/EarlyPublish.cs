namespace LightQ.Client.Publishing;

/// <summary>A message that was published before its producer was open.</summary>
internal sealed class EarlyPublish
{
    private readonly TaskCompletionSource<Task<PublishAck>> _taken = new(
        TaskCreationOptions.RunContinuationsAsynchronously
    );

    // What listens to spans finds the caller's, not the opening's.
    private readonly ExecutionContext? _context = ExecutionContext.Capture();
    private readonly byte[] _body;
    private readonly MessageKey _key;
    private readonly MessageHeaders? _headers;
    private readonly PublishOptions _options;
    private readonly CancellationToken _cancellationToken;

    /// <summary>Copies all that its caller may change once the publish has returned.</summary>
    public EarlyPublish(
        ReadOnlySpan<byte> body,
        in MessageKey key,
        MessageHeaders? headers,
        in PublishOptions options,
        CancellationToken cancellationToken
    )
    {
        (_body, _key, _headers) = (body.ToArray(), key.Copy(), headers?.Copy());
        (_options, _cancellationToken) = (options, cancellationToken);
    }

    /// <summary>The ack. It is cancelled before a producer has the message, too. Await it once.</summary>
    public async ValueTask<PublishAck> AckAsync()
    {
        Task<PublishAck> published = await _taken.Task.WaitAsync(_cancellationToken).ConfigureAwait(false);
        return await published.ConfigureAwait(false);
    }

    /// <summary>
    /// Publishes it; false when a producer that <paramref name="mayLeave"/> it to another has failed for good, or was
    /// given up: the message was not taken.
    /// </summary>
    public bool TryPublish(Producer producer, bool mayLeave)
    {
        try
        {
            if (_context is null)
                Publish(producer);
            else
                ExecutionContext.Run(_context, by => Publish((Producer)by!), producer);
        }
        catch (LightQException) when (mayLeave && producer.IsBroken)
        {
            return false;
        }
        catch (Exception e)
        {
            // Of this message alone, and its caller's to see: those behind it go on.
            Fail(e);
        }
        return true;
    }

    public void Fail(Exception reason)
    {
        _taken.TrySetException(reason);
        _ = _taken.Task.Exception; // Looked at: the caller's token may have ended the wait.
    }

    private void Publish(Producer producer) =>
        _taken.TrySetResult(
            producer.PublishAsync(_body.AsMemory(), _options, _key, _headers, _cancellationToken).AsTask()
        );
}
