namespace LightQ.Dashboard.Texts;

/// <summary>Addresses of pages.</summary>
internal static class Address
{
    public static string Topic(string topic) => "topics/" + Uri.EscapeDataString(topic);

    public static string Group(string topic, string group) =>
        $"groups/{Uri.EscapeDataString(topic)}/{Uri.EscapeDataString(group)}";
}
