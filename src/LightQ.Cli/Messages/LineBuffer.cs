using LightQ.Cli.Output;

namespace LightQ.Cli.Messages;

/// <summary>
/// Splits a stream of bytes at LF, and only there: CR and bytes that are not UTF-8 are part of the line.
/// </summary>
/// <remarks>
/// Read into <see cref="Room"/>, tell <see cref="Received"/>, then peek and advance. A line is moved only when it
/// crosses the end of the buffer, and the buffer grows only for a line that is longer than half of it. Valid until the
/// next call of <see cref="Room"/>.
/// </remarks>
internal sealed class LineBuffer
{
    private const byte LineFeed = (byte)'\n';

    private readonly int _maxLineBytes;
    private byte[] _bytes;
    private int _start;
    private int _scanned;
    private int _lineEnd = -1;
    private int _end;

    public LineBuffer(int blockBytes, int maxLineBytes)
    {
        _bytes = GC.AllocateUninitializedArray<byte>(blockBytes);
        _maxLineBytes = maxLineBytes;
    }

    /// <summary>Where the next read goes; never empty.</summary>
    /// <exception cref="CommandException">The line at hand is longer than the limit.</exception>
    public Memory<byte> Room()
    {
        int pending = _end - _start;
        if (pending > _maxLineBytes)
        {
            throw new CommandException(
                ExitCode.Failed,
                $"A line is longer than {_maxLineBytes} bytes, the most that one message can be."
            );
        }

        if (pending == 0)
            (_start, _scanned, _end) = (0, 0, 0);
        else if (_bytes.Length - _end < _bytes.Length / 4)
            MoveToFront(pending);
        return _bytes.AsMemory(_end);
    }

    /// <summary>Says how many bytes were read.</summary>
    public void Received(int count) => _end += count;

    /// <summary>The line at the front, without its LF.</summary>
    /// <returns>False when its end has not been read yet.</returns>
    public bool TryPeek(out ReadOnlySpan<byte> line)
    {
        if (_lineEnd < 0)
        {
            int found = _bytes.AsSpan(_scanned, _end - _scanned).IndexOf(LineFeed);
            if (found < 0)
            {
                _scanned = _end;
                line = default;
                return false;
            }
            _lineEnd = _scanned + found;
        }
        line = _bytes.AsSpan(_start, _lineEnd - _start);
        return true;
    }

    /// <summary>Goes behind the line that was peeked.</summary>
    public void Advance()
    {
        _start = _scanned = _lineEnd + 1;
        _lineEnd = -1;
    }

    /// <summary>The last line, when the stream ended without a LF behind it.</summary>
    /// <returns>False when there is nothing.</returns>
    public bool TryPeekRest(out ReadOnlySpan<byte> line)
    {
        line = _bytes.AsSpan(_start, _end - _start);
        return !line.IsEmpty;
    }

    private void MoveToFront(int pending)
    {
        byte[] target = pending > _bytes.Length / 2 ? GC.AllocateUninitializedArray<byte>(2 * _bytes.Length) : _bytes;
        Buffer.BlockCopy(_bytes, _start, target, 0, pending);
        _bytes = target;
        _scanned -= _start;
        (_start, _end) = (0, pending);
    }
}
