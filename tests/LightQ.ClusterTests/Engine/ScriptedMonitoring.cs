using System.Net;
using System.Net.Sockets;
using System.Text;

namespace LightQ.ClusterTests.Engine;

/// <summary>A monitoring port that answers every request with one text.</summary>
internal sealed class ScriptedMonitoring : IAsyncDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly Task _serving;

    public ScriptedMonitoring(string answer)
    {
        Answer = answer;
        _listener.Start();
        _serving = ServeAsync();
    }

    public string Answer { get; set; }

    public string Status { get; init; } = "200 OK";

    public Uri Address => new($"http://{_listener.LocalEndpoint}");

    public async ValueTask DisposeAsync()
    {
        _listener.Stop();
        await _serving;
    }

    private async Task ServeAsync()
    {
        while (true)
        {
            try
            {
                using TcpClient client = await _listener.AcceptTcpClientAsync();
                NetworkStream stream = client.GetStream();
                byte[] request = new byte[4096];
                int read = await stream.ReadAsync(request);
                bool isVarz = Encoding
                    .ASCII.GetString(request, 0, read)
                    .StartsWith("GET /varz ", StringComparison.Ordinal);
                byte[] body = Encoding.UTF8.GetBytes(isVarz ? Answer : "not found");
                string head = $"HTTP/1.1 {Status}\r\nContent-Length: {body.Length}\r\nConnection: close\r\n\r\n";
                await stream.WriteAsync(Encoding.ASCII.GetBytes(head));
                await stream.WriteAsync(body);
            }
            catch (IOException)
            {
                // The client had enough.
            }
            catch (Exception e) when (e is SocketException or ObjectDisposedException or InvalidOperationException)
            {
                return;
            }
        }
    }
}
