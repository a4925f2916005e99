using Google.Protobuf.Reflection;
using LightQ.Grpc;
using LightQ.Grpc.AspNetCore.Reflection.V1;
using Xunit;
using V1Alpha = LightQ.Grpc.AspNetCore.Reflection.V1Alpha;

namespace LightQ.Tests.Grpc;

public sealed class GrpcReflectionTests
{
    private static readonly GrpcMethod<ServerReflectionRequest, ServerReflectionResponse> Method =
        GrpcMethod.Create<ServerReflectionRequest, ServerReflectionResponse>(ReflectionReflection.Descriptor.Services[0], "ServerReflectionInfo");

    private static readonly GrpcMethod<V1Alpha.ServerReflectionRequest, V1Alpha.ServerReflectionResponse> AlphaMethod =
        GrpcMethod.Create<V1Alpha.ServerReflectionRequest, V1Alpha.ServerReflectionResponse>(
            V1Alpha.ReflectionReflection.Descriptor.Services[0], "ServerReflectionInfo");

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Every_service_is_listed_also_those_mapped_after_reflection()
    {
        ServerReflectionResponse response = await AskAsync(new ServerReflectionRequest { ListServices = "" });
        Assert.Equal(
            [
                "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection",
                "lightq.tests.echo.Echo",
            ],
            response.ListServicesResponse.Service.Select(s => s.Name));
    }

    [Theory]
    [InlineData("lightq.tests.echo.Echo")]
    [InlineData("lightq.tests.echo.Echo.Repeat")]
    [InlineData("lightq.tests.echo.EchoMessage")]
    [InlineData("lightq.tests.echo.EchoMessage.payload")]
    public async Task A_symbol_is_answered_with_its_file_and_all_that_the_file_imports(string symbol)
    {
        ServerReflectionResponse response = await AskAsync(new ServerReflectionRequest { FileContainingSymbol = symbol });
        Assert.Equal(["Grpc/echo.proto", "google/protobuf/timestamp.proto"], FileNames(response));
        Assert.Equal(symbol, response.OriginalRequest.FileContainingSymbol);
    }

    [Fact]
    public async Task Nested_types_are_symbols_too()
    {
        ServerReflectionRequest request = new() { FileContainingSymbol = "grpc.health.v1.HealthCheckResponse.ServingStatus" };
        Assert.Equal(["grpc/health/v1/health.proto"], FileNames(await AskAsync(request)));
    }

    [Fact]
    public async Task A_file_is_found_by_its_name_also_an_imported_one()
    {
        Assert.Equal(["google/protobuf/timestamp.proto"], FileNames(await AskAsync(new ServerReflectionRequest { FileByFilename = "google/protobuf/timestamp.proto" })));
    }

    [Fact]
    public async Task What_is_not_known_is_NOT_FOUND_and_the_stream_goes_on()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        using GrpcChannel channel = server.Connect();
        using GrpcDuplexStreamingCall<ServerReflectionRequest, ServerReflectionResponse> call = channel.DuplexStreaming(Method, null, Token);
        ServerReflectionRequest[] requests =
        [
            new() { FileByFilename = "no.proto" },
            new() { FileContainingSymbol = "no.Symbol" },
            new() { FileContainingExtension = new ExtensionRequest { ContainingType = "lightq.tests.echo.EchoMessage", ExtensionNumber = 100 } },
            new() { AllExtensionNumbersOfType = "no.Type" },
        ];
        foreach (ServerReflectionRequest request in requests)
        {
            await call.WriteAsync(request, Token);
            Assert.Equal((int)GrpcStatusCode.NotFound, (await call.ReadAsync(Token))!.ErrorResponse.ErrorCode);
        }

        await call.WriteAsync(new ServerReflectionRequest { AllExtensionNumbersOfType = "lightq.tests.echo.EchoMessage" }, Token);
        Assert.Empty((await call.ReadAsync(Token))!.AllExtensionNumbersResponse.ExtensionNumber);
        await call.WriteAsync(new ServerReflectionRequest(), Token);
        Assert.Equal((int)GrpcStatusCode.InvalidArgument, (await call.ReadAsync(Token))!.ErrorResponse.ErrorCode);
    }

    [Fact]
    public async Task Older_clients_get_the_same_answers_from_v1alpha()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        using GrpcChannel channel = server.Connect();
        using GrpcDuplexStreamingCall<V1Alpha.ServerReflectionRequest, V1Alpha.ServerReflectionResponse> call =
            channel.DuplexStreaming(AlphaMethod, null, Token);
        await call.WriteAsync(new V1Alpha.ServerReflectionRequest { FileContainingSymbol = "lightq.tests.echo.Echo", Host = "h" }, Token);
        V1Alpha.ServerReflectionResponse response = (await call.ReadAsync(Token))!;
        Assert.Equal(2, response.FileDescriptorResponse.FileDescriptorProto.Count);
        Assert.Equal("h", response.ValidHost);
    }

    private static IEnumerable<string> FileNames(ServerReflectionResponse response) =>
        response.FileDescriptorResponse.FileDescriptorProto.Select(bytes => FileDescriptorProto.Parser.ParseFrom(bytes).Name);

    private static async Task<ServerReflectionResponse> AskAsync(ServerReflectionRequest request)
    {
        await using EchoServer server = await EchoServer.StartAsync();
        using GrpcChannel channel = server.Connect();
        using GrpcDuplexStreamingCall<ServerReflectionRequest, ServerReflectionResponse> call = channel.DuplexStreaming(Method, null, Token);
        await call.WriteAsync(request, Token);
        return (await call.ReadAsync(Token))!;
    }
}
