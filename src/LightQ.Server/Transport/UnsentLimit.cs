using System.Net.Sockets;

namespace LightQ.Server.Transport;

/// <summary>
/// How much the system takes of a connection ahead of what it can send, and for how long it keeps that for a peer that
/// takes nothing, where it can be told (Linux).
/// </summary>
/// <remarks>
/// Without it a send succeeds until the socket's buffer is full, and the system lets that grow to 4 MiB for a peer that
/// does not read. A hundred such subscribers took 208 MiB of the system's memory, and 33 with it; a load beside them,
/// which pays for the copies and for giving all that back when they are ended, had a p99 of 0.26 ms, and 0.20 with it
/// (0.17 and 0.18 in peace; twelve rounds in turn). It costs nothing that could be measured: throughput, catching up,
/// also over a round trip of 20 ms, and a fan-out to a thousand, in turn with 128 KiB to 1 MiB and without it, differed
/// no more than two runs of one kind.
/// <para>
/// The time is for what no code of the broker waits for any more: the last bytes of an answer, or a connection that has
/// been closed with some of them unsent. The system would keep both for as long as the peer's system answers.
/// </para>
/// </remarks>
internal static class UnsentLimit
{
    /// <summary>
    /// IPPROTO_TCP, TCP_USER_TIMEOUT in ms, and TCP_NOTSENT_LOWAT, the same on all architectures (linux/tcp.h).
    /// </summary>
    private const int Tcp = 6,
        UserTimeout = 18,
        NotSentLowWater = 25;

    /// <summary>
    /// What a machine that is busy elsewhere may be late with an acknowledgement: the system counts that too, and cuts
    /// the connection without a word.
    /// </summary>
    private static readonly TimeSpan LeastPatience = TimeSpan.FromSeconds(5);

    /// <summary>Sets it for what the listener accepts: a new connection inherits it, at no cost.</summary>
    /// <param name="listener">The listening socket.</param>
    /// <param name="limits">The limits.</param>
    public static void Set(Socket listener, DataPlaneOptions limits)
    {
        if (!OperatingSystem.IsLinux())
            return;
        try
        {
            listener.SetRawSocketOption(Tcp, NotSentLowWater, BitConverter.GetBytes(limits.MaxUnsentBytes));
            TimeSpan patience =
                limits.StalledReaderTimeout > LeastPatience ? limits.StalledReaderTimeout : LeastPatience;
            listener.SetRawSocketOption(Tcp, UserTimeout, BitConverter.GetBytes((int)patience.TotalMilliseconds));
        }
        catch (SocketException)
        {
            // What passes itself off as Linux may lack it; the broker works without, as it does on other systems.
        }
    }
}
