using System.Buffers;
using System.IO.Pipelines;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;

namespace LightQ.Server.Control;

/// <summary>
/// A body of gRPC-Web as text, whose Base64 is looked at before it is decoded: what decodes it leaves a read open when
/// it fails, which the web server then logs as a failure of the broker, with a stack, for a request of anybody.
/// </summary>
/// <remarks>Pieces may be padded each on its own, so padding may be anywhere at the end of a group of four.</remarks>
internal sealed class Base64Body(IRequestBodyPipeFeature inner) : PipeReader, IRequestBodyPipeFeature
{
    private const int Group = 4;

    private static readonly SearchValues<byte> Allowed = SearchValues.Create(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="u8
    );

    private ReadOnlySequence<byte> _buffer;
    private long _lookedAt;
    private int _place;
    private bool _isPadded;

    PipeReader IRequestBodyPipeFeature.Reader => this;

    /// <summary>Puts it in front of what decodes a request, if that is such text.</summary>
    public static Task InvokeAsync(HttpContext http, RequestDelegate next)
    {
        if (
            http.Request.ContentType?.StartsWith("application/grpc-web-text", StringComparison.OrdinalIgnoreCase)
                == true
            && http.Features.Get<IRequestBodyPipeFeature>() is { } body
        )
        {
            http.Features.Set<IRequestBodyPipeFeature>(new Base64Body(body));
        }
        return next(http);
    }

    public override async ValueTask<ReadResult> ReadAsync(CancellationToken cancellationToken = default) =>
        Look(await inner.Reader.ReadAsync(cancellationToken).ConfigureAwait(false));

    public override bool TryRead(out ReadResult result)
    {
        if (!inner.Reader.TryRead(out result))
            return false;
        result = Look(result);
        return true;
    }

    public override void AdvanceTo(SequencePosition consumed) => AdvanceTo(consumed, consumed);

    public override void AdvanceTo(SequencePosition consumed, SequencePosition examined)
    {
        _lookedAt -= _buffer.Slice(0, consumed).Length;
        _buffer = default;
        inner.Reader.AdvanceTo(consumed, examined);
    }

    public override void CancelPendingRead() => inner.Reader.CancelPendingRead();

    public override void Complete(Exception? exception = null) => inner.Reader.Complete(exception);

    private ReadResult Look(ReadResult result)
    {
        _buffer = result.Buffer;
        bool isBase64 = true;
        foreach (ReadOnlyMemory<byte> piece in _buffer.Slice(_lookedAt))
            isBase64 = isBase64 && Follow(piece.Span);
        _lookedAt = _buffer.Length;
        if (isBase64 && (!result.IsCompleted || _place == 0))
            return result;
        // Taken, since the web server takes what is left only of a connection that its client does not reset, and fails
        // at the next request where it has not.
        inner.Reader.AdvanceTo(_buffer.End);
        throw ControlErrors.Make(ErrorCode.InvalidArgument, "The body is no Base64, as its Content-Type says.");
    }

    private bool Follow(ReadOnlySpan<byte> text)
    {
        if (text.ContainsAnyExcept(Allowed))
            return false;
        foreach (byte b in text)
        {
            if (b == (byte)'=')
            {
                if (_place < 2)
                    return false;
                _isPadded = true;
            }
            else if (_isPadded)
            {
                return false;
            }
            _place = (_place + 1) % Group;
            _isPadded &= _place != 0;
        }
        return true;
    }
}
