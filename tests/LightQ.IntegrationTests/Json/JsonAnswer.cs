using System.Text.Json;
using Xunit;

namespace LightQ.IntegrationTests.Json;

/// <summary>The answer to a request in JSON.</summary>
internal sealed record JsonAnswer(int Status, JsonElement Body, string WwwAuthenticate)
{
    public string ErrorCode => Body.TryGetProperty("lightq-error-code", out JsonElement code) ? code.GetString()! : "";

    public string Message => Body.GetProperty("message").GetString()!;

    public JsonElement this[string name] => Body.GetProperty(name);

    public static async Task<JsonAnswer> ReadAsync(HttpResponseMessage response)
    {
        string text = await response.Content.ReadAsStringAsync(TestContext.Current.CancellationToken);
        Assert.True(
            response.Content.Headers.ContentType?.MediaType == "application/json",
            $"{response.StatusCode} {response.Content.Headers.ContentType}: {text}"
        );
        using var document = JsonDocument.Parse(text);
        return new JsonAnswer(
            (int)response.StatusCode,
            document.RootElement.Clone(),
            response.Headers.WwwAuthenticate.ToString()
        );
    }

    /// <summary>Expects a refusal.</summary>
    public void Refuses(int status, string code, string what)
    {
        Assert.True((Status, ErrorCode) == (status, code), $"{Status} {Body}");
        Assert.Contains(what, Message, StringComparison.Ordinal);
    }
}
