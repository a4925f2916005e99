using System.Net;
using System.Net.Sockets;

namespace LightQ.Server.Limits;

/// <summary>
/// Accepts the connections of a port, and waits between tries when that fails: without descriptors, trying at once
/// again would take a whole core.
/// </summary>
/// <remarks>
/// One caller at a time. Clients wait meanwhile in the listener's backlog. One that would get a descriptor of the
/// reserve is closed at once.
/// </remarks>
internal sealed class SocketAcceptor(Socket listener, ServerLimits limits, TimeProvider time)
{
    private static readonly TimeSpan FirstWait = TimeSpan.FromMilliseconds(10),
        LongestWait = TimeSpan.FromSeconds(1);

    private readonly int _port = ((IPEndPoint)listener.LocalEndPoint!).Port;

    /// <summary>The next connection.</summary>
    /// <returns>Null when the listener is closed, or the wait was cancelled.</returns>
    public async ValueTask<Socket?> AcceptAsync(CancellationToken cancellationToken)
    {
        TimeSpan wait = FirstWait;
        while (true)
        {
            try
            {
                Socket socket = await listener.AcceptAsync(cancellationToken).ConfigureAwait(false);
                if (!DescriptorReserve.Has(socket))
                    return socket;
                socket.Dispose();
                await BackOffAsync(
                        $"of {DescriptorReserve.Limit} descriptors the last {DescriptorReserve.Size} are kept for "
                            + $"files and threads"
                    )
                    .ConfigureAwait(false);
            }
            catch (Exception e)
                when (e
                        is ObjectDisposedException
                            or OperationCanceledException
                            or SocketException
                            {
                                SocketErrorCode: SocketError.OperationAborted or SocketError.Interrupted
                            }
                )
            {
                return null;
            }
            catch (SocketException e)
                when (e.SocketErrorCode is SocketError.ConnectionReset or SocketError.ConnectionAborted)
            {
                // It has left while it waited; the next may be there.
            }
            catch (SocketException e)
            {
                await BackOffAsync(e.Message).ConfigureAwait(false);
            }
        }

        async Task BackOffAsync(string reason)
        {
            limits.OnAcceptFailed(_port, reason);
            await Task.Delay(wait, time, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            wait = wait * 2 < LongestWait ? wait * 2 : LongestWait;
        }
    }
}
