using System.Buffers.Binary;
using System.IO.Compression;
using System.Net.Http.Headers;
using System.Text;
using Google.Protobuf;
using LightQ.IntegrationTests.Faults;
using LightQ.Protocol.Control;
using LightQ.Server;
using Xunit;

namespace LightQ.IntegrationTests.Hosting;

/// <summary>The dashboard of the program that users run: its files, and the calls that its page makes.</summary>
public sealed class DashboardProgramTests
{
    private const int FrameHeader = 5;
    private const byte TrailerFlag = 0x80;

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task It_serves_the_site_and_its_compressed_files()
    {
        Assert.SkipUnless(DashboardHost.IsInThisBuild, "The dashboard is not in this build: run packaging/dashboard.");
        using var directory = new TemporaryDirectory();
        await using var broker = new FaultBroker(directory.Path);
        await broker.StartAsync();
        using HttpClient web = WebOf(broker);

        string page = Encoding.UTF8.GetString((await GetAsync(web, "/")).Plain);
        Assert.Contains("blazor.webassembly.js", page, StringComparison.Ordinal);
        string[] named =
        [
            .. page.Split('"')
                .Where(p =>
                    p.EndsWith(".js", StringComparison.Ordinal) || p.EndsWith(".css", StringComparison.Ordinal)
                ),
            "favicon.svg",
            "visibility.js",
            "_framework/dotnet.js",
        ];
        Assert.True(named.Length > 5, string.Join(", ", named));
        foreach (string file in named)
        {
            (byte[] compressed, byte[] inflated) = await GetAsync(web, "/" + file);
            Assert.NotEmpty(inflated);
            using var plain = new HttpRequestMessage(HttpMethod.Get, "/" + file);
            using HttpResponseMessage answer = await web.SendAsync(plain, Cancel);
            Assert.Empty(answer.Content.Headers.ContentEncoding);
            Assert.Equal(inflated, await answer.Content.ReadAsByteArrayAsync(Cancel));
            Assert.NotEqual(compressed, inflated);
        }
    }

    [Fact]
    public async Task It_answers_a_call_and_sends_a_stream_over_gRPC_Web()
    {
        using var directory = new TemporaryDirectory();
        await using var broker = new FaultBroker(directory.Path);
        await broker.StartAsync();
        using HttpClient web = WebOf(broker);

        using HttpResponseMessage called = await CallAsync(web, "GetBrokerStats", new GetBrokerStatsRequest());
        await using Stream answer = await called.Content.ReadAsStreamAsync(Cancel);
        (byte flag, byte[] message) = await ReadAsync(answer);
        Assert.Equal(0, flag);
        var stats = GetBrokerStatsResponse.Parser.ParseFrom(message);
        Assert.Equal("ready", stats.Health);
        (flag, message) = await ReadAsync(answer);
        Assert.Equal(TrailerFlag, flag);
        Assert.Contains("grpc-status: 0", Encoding.ASCII.GetString(message), StringComparison.Ordinal);

        using HttpResponseMessage watched = await CallAsync(web, "WatchBrokerStats", new WatchBrokerStatsRequest());
        await using Stream stream = await watched.Content.ReadAsStreamAsync(Cancel);
        for (int i = 0; i < 2; i++)
        {
            (flag, message) = await ReadAsync(stream);
            Assert.Equal(0, flag);
            var response = WatchBrokerStatsResponse.Parser.ParseFrom(message);
            Assert.Equal(stats.BrokerId, response.Broker.BrokerId);
        }
    }

    private static HttpClient WebOf(FaultBroker broker) =>
        new() { BaseAddress = new Uri($"http://127.0.0.1:{broker.WebPort}") };

    private static async Task<(byte[] Compressed, byte[] Plain)> GetAsync(HttpClient web, string file)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, file);
        request.Headers.AcceptEncoding.ParseAdd("br");
        request.Headers.Accept.ParseAdd("text/html, */*");
        using HttpResponseMessage response = await web.SendAsync(request, Cancel);
        Assert.True(response.IsSuccessStatusCode, $"{file}: {response.StatusCode}");
        Assert.Equal(["br"], response.Content.Headers.ContentEncoding);
        byte[] compressed = await response.Content.ReadAsByteArrayAsync(Cancel);
        await using var inflating = new BrotliStream(new MemoryStream(compressed), CompressionMode.Decompress);
        using var plain = new MemoryStream();
        await inflating.CopyToAsync(plain, Cancel);
        return (compressed, plain.ToArray());
    }

    private static Task<HttpResponseMessage> CallAsync(HttpClient web, string name, IMessage message)
    {
        byte[] frame = [.. new byte[FrameHeader], .. message.ToByteArray()];
        BinaryPrimitives.WriteInt32BigEndian(frame.AsSpan(1), frame.Length - FrameHeader);
        var request = new HttpRequestMessage(HttpMethod.Post, "/lightq.control.v1.Stats/" + name)
        {
            Content = new ByteArrayContent(frame)
            {
                Headers = { ContentType = new MediaTypeHeaderValue("application/grpc-web+proto") },
            },
        };
        return web.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, Cancel);
    }

    private static async Task<(byte Flag, byte[] Body)> ReadAsync(Stream stream)
    {
        byte[] header = new byte[FrameHeader];
        await stream.ReadExactlyAsync(header, Cancel);
        byte[] body = new byte[BinaryPrimitives.ReadInt32BigEndian(header.AsSpan(1))];
        await stream.ReadExactlyAsync(body, Cancel);
        return (header[0], body);
    }
}
