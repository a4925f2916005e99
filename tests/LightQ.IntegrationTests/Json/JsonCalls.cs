using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;
using Google.Protobuf;
using Google.Protobuf.Reflection;
using LightQ.Client;
using LightQ.Server.Json;
using Xunit;

namespace LightQ.IntegrationTests.Json;

/// <summary>Requests to the web port as curl makes them.</summary>
internal static class JsonCalls
{
    /// <summary>Sends a request.</summary>
    /// <param name="server">Where to.</param>
    /// <param name="verb">GET, POST, PUT or DELETE.</param>
    /// <param name="path">The path, with parameters.</param>
    /// <param name="body">The body; null for none, which POST and PUT send as an empty one.</param>
    /// <param name="token">A token; null for none.</param>
    /// <param name="type">What the body says that it is.</param>
    /// <param name="cancellationToken">Gives it up.</param>
    public static async Task<JsonAnswer> SendAsync(
        this TestServer server,
        string verb,
        string path,
        string? body = null,
        string? token = null,
        string? type = "application/json",
        CancellationToken? cancellationToken = null
    )
    {
        using HttpRequestMessage request = Request(verb, path, body, type);
        if (token is not null)
            request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", token);
        using HttpResponseMessage response = await server.Web.SendAsync(
            request,
            cancellationToken ?? TestContext.Current.CancellationToken
        );
        return await JsonAnswer.ReadAsync(response);
    }

    /// <summary>A request.</summary>
    public static HttpRequestMessage Request(string verb, string path, string? body, string? type = "application/json")
    {
        var request = new HttpRequestMessage(new HttpMethod(verb), path);
        if (body is not null || verb is "POST" or "PUT")
        {
            request.Content = new ByteArrayContent(Encoding.UTF8.GetBytes(body ?? ""));
            if (type is not null)
                request.Content.Headers.TryAddWithoutValidation("Content-Type", type);
        }
        return request;
    }

    /// <summary>A gRPC request as it is over HTTP.</summary>
    public static async Task<(ErrorCode Code, string Message)> SendAsync(
        this TestServer server,
        IMessage message,
        JsonRoute route,
        string? token
    )
    {
        string path = route.Pattern;
        JsonElement fields = JsonDocument.Parse(JsonFormatter.Default.Format(message)).RootElement;
        foreach (FieldDescriptor field in route.PathFields)
        {
            path = path.Replace(
                $"{{{field.Name}}}",
                Uri.EscapeDataString((string)field.Accessor.GetValue(message)),
                StringComparison.Ordinal
            );
        }

        if (!route.HasBody)
        {
            path +=
                "?"
                + string.Join(
                    '&',
                    fields
                        .EnumerateObject()
                        .Where(f => !route.PathFields.Any(p => p.JsonName == f.Name))
                        .Select(f => $"{f.Name}={Uri.EscapeDataString(f.Value.ToString())}")
                );
        }
        JsonAnswer answer = await server.SendAsync(route.Verb, path, route.HasBody ? fields.GetRawText() : null, token);
        return answer.Status == 200 ? (ErrorCode.None, "") : (Enum.Parse<ErrorCode>(answer.ErrorCode), answer.Message);
    }
}
