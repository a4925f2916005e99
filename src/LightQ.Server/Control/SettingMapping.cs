using LightQ.Protocol.Control;
using LightQ.Server.Configuration;

namespace LightQ.Server.Control;

/// <summary>Settings as <c>lightq.control.v1.Operations</c> has them.</summary>
internal static class SettingMapping
{
    /// <summary>Every setting with the value in force.</summary>
    public static IEnumerable<Setting> ToProto(LightQServerOptions options) =>
        SettingSources
            .List(options)
            .Select(s => new Setting
            {
                Key = s.Setting.Key,
                Value = s.Setting.Show(s.Setting.Read(options)),
                Source = ToProto(s.Source.Kind),
                SourceName = s.Source.Name,
                Live = s.Setting.IsLive,
                Secret = s.Setting.IsSecret,
                Description = s.Setting.Description,
            });

    private static Protocol.Control.SettingSource ToProto(ValueSourceKind kind) =>
        kind switch
        {
            ValueSourceKind.File => Protocol.Control.SettingSource.File,
            ValueSourceKind.Environment => Protocol.Control.SettingSource.Environment,
            ValueSourceKind.CommandLine => Protocol.Control.SettingSource.CommandLine,
            ValueSourceKind.Code => Protocol.Control.SettingSource.Code,
            _ => Protocol.Control.SettingSource.Default,
        };
}
