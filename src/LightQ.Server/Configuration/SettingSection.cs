using static LightQ.Server.Configuration.SettingText;

namespace LightQ.Server.Configuration;

/// <summary>Describes the settings of one section, each by the property that holds it.</summary>
/// <typeparam name="T">The section's options.</typeparam>
/// <param name="name">The section, such as <c>Broker</c>; empty for the settings that are in none.</param>
/// <param name="section">Takes the section out of the server's options.</param>
/// <param name="replace">Puts another one in.</param>
internal sealed class SettingSection<T>(
    string name,
    Func<LightQServerOptions, T> section,
    Func<LightQServerOptions, T, LightQServerOptions> replace
)
{
    private const string NoFile = "(none)";

    public ServerSetting Text(
        string property,
        string description,
        Func<T, string> read,
        Func<T, string, T> apply,
        string? flag = null
    ) =>
        new(
            name.Length == 0 ? property : $"{name}:{property}",
            flag,
            description,
            (o, text) => replace(o, apply(section(o), text)),
            o => read(section(o))
        );

    public ServerSetting Number(
        string property,
        string description,
        Func<T, int> read,
        Func<T, int, T> apply,
        string? flag = null
    ) => Text(property, description, o => Write(read(o)), (o, text) => apply(o, ReadNumber(text)), flag);

    public ServerSetting Bytes(string property, string description, Func<T, long> read, Func<T, long, T> apply) =>
        Text(property, description, o => Write(read(o)), (o, text) => apply(o, ReadBytes(text)));

    public ServerSetting Switch(
        string property,
        string description,
        Func<T, bool> read,
        Func<T, bool, T> apply,
        string? flag = null
    ) => Text(property, description, o => Write(read(o)), (o, text) => apply(o, ReadSwitch(text)), flag);

    public ServerSetting Time(
        string property,
        string description,
        Func<T, TimeSpan> read,
        Func<T, TimeSpan, T> apply,
        string? flag = null
    ) => Text(property, description, o => Write(read(o)), (o, text) => apply(o, ReadTime(text)), flag);

    public ServerSetting File(
        string property,
        string description,
        Func<T, string?> read,
        Func<T, string?, T> apply,
        string? flag = null
    ) =>
        Text(
            property,
            description,
            o => read(o) ?? NoFile,
            (o, text) => apply(o, text is "" or NoFile ? null : text),
            flag
        );
}
