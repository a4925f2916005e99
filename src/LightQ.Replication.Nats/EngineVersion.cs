using System.Globalization;

namespace LightQ.Replication.Nats;

/// <summary>Versions of nats-server, and which of them are fit for what.</summary>
public static class EngineVersion
{
    /// <summary>The first with fixes for changes of membership: use this one or a later.</summary>
    public const string Recommended = "2.12.3";

    /// <summary>Before this one, a crash of a server could lose what was confirmed.</summary>
    public const string LeastSafe = "2.10.23";

    internal const string FirstWithSync = "2.10.0";

    /// <summary>
    /// Before this one, a server that starts again takes a purge of some entries for a purge of all that were there
    /// (nats-server#4196).
    /// </summary>
    internal const string FirstWithSafePurge = "2.9.18";

    /// <summary>Compares two versions; what follows a hyphen does not count, and what is no number is 0.</summary>
    public static int Compare(string left, string right)
    {
        int[] a = Parts(left),
            b = Parts(right);
        for (int i = 0; i < Math.Max(a.Length, b.Length); i++)
        {
            int difference = a.ElementAtOrDefault(i).CompareTo(b.ElementAtOrDefault(i));
            if (difference != 0)
                return difference;
        }
        return 0;
    }

    private static int[] Parts(string version) =>
        [
            .. version
                .TrimStart('v')
                .Split('-', '+')[0]
                .Split('.')
                .Select(part =>
                    int.TryParse(part, NumberStyles.None, CultureInfo.InvariantCulture, out int number) ? number : 0
                ),
        ];
}
