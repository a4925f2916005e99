// Unsafe: system calls take addresses.
using System.Runtime.InteropServices;
using System.Text;
using Microsoft.Win32.SafeHandles;

namespace LightQ.Cli.Output;

/// <summary>
/// Standard output that reports when it has no reader any more. The runtime's own stream swallows what is written then.
/// </summary>
internal sealed unsafe partial class StandardOutput : Stream
{
    private const int Descriptor = 1;
    private const int Interrupted = 4,
        BrokenPipe = 32; // EINTR, EPIPE
    private const short Writable = 4,
        Gone = 8 | 16 | 32; // POLLOUT; POLLERR, POLLHUP, POLLNVAL
    private const int WindowsOutput = -11; // STD_OUTPUT_HANDLE
    private const int WindowsBrokenPipe = unchecked((int)0x8007006D),
        WindowsNoData = unchecked((int)0x800700E8);

    private static readonly Lazy<CancellationToken> LazyClosed = new(WatchClosing);

    private readonly Stream? _windows = OperatingSystem.IsWindows() ? OpenWindows() : null;

    /// <summary>
    /// Cancelled when standard output has no reader any more, also while nothing is written. Windows reports it only to
    /// a process that writes.
    /// </summary>
    public static CancellationToken Closed => LazyClosed.Value;

    public override bool CanRead => false;

    public override bool CanSeek => false;

    public override bool CanWrite => true;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    private static int TryAgain => OperatingSystem.IsLinux() ? 11 : 35; // EAGAIN

    /// <summary>Has what commands print go through such a stream, too; a terminal is always read.</summary>
    public static void Install()
    {
        if (!Console.IsOutputRedirected)
            return;
        Encoding encoding = Console.OutputEncoding;
        if (!encoding.Preamble.IsEmpty)
            encoding = new UTF8Encoding(encoderShouldEmitUTF8Identifier: false);
        Console.SetOut(new StreamWriter(new StandardOutput(), encoding) { AutoFlush = true });
    }

    /// <exception cref="OutputClosedException">It has no reader any more.</exception>
    public override void Write(ReadOnlySpan<byte> buffer)
    {
        if (_windows is not null)
        {
            WriteWindows(_windows, buffer);
            return;
        }
        while (!buffer.IsEmpty)
        {
            nint written;
            fixed (byte* bytes = buffer)
                written = Write(Descriptor, bytes, (nuint)buffer.Length);
            if (written >= 0)
            {
                buffer = buffer[(int)written..];
                continue;
            }
            int error = Marshal.GetLastPInvokeError();
            if (error == BrokenPipe)
                throw new OutputClosedException();
            if (error == TryAgain)
                Poll(Writable); // A process that shares it has made it non-blocking.
            else if (error != Interrupted)
                throw new IOException($"Standard output takes nothing: {Marshal.GetPInvokeErrorMessage(error)}.");
        }
    }

    public override void Write(byte[] buffer, int offset, int count) => Write(buffer.AsSpan(offset, count));

    public override void Flush() => _windows?.Flush();

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    /// <summary>The handle itself for a pipe: what <see cref="Console"/> opens swallows its end there, too.</summary>
    private static Stream OpenWindows()
    {
        Stream usual = Console.OpenStandardOutput();
        if (!Console.IsOutputRedirected)
            return usual;
        var pipe = new FileStream(
            new SafeFileHandle(WindowsHandle(WindowsOutput), ownsHandle: false),
            FileAccess.Write,
            bufferSize: 0
        );
        return pipe.CanSeek ? usual : pipe;
    }

    private static void WriteWindows(Stream output, ReadOnlySpan<byte> buffer)
    {
        try
        {
            output.Write(buffer);
        }
        catch (IOException e) when (e.HResult is WindowsBrokenPipe or WindowsNoData)
        {
            throw new OutputClosedException();
        }
    }

    private static CancellationToken WatchClosing()
    {
        if (OperatingSystem.IsWindows() || !Console.IsOutputRedirected)
            return CancellationToken.None;
        var closed = new CancellationTokenSource(); // For as long as the process lives.
        var watch = new Thread(() =>
        {
            if ((Poll(events: 0) & Gone) != 0)
                closed.Cancel();
        })
        {
            IsBackground = true,
            Name = "LightQ output",
        };
        watch.Start();
        return closed.Token;
    }

    /// <summary>Waits until one of the events comes, or the other end is gone.</summary>
    private static short Poll(short events)
    {
        while (true)
        {
            var output = new Polled { Descriptor = Descriptor, Events = events };
            if (Poll(&output, 1, Timeout.Infinite) >= 0)
                return output.Returned;
            if (Marshal.GetLastPInvokeError() != Interrupted)
                return 0;
        }
    }

    [LibraryImport("libc", EntryPoint = "write", SetLastError = true)]
    private static partial nint Write(int descriptor, byte* bytes, nuint count);

    [LibraryImport("libc", EntryPoint = "poll", SetLastError = true)]
    private static partial int Poll(Polled* polled, nuint count, int milliseconds);

    [LibraryImport("kernel32", EntryPoint = "GetStdHandle")]
    private static partial nint WindowsHandle(int which);

    private struct Polled // struct pollfd
    {
        public int Descriptor;
        public short Events;
        public short Returned;
    }
}
