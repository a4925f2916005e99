using LightQ.Server.Configuration;
using LightQ.Server.Tls;

namespace LightQ.Server.Hosting;

/// <summary>What a running server takes over of another configuration.</summary>
internal static class ConfigurationReload
{
    /// <summary>
    /// The options with the live settings of others, and what is different. Reads the certificate files if others are
    /// named.
    /// </summary>
    /// <exception cref="ServerStartException">
    /// A server would not start with them, or not with what is taken over.
    /// </exception>
    public static (LightQServerOptions Options, IReadOnlyList<SettingReload> Settings) Merge(
        LightQServerOptions running,
        LightQServerOptions configured,
        DateTimeOffset now
    )
    {
        StartChecks.Check(configured);
        // Other files are used by the next start, which is not the time to find out that they cannot be.
        if (configured.Tls != running.Tls && configured.Tls.CertificateFile is not null)
            _ = CertificateFiles.Load(configured.Tls, now);
        LightQServerOptions merged = running;
        var changes = new List<SettingReload>();
        foreach (ServerSetting setting in ServerSettings.All)
        {
            string from = setting.Read(running),
                to = setting.Read(configured);
            if (from == to)
                continue;
            if (setting.IsLive)
                merged = setting.Apply(merged, to, "reload");
            changes.Add(new SettingReload(setting, setting.Show(from), setting.Show(to), setting.IsLive));
        }
        StartChecks.Check(merged);
        return (merged with { Origins = SettingSources.Merge(running, configured, merged) }, changes);
    }
}
