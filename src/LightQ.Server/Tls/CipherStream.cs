using System.Net.Sockets;
using LightQ.Server.Transport;

namespace LightQ.Server.Tls;

/// <summary>
/// What is under the <c>SslStream</c> of a data-plane connection: the socket, and after the handshake on the way out a
/// block of memory.
/// </summary>
/// <remarks>
/// Encryption then never waits, and what it made of one piece leaves by one system call instead of one for each record
/// of 16 KiB. Reads of the handshake complete on the pool: signing takes a socket thread's time from its other
/// connections.
/// </remarks>
internal sealed class CipherStream(Socket socket, DataPlaneBlocks pools) : NetworkStream(socket, ownsSocket: false)
{
    private BlockPool _blocks = pools.Receive;
    private byte[]? _block;
    private int _filled;
    private volatile bool _gathers;

    /// <summary>Whether the handshake is over.</summary>
    public bool IsGathering => _gathers;

    /// <summary>What was encrypted and not yet sent.</summary>
    public ReadOnlyMemory<byte> Gathered => _block.AsMemory(0, _filled);

    /// <summary>Bytes of the block.</summary>
    public int BlockBytes => _block?.Length ?? 0;

    /// <summary>Takes a block, if there is none.</summary>
    /// <returns>
    /// How much may be encrypted into it, half of it: room for what encryption adds, and the receiver decrypts one
    /// piece while the next is encrypted.
    /// </returns>
    public int Begin()
    {
        if (_block is null)
        {
            _blocks = pools.Next;
            _block = _blocks.Rent();
        }
        return _block.Length / 2;
    }

    /// <summary>The handshake is over: keeps what is written from now on.</summary>
    public void BeginGathering() => _gathers = true;

    /// <summary>Forgets what was sent.</summary>
    public void Clear() => _filled = 0;

    /// <summary>Gives the block back.</summary>
    public void ReturnBlock()
    {
        if (_block is null)
            return;
        _blocks.Return(_block);
        (_block, _filled) = (null, 0);
    }

    /// <summary>Leaves the block to the collector.</summary>
    public void ForgetBlock()
    {
        if (_block is null)
            return;
        _blocks.Forget();
        (_block, _filled) = (null, 0);
    }

    /// <inheritdoc/>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        _gathers ? base.ReadAsync(buffer, cancellationToken) : ReadOnPoolAsync(buffer, cancellationToken);

    /// <inheritdoc/>
    public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        if (!_gathers)
            return base.WriteAsync(buffer, cancellationToken);
        Begin(); // What ends the connection is not begun by the sender.
        buffer.Span.CopyTo(_block.AsSpan(_filled));
        _filled += buffer.Length;
        return ValueTask.CompletedTask;
    }

    private async ValueTask<int> ReadOnPoolAsync(Memory<byte> buffer, CancellationToken cancellationToken)
    {
        int count = await base.ReadAsync(buffer, cancellationToken).ConfigureAwait(false);
        await Task.Yield();
        return count;
    }
}
