using System.Diagnostics;
using System.Net.Security;
using LightQ.Server.Transport;

namespace LightQ.Server.Tls;

/// <summary>Encrypts piece by piece into a block, and sends the block as plain frames are sent.</summary>
internal sealed class TlsFrameSender : FrameSender, ISendEvents
{
    private readonly SslStream _tls;
    private readonly CipherStream _cipher;
    private readonly SocketFrameSender _socket;
    private ReadOnlyMemory<byte> _head;
    private ReadOnlyMemory<byte> _tail;
    private bool _ending;
    private bool _hasSaidGoodbye;

    public TlsFrameSender(SslStream tls, CipherStream cipher, SocketFrameSender socket)
    {
        _tls = tls;
        _cipher = cipher;
        _socket = socket;
        _socket.Events = this;
    }

    public override SendResult TrySend(ReadOnlyMemory<byte> head, ReadOnlyMemory<byte> tail)
    {
        if (!_cipher.IsGathering)
            return SendResult.Failed; // A broker that stops says so, also to those whose handshake is under way.
        (_head, _tail) = (head, tail);
        return Continue();
    }

    public override void EndSending()
    {
        if (_cipher.IsGathering && IsDone(_tls.ShutdownAsync()))
        {
            _ending = true;
            if (_socket.TrySend(_cipher.Gathered, default) == SendResult.Pending)
                return;
            _hasSaidGoodbye = true;
            _cipher.ReturnBlock();
        }
        _socket.EndSending();
    }

    public override void Abort() => _socket.Abort();

    public override void Dispose()
    {
        if (!_ending || _hasSaidGoodbye)
            _cipher.ReturnBlock();
        else
            _cipher.ForgetBlock(); // The last send may still be under way.
        _socket.Dispose();
    }

    private SendResult Continue()
    {
        while (!_head.IsEmpty || !_tail.IsEmpty)
        {
            int piece = _cipher.Begin(),
                ofHead = Math.Min(_head.Length, piece),
                ofTail = Math.Min(_tail.Length, piece - ofHead);
            if (!Encrypt(_head[..ofHead]) || !Encrypt(_tail[..ofTail]))
                return SendResult.Failed;
            (_head, _tail) = (_head[ofHead..], _tail[ofTail..]);
            SendResult result = _socket.TrySend(_cipher.Gathered, default);
            if (result != SendResult.Sent)
                return result;
            _cipher.Clear();
        }
        _cipher.ReturnBlock();
        return SendResult.Sent;
    }

    private bool Encrypt(ReadOnlyMemory<byte> bytes)
    {
        if (bytes.IsEmpty)
            return true;
        ValueTask writing = _tls.WriteAsync(bytes);
        if (!writing.IsCompletedSuccessfully)
            return IsDone(writing.AsTask());
        writing.GetAwaiter().GetResult();
        return true;
    }

    /// <summary>
    /// Whether it went well: it fails when the reading has failed, and never waits, since what is written goes to
    /// memory.
    /// </summary>
    private static bool IsDone(Task writing)
    {
        Debug.Assert(writing.IsCompleted, "Encryption into memory waited for something.");
        _ = writing.Exception; // Seen.
        return writing.IsCompletedSuccessfully;
    }

    bool ISendEvents.OnWaiting(ref ReadOnlyMemory<byte> head, int held) =>
        _ending || Events?.OnWaiting(ref _head, _cipher.BlockBytes) != false;

    void ISendEvents.OnSendCompleted(bool sent)
    {
        if (_ending)
        {
            _socket.EndSending();
            return;
        }
        _cipher.Clear();
        SendResult result = sent ? Continue() : SendResult.Failed;
        if (result != SendResult.Pending)
            Events?.OnSendCompleted(result == SendResult.Sent);
    }
}
