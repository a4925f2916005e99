using LightQ.Cli.Output;
using LightQ.Client;

namespace LightQ.Cli.Messages;

/// <summary>Publishes the lines of a stream, a message each, as fast as the broker takes them.</summary>
internal sealed class LinePublisher
{
    private const int BlockBytes = 1024 * 1024;
    private const int MaxMessageBytes = 64 * 1024 * 1024;

    private readonly Producer _producer;
    private readonly PublishOptions _options;
    private readonly MessageKey _key;
    private readonly MessageHeaders? _headers;
    private readonly PublishPace? _pace;
    private readonly bool _isPlain;
    private readonly LineBuffer _lines = new(BlockBytes, MaxMessageBytes);

    public LinePublisher(
        Producer producer,
        PublishOptions options,
        MessageKey key,
        MessageHeaders? headers,
        PublishPace? pace
    )
    {
        _producer = producer;
        _options = options;
        _key = key;
        _headers = headers;
        _pace = pace;
        _isPlain = !key.HasValue && headers is null && options == default;
    }

    /// <summary>Messages published so far.</summary>
    public long Messages { get; private set; }

    /// <summary>Their bodies' bytes.</summary>
    public long Bytes { get; private set; }

    /// <summary>Publishes everything and waits until it is acknowledged.</summary>
    public async Task PublishAsync(Stream source, CancellationToken cancellationToken)
    {
        while (true)
        {
            int count = await ReadAsync(source, cancellationToken);
            if (count == 0)
                break;
            _lines.Received(count);
            while (!PublishLines())
                await WaitAsync(cancellationToken);
        }
        while (_lines.TryPeekRest(out ReadOnlySpan<byte> rest) && !TryPublish(rest))
            await WaitAsync(cancellationToken);
        await _producer.FlushAsync(cancellationToken);
    }

    // A read from a terminal or a pipe cannot be cancelled; the wait for it can, and the process ends then.
    private Task<int> ReadAsync(Stream source, CancellationToken cancellationToken)
    {
        Memory<byte> room = _lines.Room();
        return source is FileStream
            ? Task.FromResult(source.Read(room.Span))
            : Task.Run(() => source.Read(room.Span), cancellationToken).WaitAsync(cancellationToken);
    }

    private async Task WaitAsync(CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (_pace is not null)
            await _pace.WaitAsync(cancellationToken);
        await _producer.WaitForRoomAsync(cancellationToken);
    }

    /// <returns>False when it has to wait: for the rate, or for room in the window.</returns>
    private bool PublishLines()
    {
        while (_lines.TryPeek(out ReadOnlySpan<byte> line))
        {
            if (!TryPublish(line))
                return false;
            _lines.Advance();
            if (_pace is not null)
                return false;
        }
        return true;
    }

    private bool TryPublish(ReadOnlySpan<byte> line)
    {
        try
        {
            if (!(_isPlain ? _producer.TryPublish(line) : _producer.TryPublish(line, _options, _key, _headers)))
                return false;
        }
        catch (LightQException e) when (e.Code == ErrorCode.MessageTooLarge)
        {
            throw new CommandException(ExitCode.Failed, $"Line {Messages + 1} is too large: {e.Message}", e);
        }
        Messages++;
        Bytes += line.Length;
        return true;
    }
}
