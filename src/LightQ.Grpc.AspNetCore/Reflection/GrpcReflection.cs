using Google.Protobuf;
using Google.Protobuf.Reflection;
using LightQ.Grpc.AspNetCore.Reflection.V1;
using Request = LightQ.Grpc.AspNetCore.Reflection.V1.ServerReflectionRequest;
using Response = LightQ.Grpc.AspNetCore.Reflection.V1.ServerReflectionResponse;

namespace LightQ.Grpc.AspNetCore.Reflection;

/// <summary>Answers reflection requests out of an index that is built at the first one, when all services are mapped.</summary>
internal sealed class GrpcReflection(Func<IEnumerable<ServiceDescriptor>> services)
{
    private readonly Lazy<DescriptorIndex> _index = new(() => new DescriptorIndex(services()));

    public async Task ServeAsync(IAsyncEnumerable<Request> requests, GrpcResponseStream<Response> responses, GrpcServerCallContext context)
    {
        await foreach (Request request in requests.ConfigureAwait(false))
            await responses.WriteAsync(Answer(request)).ConfigureAwait(false);
    }

    /// <summary>v1alpha has the messages of v1, byte for byte, so that one implementation serves both.</summary>
    public async Task ServeAlphaAsync(
        IAsyncEnumerable<V1Alpha.ServerReflectionRequest> requests,
        GrpcResponseStream<V1Alpha.ServerReflectionResponse> responses,
        GrpcServerCallContext context)
    {
        await foreach (V1Alpha.ServerReflectionRequest request in requests.ConfigureAwait(false))
        {
            Response response = Answer(Request.Parser.ParseFrom(request.ToByteString()));
            await responses.WriteAsync(V1Alpha.ServerReflectionResponse.Parser.ParseFrom(response.ToByteString())).ConfigureAwait(false);
        }
    }

    private Response Answer(Request request)
    {
        Response response = new() { ValidHost = request.Host, OriginalRequest = request };
        switch (request.MessageRequestCase)
        {
            case Request.MessageRequestOneofCase.ListServices:
                response.ListServicesResponse = new ListServiceResponse();
                response.ListServicesResponse.Service.Add(_index.Value.ServiceNames.Select(name => new ServiceResponse { Name = name }));
                break;
            case Request.MessageRequestOneofCase.FileByFilename:
                AnswerFile(response, _index.Value.FindFile(request.FileByFilename), request.FileByFilename);
                break;
            case Request.MessageRequestOneofCase.FileContainingSymbol:
                AnswerFile(response, _index.Value.FindSymbol(request.FileContainingSymbol), request.FileContainingSymbol);
                break;
            case Request.MessageRequestOneofCase.FileContainingExtension:
                ExtensionRequest extension = request.FileContainingExtension;
                FileDescriptor? declaring = _index.Value.FindExtension(extension.ContainingType, extension.ExtensionNumber);
                AnswerFile(response, declaring, $"{extension.ContainingType} [{extension.ExtensionNumber}]");
                break;
            case Request.MessageRequestOneofCase.AllExtensionNumbersOfType:
                AnswerExtensionNumbers(response, request.AllExtensionNumbersOfType);
                break;
            default:
                response.ErrorResponse = Error(GrpcStatusCode.InvalidArgument, "The request asks for nothing that reflection knows.");
                break;
        }

        return response;
    }

    private static void AnswerFile(Response response, FileDescriptor? file, string what)
    {
        if (file is null)
        {
            response.ErrorResponse = Error(GrpcStatusCode.NotFound, $"'{what}' is not known.");
            return;
        }

        response.FileDescriptorResponse = new FileDescriptorResponse();
        response.FileDescriptorResponse.FileDescriptorProto.Add(DescriptorIndex.Closure(file));
    }

    private void AnswerExtensionNumbers(Response response, string message)
    {
        if (_index.Value.FindExtensionNumbers(message) is not { } numbers)
        {
            response.ErrorResponse = Error(GrpcStatusCode.NotFound, $"'{message}' is not known.");
            return;
        }

        response.AllExtensionNumbersResponse = new ExtensionNumberResponse { BaseTypeName = message };
        response.AllExtensionNumbersResponse.ExtensionNumber.Add(numbers);
    }

    private static ErrorResponse Error(GrpcStatusCode code, string message) => new() { ErrorCode = (int)code, ErrorMessage = message };
}
