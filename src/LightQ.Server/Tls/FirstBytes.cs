using System.Net.Sockets;

namespace LightQ.Server.Tls;

/// <summary>Tells TLS from frames by how a connection begins, without taking anything off it.</summary>
internal static class FirstBytes
{
    /// <summary>A handshake record's type, and the major version that all of TLS has.</summary>
    private const byte Handshake = 22,
        Major = 3;

    /// <summary>
    /// Whether these are the first bytes of TLS. As the length of a first frame they would be at least 66,326, which is
    /// too long for one.
    /// </summary>
    public static bool AreTls(ReadOnlySpan<byte> bytes) =>
        bytes is [Handshake] or [Handshake, Major] or [Handshake, Major, >= 1, ..];

    /// <summary>
    /// Waits for the first bytes and looks at them; what there is must do, or a peer that sends one byte would be asked
    /// again and again.
    /// </summary>
    /// <returns>Null when the peer has left without one.</returns>
    public static async Task<bool?> AreTlsAsync(Socket socket)
    {
        byte[] first = new byte[3];
        int count = await socket.ReceiveAsync(first, SocketFlags.Peek).ConfigureAwait(false);
        return count == 0 ? null : AreTls(first.AsSpan(0, count));
    }
}
