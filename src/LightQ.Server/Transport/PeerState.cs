using System.Net.Sockets;

namespace LightQ.Server.Transport;

/// <summary>What the system knows of a connection's other end, without reading from it.</summary>
internal static class PeerState
{
    private const int LevelTcp = 6,
        LinuxTcpInfo = 11;

    /// <summary>The first byte of Linux' <c>tcp_info</c>: established, of the states of <c>tcp_states.h</c>.</summary>
    private const byte Established = 1;

    /// <summary>Whether the peer has closed or reset the connection, or this side has.</summary>
    /// <remarks>
    /// On Linux the connection's state tells, also when there is something left to read. Elsewhere only a connection
    /// with nothing left to read is known to have ended.
    /// </remarks>
    public static bool IsGone(Socket socket)
    {
        try
        {
            if (OperatingSystem.IsLinux() && socket.ProtocolType == ProtocolType.Tcp)
            {
                Span<byte> state = stackalloc byte[1];
                return socket.GetRawSocketOption(LevelTcp, LinuxTcpInfo, state) == 1 && state[0] != Established;
            }
            return socket.Poll(0, SelectMode.SelectRead) && socket.Available == 0;
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            return true;
        }
    }
}
