// Unsafe: builds the msghdr that sendmsg(2) reads; the spans are pinned for the call.

using System.Net.Sockets;
using System.Runtime.InteropServices;

namespace LightQ.Server.Transport;

/// <summary>One <c>sendmsg</c> for two pieces of memory, native or managed, that never waits.</summary>
internal static unsafe partial class GatheredSend
{
    private const int DontWait = 0x40;
    private const int NoSignal = 0x4000;
    private const int Again = 11;
    private const int Interrupted = 4;

    /// <summary>Whether this platform has it (Linux on 64 bits, whose structures are laid out below).</summary>
    public static bool IsSupported { get; } = OperatingSystem.IsLinux() && sizeof(nint) == 8;

    /// <returns>Bytes taken by the socket; 0 when it is full; -1 when the connection is gone.</returns>
    public static int TrySend(Socket socket, ReadOnlySpan<byte> head, ReadOnlySpan<byte> tail)
    {
        fixed (
            byte* h = head,
                t = tail
        )
        {
            Vector* vectors = stackalloc Vector[2];
            vectors[0] = new Vector { Base = h, Length = (nuint)head.Length };
            vectors[1] = new Vector { Base = t, Length = (nuint)tail.Length };
            var message = new Message
            {
                Vectors = head.IsEmpty ? vectors + 1 : vectors,
                Count = head.IsEmpty || tail.IsEmpty ? 1u : 2u,
            };
            while (true)
            {
                nint sent;
                try
                {
                    sent = SendMessage(socket.SafeHandle, &message, DontWait | NoSignal);
                }
                catch (ObjectDisposedException)
                {
                    return -1;
                }
                if (sent >= 0)
                    return (int)sent;
                int error = Marshal.GetLastPInvokeError();
                if (error != Interrupted)
                    return error == Again ? 0 : -1;
            }
        }
    }

    [LibraryImport("libc", EntryPoint = "sendmsg", SetLastError = true)]
    private static partial nint SendMessage(SafeHandle socket, Message* message, int flags);

    [StructLayout(LayoutKind.Sequential)]
    private struct Vector
    {
        public byte* Base;
        public nuint Length;
    }

    [StructLayout(LayoutKind.Sequential)]
    private struct Message
    {
        public void* Name;
        public uint NameLength;
        public Vector* Vectors;
        public nuint Count;
        public void* Control;
        public nuint ControlLength;
        public int Flags;
    }
}
