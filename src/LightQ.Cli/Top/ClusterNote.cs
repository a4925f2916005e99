using LightQ.Client.Administration;

namespace LightQ.Cli.Top;

/// <summary>What is said above the tables of a cluster.</summary>
internal static class ClusterNote
{
    public static string Of(ClusterInfo cluster) =>
        cluster.Name is null
            ? $"{cluster.AnsweredBy} is a broker without a cluster"
            : $"cluster {cluster.Name} on {cluster.Engine}, as {cluster.AnsweredBy} sees it"
                + (cluster.IsListening ? ", which has just begun to listen" : "");
}
