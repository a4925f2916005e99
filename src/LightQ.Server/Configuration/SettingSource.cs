namespace LightQ.Server.Configuration;

/// <summary>Where the value of a setting comes from.</summary>
/// <param name="Kind">The kind of place.</param>
/// <param name="Name">The file's path, the variable or the flag; empty for the other kinds.</param>
internal readonly record struct SettingSource(SettingSourceKind Kind, string Name)
{
    /// <summary>It is set nowhere.</summary>
    public static SettingSource Default { get; } = new(SettingSourceKind.Default, "");

    /// <summary>The program that the server is a part of.</summary>
    public static SettingSource Code { get; } = new(SettingSourceKind.Code, "");

    /// <summary>The text that <c>--print-config</c> and errors show.</summary>
    public override string ToString() =>
        Kind switch
        {
            SettingSourceKind.Default => "default",
            SettingSourceKind.Code => "code",
            SettingSourceKind.Environment => "environment " + Name,
            _ => Name,
        };
}
