using LightQ.Grpc;
using LightQ.Protocol;
using LightQ.Server.Control;
using Xunit;

namespace LightQ.Tests.Server;

public sealed class ControlErrorsTests
{
    [Fact]
    public void Every_code_has_a_status_that_is_an_error() =>
        Assert.All(Enum.GetValues<ErrorCode>(), code => Assert.NotEqual(GrpcStatusCode.Ok, ControlErrors.StatusOf(code)));

    [Theory]
    [InlineData(ErrorCode.UnknownTopic, GrpcStatusCode.NotFound)]
    [InlineData(ErrorCode.TopicExists, GrpcStatusCode.AlreadyExists)]
    [InlineData(ErrorCode.InvalidArgument, GrpcStatusCode.InvalidArgument)]
    [InlineData(ErrorCode.Unauthenticated, GrpcStatusCode.Unauthenticated)]
    [InlineData(ErrorCode.ShuttingDown, GrpcStatusCode.Unavailable)]
    public void The_code_travels_in_the_trailer(ErrorCode code, GrpcStatusCode status)
    {
        GrpcException error = ControlErrors.Make(code, "why");
        Assert.Equal(new GrpcStatus(status, "why"), error.Status);
        Assert.Equal(code.ToString(), error.Trailers.GetValue("lightq-error-code"));
    }
}
