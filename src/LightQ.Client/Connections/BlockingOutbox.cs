using System.Net.Security;
using System.Net.Sockets;

namespace LightQ.Client.Connections;

/// <summary>Sends with blocking calls, on a thread of its own or on the publisher's.</summary>
internal sealed class BlockingOutbox : Outbox
{
    private readonly Socket _socket;
    private readonly Action<Exception> _onFailure;
    private readonly Thread _thread;
    private SslStream? _tls;

    public BlockingOutbox(Socket socket, Action<Exception> onFailure, TimeProvider time)
        : base(time)
    {
        _socket = socket;
        _onFailure = onFailure;
        _thread = new Thread(SendUntilClosed) { IsBackground = true, Name = "LightQ send" };
    }

    /// <summary>Begins to send.</summary>
    /// <param name="tls">What encrypts; null for nothing.</param>
    public void Start(SslStream? tls)
    {
        _tls = tls;
        _thread.UnsafeStart();
    }

    /// <summary>
    /// Waits until no thread sends any more. The outbox must be closed and the socket too, which ends a send under way.
    /// </summary>
    public void Join()
    {
        lock (Gate)
        {
            while (IsBusy)
                Monitor.Wait(Gate);
        }
        if (_thread.ThreadState.HasFlag(ThreadState.Unstarted))
            return;
        _thread.Join();
    }

    protected override void WakeSender() => Monitor.Pulse(Gate);

    protected override void SendDirectly()
    {
        try
        {
            SendRound();
        }
        finally
        {
            ReleaseRole();
        }
    }

    private void SendUntilClosed()
    {
        while (true)
        {
            lock (Gate)
            {
                while (!TryTakeRole())
                {
                    if (IsClosed)
                        return;
                    Monitor.Wait(Gate);
                }
            }
            try
            {
                while (SendRound()) { }
            }
            finally
            {
                ReleaseRole();
            }
        }
    }

    private bool SendRound()
    {
        try
        {
            if (!TakeRound())
                return false;
            if (_tls is not null)
                SendEncrypted(_tls);
            else if (Segments.Count == 1)
                SendAll(Segments[0]);
            else
                SendGathered();
            return true;
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException or IOException)
        {
            _onFailure(e);
            return false;
        }
        finally
        {
            EndRound();
        }
    }

    private void SendEncrypted(SslStream tls)
    {
        foreach (ArraySegment<byte> segment in Segments)
            tls.Write(segment.Array!, segment.Offset, segment.Count);
    }

    private void SendGathered()
    {
        int total = 0;
        foreach (ArraySegment<byte> segment in Segments)
            total += segment.Count;
        int sent = _socket.Send(Segments, SocketFlags.None);
        // A blocking send takes everything unless a signal interrupts it; then the rest goes piece by piece.
        for (int i = 0; sent < total && i < Segments.Count; i++)
        {
            int count = Segments[i].Count;
            if (sent >= count)
            {
                sent -= count;
                total -= count;
                continue;
            }
            SendAll(Segments[i][sent..]);
            total -= count;
            sent = 0;
        }
    }

    private void SendAll(ReadOnlySpan<byte> bytes)
    {
        while (!bytes.IsEmpty)
            bytes = bytes[_socket.Send(bytes)..];
    }
}
