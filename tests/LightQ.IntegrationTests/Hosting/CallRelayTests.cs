using LightQ.Server.Web;
using Microsoft.AspNetCore.Http;
using Xunit;

namespace LightQ.IntegrationTests.Hosting;

/// <summary>What <c>lightq dashboard --server</c> answers always says how the call ended.</summary>
public sealed class CallRelayTests
{
    [Theory]
    [InlineData("/lightq.control.v1.Stats/GetBrokerStats", "0")]
    [InlineData("/lightq.control.v1.Stats/GetBrokerStats?x", "12")]
    [InlineData("/lightq.control.v1.Stats/GetBrokerStats#x", "12")]
    [InlineData("/lightq.control.v1.Stats\\GetBrokerStats", "12")]
    [InlineData("/lightq.control.v1.Stats/Get%42rokerStats", "12")]
    [InlineData("/lightq.control.v1.Stats/GetBrökerStats", "12")]
    [InlineData("/lightq.control.v1.Stats/Nothing", "12")]
    [InlineData("/lightq.control.v1.None/GetBrokerStats", "12")]
    [InlineData("//lightq.invalid/GetBrokerStats", "12")]
    [InlineData("/../GetBrokerStats", "12")]
    public async Task Every_path_has_a_status(string path, string status)
    {
        await using TestServer server = await TestServer.StartAsync();
        using var relay = new CallRelay(
            new Uri($"http://127.0.0.1:{server.ControlPort}"),
            null,
            TestContext.Current.CancellationToken
        );
        var http = new DefaultHttpContext();
        var trailers = new HeaderDictionary();
        http.Features.Set<Microsoft.AspNetCore.Http.Features.IHttpResponseTrailersFeature>(new Trailing(trailers));
        http.Request.ContentType = "application/grpc";
        http.Request.Path = new PathString(path);
        http.Request.Body = new MemoryStream([0, 0, 0, 0, 0]);
        await relay.InvokeAsync(http);
        Assert.Equal(status, $"{http.Response.Headers["grpc-status"]}{trailers["grpc-status"]}");
    }

    private sealed class Trailing(IHeaderDictionary trailers)
        : Microsoft.AspNetCore.Http.Features.IHttpResponseTrailersFeature
    {
        public IHeaderDictionary Trailers { get; set; } = trailers;
    }
}
