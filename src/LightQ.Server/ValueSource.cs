namespace LightQ.Server;

/// <summary>Where the value of a setting comes from.</summary>
/// <param name="Kind">The kind of place.</param>
/// <param name="Name">The file's path, the variable or the flag; empty for the other kinds.</param>
internal readonly record struct ValueSource(ValueSourceKind Kind, string Name)
{
    /// <summary>It is set nowhere.</summary>
    public static ValueSource Default { get; } = new(ValueSourceKind.Default, "");

    /// <summary>The program that the server is a part of.</summary>
    public static ValueSource Code { get; } = new(ValueSourceKind.Code, "");

    /// <summary>The text that <c>--print-config</c> and errors show.</summary>
    public override string ToString() =>
        Kind switch
        {
            ValueSourceKind.Default => "default",
            ValueSourceKind.Code => "code",
            ValueSourceKind.Environment => "environment " + Name,
            _ => Name,
        };
}
