using System.Net;

namespace LightQ.Server.Hosting;

/// <summary>What no single setting can be blamed for.</summary>
internal static class StartChecks
{
    /// <summary>Refuses options that contradict each other or would open the broker to a network unprotected.</summary>
    /// <exception cref="ServerStartException">They do.</exception>
    public static void Check(LightQServerOptions options)
    {
        if (!IPAddress.IsLoopback(options.Bind) && !options.Insecure)
        {
            throw Refuse(
                $"Bind is {options.Bind}, which other machines can reach, and this version has no TLS: passwords and messages would travel in the clear. "
                + "Listen on 127.0.0.1, or give --insecure on a network that you trust.");
        }
        int[] ports = [.. new[] { options.DataPort, options.ControlPort, options.WebPort }.Where(p => p != 0)];
        if (ports.Distinct().Count() != ports.Length)
            throw Refuse($"DataPort, ControlPort and WebPort are {options.DataPort}, {options.ControlPort} and {options.WebPort}: each needs a port of its own.");
    }

    private static ServerStartException Refuse(string message) => new(ServerStartFailure.Configuration, message);
}
