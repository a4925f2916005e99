using System.IO.Compression;
using Grpc.Core;
using Grpc.Net.Compression;

namespace LightQ.Server.Control;

/// <summary>
/// Inflates what clients send compressed, up to the largest message: a few bytes could become gigabytes.
/// </summary>
/// <param name="mostBytes">The largest message, inflated.</param>
internal sealed class InflationLimit(int mostBytes) : ICompressionProvider
{
    private readonly GzipCompressionProvider _gzip = new(CompressionLevel.Fastest);

    public string EncodingName => _gzip.EncodingName;

    public Stream CreateCompressionStream(Stream stream, CompressionLevel? compressionLevel) =>
        _gzip.CreateCompressionStream(stream, compressionLevel);

    public Stream CreateDecompressionStream(Stream stream) =>
        new Limited(_gzip.CreateDecompressionStream(stream), mostBytes);

    /// <summary>Reads as many bytes, and rejects the next.</summary>
    private sealed class Limited(Stream inflated, int mostBytes) : Stream
    {
        private int _left = mostBytes;

        public override bool CanRead => true;

        public override bool CanSeek => false;

        public override bool CanWrite => false;

        public override long Length => throw new NotSupportedException();

        public override long Position
        {
            get => throw new NotSupportedException();
            set => throw new NotSupportedException();
        }

        public override int Read(Span<byte> buffer)
        {
            int read = inflated.Read(buffer);
            _left -= read;
            return _left >= 0
                ? read
                : throw new RpcException(
                    new Status(StatusCode.ResourceExhausted, "The message is longer when it is inflated.")
                );
        }

        public override int Read(byte[] buffer, int offset, int count) => Read(buffer.AsSpan(offset, count));

        public override void Flush() => throw new NotSupportedException();

        public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

        public override void SetLength(long value) => throw new NotSupportedException();

        public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

        protected override void Dispose(bool disposing)
        {
            if (disposing)
                inflated.Dispose();
            base.Dispose(disposing);
        }
    }
}
