namespace LightQ.Server.Configuration;

/// <summary>A setting with the value in force.</summary>
/// <param name="Setting">The setting.</param>
/// <param name="Value">The value as text; for a secret, only whether there is one.</param>
/// <param name="Source">Where the value came from: <c>default</c>, a file, an environment variable or a flag.</param>
public sealed record ConfiguredValue(ServerSetting Setting, string Value, string Source);
