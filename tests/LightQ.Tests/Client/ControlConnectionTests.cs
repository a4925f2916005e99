using System.Net;
using System.Net.Sockets;
using System.Text;
using LightQ.Client;
using LightQ.Client.Administration;
using Xunit;

namespace LightQ.Tests.Client;

/// <summary>
/// What a caller of the control plane is told when nothing, or nothing of the kind, is at the address.
/// </summary>
public sealed class ControlConnectionTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_refused_connection_names_the_address_and_the_cause()
    {
        using var nobody = new RefusingPort();
        LightQException error = await CallAsync($"lightq://127.0.0.1?control={nobody.Port}");
        Assert.Equal($"No connection to 127.0.0.1:{nobody.Port}: Connection refused.", error.Message);
    }

    [Fact]
    public async Task A_name_that_does_not_resolve_is_named()
    {
        LightQException error = await CallAsync("lightq://does-not-exist.invalid?control=5701");
        Assert.Equal("The name 'does-not-exist.invalid' could not be resolved.", error.Message);
    }

    [Theory]
    [InlineData("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")]
    [InlineData("+PONG\r\nthis is quite another protocol, and it goes on for a while\r\n")]
    [InlineData("")]
    public async Task A_port_that_does_not_speak_HTTP2_names_the_two_usual_mistakes(string answer)
    {
        using TcpListener listener = new(IPAddress.Loopback, 0);
        listener.Start();
        Task serving = AnswerAsync(listener, answer);
        int port = ((IPEndPoint)listener.LocalEndpoint).Port;
        LightQException error = await CallAsync($"lightq://127.0.0.1?control={port}");
        // The second when the client sees the end of the connection before what was said.
        string[] beginnings =
        [
            $"What answers at 127.0.0.1:{port} does not speak HTTP/2 as gRPC needs it; ",
            $"The connection to 127.0.0.1:{port} was lost before there was an answer: ",
        ];
        Assert.Contains(beginnings, begin => error.Message.StartsWith(begin, StringComparison.Ordinal));
        Assert.EndsWith(
            "is it the right port, and is TLS on at both ends or at neither (tls=true)?",
            error.Message,
            StringComparison.Ordinal
        );
        listener.Stop();
        await Assert.ThrowsAnyAsync<Exception>(() => serving);
    }

    [Fact]
    public async Task A_call_that_its_caller_ends_is_cancelled_with_the_callers_token()
    {
        using TcpListener listener = new(IPAddress.Loopback, 0);
        listener.Start(); // It never answers.
        using var ended = new CancellationTokenSource();
        await using var client = new LightQClient(
            $"lightq://127.0.0.1?control={((IPEndPoint)listener.LocalEndpoint).Port}"
        );
        Task<TopicInfo> call = client.Topics.GetAsync("t", ended.Token);
        await ended.CancelAsync();
        OperationCanceledException error = await Assert.ThrowsAnyAsync<OperationCanceledException>(() => call);
        Assert.Equal(ended.Token, error.CancellationToken);
    }

    private static async Task<LightQException> CallAsync(string url)
    {
        await using var client = new LightQClient(url);
        LightQException error = await Assert.ThrowsAsync<LightQException>(() => client.Topics.GetAsync("t", Token));
        Assert.Equal(ErrorCode.Unavailable, error.Code);
        return error;
    }

    /// <summary>Answers every connection with the same bytes, after it has said something, and closes it.</summary>
    private static async Task AnswerAsync(TcpListener listener, string answer)
    {
        byte[] received = new byte[1024];
        while (true)
        {
            using Socket socket = await listener.AcceptSocketAsync(Token);
            await socket.ReceiveAsync(received, Token);
            await socket.SendAsync(Encoding.ASCII.GetBytes(answer), Token);
            socket.Shutdown(SocketShutdown.Send);
            while (await socket.ReceiveAsync(received, Token) > 0) { }
        }
    }
}
