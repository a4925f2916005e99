using System.Reflection;

namespace LightQ.Server;

/// <summary>The version of this build.</summary>
internal static class ServerVersion
{
    /// <summary>Such as 0.1.0, without the commit.</summary>
    public static string Text { get; } =
        typeof(ServerVersion)
            .Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()
            ?.InformationalVersion.Split('+')[0]
        ?? "0.0.0";
}
