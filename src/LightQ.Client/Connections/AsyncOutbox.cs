using System.Net.Sockets;

namespace LightQ.Client.Connections;

/// <summary>Sends with asynchronous calls: an actor on the thread pool, or begun on the publisher's thread when the connection is quiet.</summary>
internal sealed class AsyncOutbox : Outbox, IThreadPoolWorkItem
{
    private readonly Socket _socket;
    private readonly Action<Exception> _onFailure;
    private readonly TaskCompletionSource _idle = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private bool _posted;

    public AsyncOutbox(Socket socket, Action<Exception> onFailure)
    {
        _socket = socket;
        _onFailure = onFailure;
    }

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
        SendDirectly();
    }

    protected override void WakeSender()
    {
        if (_posted)
            return;
        _posted = true;
        ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
    }

    protected override void SendDirectly() => _ = SendRoundsAsync();

    private async Task SendRoundsAsync()
    {
        try
        {
            while (TakeRound())
            {
                foreach (ArraySegment<byte> segment in Segments)
                {
                    ReadOnlyMemory<byte> left = segment;
                    while (!left.IsEmpty)
                        left = left[await _socket.SendAsync(left, SocketFlags.None).ConfigureAwait(false)..];
                }
                EndRound();
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
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
