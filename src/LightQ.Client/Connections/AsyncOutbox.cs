using System.Net.Security;
using System.Net.Sockets;

namespace LightQ.Client.Connections;

/// <summary>
/// Sends with asynchronous calls: an actor on the thread pool, or begun on the publisher's thread when the connection
/// is quiet.
/// </summary>
internal sealed class AsyncOutbox : Outbox, IThreadPoolWorkItem
{
    // A publisher's thread sends one round and no more; the pool's goes on for a while.
    private const int RoundsOfPublisher = 1;
    private const int RoundsOfPool = 64;

    private readonly Socket _socket;
    private readonly Action<Exception> _onFailure;
    private readonly TaskCompletionSource _idle = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private SslStream? _tls;
    private bool _posted;

    public AsyncOutbox(Socket socket, Action<Exception> onFailure, TimeProvider time)
        : base(time)
    {
        _socket = socket;
        _onFailure = onFailure;
    }

    /// <summary>Says what encrypts, before anything is sent; null for nothing.</summary>
    public void Begin(SslStream? tls) => _tls = tls;

    /// <summary>Completes when the closed outbox sends no more.</summary>
    public Task JoinAsync()
    {
        lock (Gate)
        {
            if (!IsBusy)
                _idle.TrySetResult();
        }
        return _idle.Task;
    }

    void IThreadPoolWorkItem.Execute()
    {
        lock (Gate)
        {
            _posted = false;
            if (!TryTakeRole())
                return;
        }
        _ = SendRoundsAsync(RoundsOfPool);
    }

    protected override void WakeSender()
    {
        if (_posted)
            return;
        _posted = true;
        ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
    }

    protected override void SendDirectly() => _ = SendRoundsAsync(RoundsOfPublisher);

    private async Task SendRoundsAsync(int rounds)
    {
        try
        {
            for (; rounds > 0 && TakeRound(); rounds--)
            {
                foreach (ArraySegment<byte> segment in Segments)
                {
                    ReadOnlyMemory<byte> left = segment;
                    if (_tls is not null)
                    {
                        await _tls.WriteAsync(left).ConfigureAwait(false);
                        continue;
                    }
                    while (!left.IsEmpty)
                        left = left[await _socket.SendAsync(left, SocketFlags.None).ConfigureAwait(false)..];
                }
                EndRound();
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException or IOException)
        {
            _onFailure(e);
        }
        finally
        {
            EndRound();
            ReleaseRole();
            if (IsClosed)
                _idle.TrySetResult();
        }
    }
}
