using Grpc.Core;
using LightQ.Client;
using LightQ.Server.Control;
using Xunit;

namespace LightQ.Tests.Server;

public sealed class ControlErrorsTests
{
    [Fact]
    public void Every_code_has_a_status_that_is_an_error() =>
        Assert.All(Enum.GetValues<ErrorCode>(), code => Assert.NotEqual(StatusCode.OK, ControlErrors.StatusOf(code)));

    [Theory]
    [InlineData(ErrorCode.UnknownTopic, StatusCode.NotFound)]
    [InlineData(ErrorCode.TopicExists, StatusCode.AlreadyExists)]
    [InlineData(ErrorCode.InvalidArgument, StatusCode.InvalidArgument)]
    [InlineData(ErrorCode.Unauthenticated, StatusCode.Unauthenticated)]
    [InlineData(ErrorCode.ShuttingDown, StatusCode.Unavailable)]
    public void The_code_travels_in_the_trailer(ErrorCode code, StatusCode status)
    {
        RpcException error = ControlErrors.Make(code, "why");
        Assert.Equal(new Status(status, "why"), error.Status);
        Assert.Equal(code.ToString(), error.Trailers.GetValue("lightq-error-code"));
        Google.Rpc.Status details = error.GetRpcStatus()!;
        Assert.Equal(((int)status, "why"), (details.Code, details.Message));
        Google.Rpc.ErrorInfo info = details.GetDetail<Google.Rpc.ErrorInfo>()!;
        Assert.Equal(("lightq", code.ToString()), (info.Domain, info.Reason));
    }
}
