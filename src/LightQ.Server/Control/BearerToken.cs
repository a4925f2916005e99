using Microsoft.Extensions.Primitives;

namespace LightQ.Server.Control;

/// <summary>The token of a call, in metadata <c>authorization: Bearer TOKEN</c>.</summary>
internal static class BearerToken
{
    /// <summary>The metadata's name.</summary>
    public const string MetadataName = "authorization";

    private const string Scheme = "Bearer ";

    /// <summary>The token, or null when there is none or the scheme is another.</summary>
    public static string? Read(StringValues authorization) =>
        authorization.Count == 1
        && authorization[0] is { } value
        && value.StartsWith(Scheme, StringComparison.OrdinalIgnoreCase)
            ? value[Scheme.Length..].Trim()
            : null;
}
