using System.Buffers;
using System.Buffers.Binary;
using System.IO.Compression;
using System.IO.Pipelines;
using Grpc.Core;
using LightQ.Broker;
using LightQ.Server.Limits;
using LightQ.Server.Security;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;

namespace LightQ.Server.Control;

/// <summary>
/// What a call reads of its request, message by message, before gRPC makes objects of it: counted among all bodies
/// under way, ended when it takes too long, and looked at when it is long. A caller without the right is rejected when
/// the name of the topic is here, and a request that would become too many objects when its bytes are.
/// </summary>
/// <remarks>
/// gRPC reads on until a message is whole, and so what it is given is looked at without being kept. A message of
/// <see cref="Short"/> bytes or less is not looked at: it is parsed sooner than that. One reader, as of any pipe.
/// </remarks>
/// <param name="http">The call.</param>
/// <param name="method"><c>/package.Service/Method</c>.</param>
/// <param name="isStream">Whether it may have more than one message.</param>
/// <param name="rules">What holds for it.</param>
internal sealed class RequestBody(HttpContext http, string method, bool isStream, RequestLimits rules)
    : PipeReader,
        IRequestBodyPipeFeature,
        IDisposable
{
    private const int Prefix = 5,
        Short = 4096,
        MostFieldsBeforeTopic = 16;

    private readonly IRequestBodyPipeFeature? _inner = http.Features.Get<IRequestBodyPipeFeature>();
    private readonly BodyAccount _account = rules.NewAccount(http);
    private readonly long _began = rules.Time.GetTimestamp();
    private ReadOnlySequence<byte> _buffer;
    private long _lookedAt;
    private long _inflated;
    private long _partialSince;
    private bool _isAsked;
    private volatile bool _isLate;

    PipeReader IRequestBodyPipeFeature.Reader => this;

    /// <summary>Found when it is first read: the call may get its body late.</summary>
    private PipeReader Inner => _inner!.Reader;

    public override async ValueTask<ReadResult> ReadAsync(CancellationToken cancellationToken = default)
    {
        ReadResult result;
        try
        {
            ValueTask<ReadResult> reading = Inner.ReadAsync(cancellationToken);
            result = reading.IsCompleted
                ? await reading.ConfigureAwait(false)
                : await AwaitAsync(reading).ConfigureAwait(false);
        }
        catch (IOException e)
        {
            // The client has reset the call or the connection, which its token may say later. No error of a disk.
            throw new RpcException(new Status(StatusCode.Cancelled, "The client ended the call.", e));
        }
        _buffer = result.Buffer;
        try
        {
            if (_isLate && result.IsCanceled)
                throw rules.Late(http);
            Count();
            while (TryTakeMessage(out ReadOnlySequence<byte> message, out bool isCompressed))
                await CheckAsync(message, isCompressed).ConfigureAwait(false);
            if (!_isAsked && _buffer.Length - _lookedAt > Short)
                await AskEarlyAsync().ConfigureAwait(false);
            return result;
        }
        catch (Exception e) when (e is BrokerException or InvalidDataException)
        {
            // What serves the port reads the rest, and cannot while a read is not ended. What is here is taken: of a
            // connection that its client resets, it would not be, and fail the broker's reading, not the client's.
            Inner.AdvanceTo(_buffer.End);
            throw e is BrokerException refused
                ? ControlErrors.Make(refused.Code, refused.Message)
                : ControlErrors.Make(ErrorCode.InvalidArgument, "The request is no gzip, as grpc-encoding says.");
        }
    }

    /// <summary>Nothing is here without looking at it, which may take a while.</summary>
    public override bool TryRead(out ReadResult result)
    {
        result = default;
        return false;
    }

    public override void AdvanceTo(SequencePosition consumed) => AdvanceTo(consumed, consumed);

    public override void AdvanceTo(SequencePosition consumed, SequencePosition examined)
    {
        long taken = _buffer.Slice(0, consumed).Length;
        _lookedAt -= Math.Min(_lookedAt, taken);
        long left = _buffer.Length - taken;
        if (left == 0)
            _partialSince = 0;
        else if (taken != 0)
            _partialSince = rules.Time.GetTimestamp();
        // The request of a call without a stream becomes objects that live as long as the call.
        if (isStream)
        {
            _inflated = 0;
            _account.Set(left);
        }
        _buffer = default;
        Inner.AdvanceTo(consumed, examined);
    }

    public override void CancelPendingRead() => Inner.CancelPendingRead();

    public override void Complete(Exception? exception = null) => Inner.Complete(exception);

    /// <summary>The call has ended.</summary>
    public void Dispose() => _account.Clear();

    private void Count()
    {
        _account.User = CallPrincipal.Find(http)?.Source;
        if (_buffer.Length + _inflated > BodyAccount.Free)
            _account.Set(_buffer.Length + _inflated);
        if (_partialSince == 0 && !_buffer.IsEmpty)
            _partialSince = rules.Time.GetTimestamp();
    }

    /// <summary>Waits for more of a message that has begun, or of the only one, no longer than it may take.</summary>
    private async ValueTask<ReadResult> AwaitAsync(ValueTask<ReadResult> reading)
    {
        if (isStream && _partialSince == 0)
            return await reading.ConfigureAwait(false);
        TimeSpan patience = rules.PatienceWith(http),
            left = patience - rules.Time.GetElapsedTime(isStream ? _partialSince : _began);
        using ITimer timer = rules.Time.CreateTimer(
            static self => ((RequestBody)self!).GiveUp(),
            this,
            left > TimeSpan.Zero ? left : TimeSpan.Zero,
            Timeout.InfiniteTimeSpan
        );
        return await reading.ConfigureAwait(false);
    }

    private void GiveUp()
    {
        _isLate = true;
        Inner.CancelPendingRead();
    }

    /// <summary>Takes the next message that is whole.</summary>
    /// <exception cref="BrokerException">The next one says that it is too long.</exception>
    private bool TryTakeMessage(out ReadOnlySequence<byte> message, out bool isCompressed)
    {
        (message, isCompressed) = (default, false);
        ReadOnlySequence<byte> left = _buffer.Slice(_lookedAt);
        if (left.Length < Prefix)
            return false;
        (isCompressed, uint length) = ReadPrefix(left);
        rules.DemandLength(http, length);
        if (left.Length - Prefix < length)
            return false;
        message = left.Slice(Prefix, length);
        _lookedAt += Prefix + length;
        return true;
    }

    private async ValueTask CheckAsync(ReadOnlySequence<byte> message, bool isCompressed)
    {
        if (isCompressed)
        {
            using IMemoryOwner<byte>? inflated = Inflate(message, out int length);
            // What gRPC does not know, it rejects.
            if (inflated is not null)
                await CheckAsync(new ReadOnlySequence<byte>(inflated.Memory[..length])).ConfigureAwait(false);
        }
        else if (message.Length > Short)
        {
            await CheckAsync(message).ConfigureAwait(false);
        }
        else
        {
            _isAsked |= isStream; // The call itself asks, of the first message.
        }
    }

    private async ValueTask CheckAsync(ReadOnlySequence<byte> message)
    {
        int most = rules.MostElements;
        RequestScan scan = RequestScan.Of(message, RequestShape.Of(method), most);
        (int elements, string? topic) = (scan.Elements, scan.Topic);
        // The call itself rejects a stream that does not begin with a topic.
        if (!isStream || (!_isAsked && topic is not null))
            await rules.DemandAsync(http, method, topic ?? "").ConfigureAwait(false);
        _isAsked = true;
        if (elements > most)
            throw rules.TooManyElements();
        _inflated += (long)elements * RequestScan.ElementBytes;
        _account.Set(_buffer.Length + _inflated);
    }

    /// <summary>Asks with the part of a long message that is here, if the topic's name is.</summary>
    private async ValueTask AskEarlyAsync()
    {
        ReadOnlySequence<byte> begun = _buffer.Slice(_lookedAt);
        if (ReadPrefix(begun).IsCompressed)
            return;
        string? topic = RequestScan.Of(begun.Slice(Prefix), RequestShape.Of(method), MostFieldsBeforeTopic).Topic;
        if (topic is null)
            return;
        await rules.DemandAsync(http, method, topic).ConfigureAwait(false);
        _isAsked = true; // Early: with one request, it is asked again when all of that is here.
    }

    private static (bool IsCompressed, uint Length) ReadPrefix(in ReadOnlySequence<byte> message)
    {
        Span<byte> prefix = stackalloc byte[Prefix];
        message.Slice(0, Prefix).CopyTo(prefix);
        return (prefix[0] != 0, BinaryPrimitives.ReadUInt32BigEndian(prefix[1..]));
    }

    /// <summary>A few bytes could become gigabytes.</summary>
    private IMemoryOwner<byte>? Inflate(in ReadOnlySequence<byte> message, out int length)
    {
        length = 0;
        if (http.Request.Headers["grpc-encoding"] != "gzip")
            return null;
        using var gzip = new GZipStream(new MemoryStream(message.ToArray()), CompressionMode.Decompress);
        IMemoryOwner<byte> inflated = MemoryPool<byte>.Shared.Rent(Short);
        try
        {
            int read;
            while ((read = gzip.Read(inflated.Memory.Span[length..])) != 0)
            {
                length += read;
                rules.DemandLength(http, (uint)length);
                if (length < inflated.Memory.Length)
                    continue;
                _account.Set(_buffer.Length + _inflated + (2L * length));
                IMemoryOwner<byte> larger = MemoryPool<byte>.Shared.Rent(2 * length);
                inflated.Memory.CopyTo(larger.Memory);
                inflated.Dispose();
                inflated = larger;
            }
            _inflated += length;
            return inflated;
        }
        catch
        {
            inflated.Dispose();
            throw;
        }
    }
}
