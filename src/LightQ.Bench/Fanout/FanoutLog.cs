using System.Globalization;
using LightQ.Bench.Figures;

namespace LightQ.Bench.Fanout;

/// <summary>
/// <c>HOSTNAME_data_entries.log</c>: a line for every message that a subscriber got: its id, the subscriber, the
/// latency in microseconds.
/// </summary>
/// <remarks>
/// <c>myhost-3-17 412 5234.1</c>: message 17 of publisher 3 on myhost reached subscriber 412 after 5.2341 ms.
/// </remarks>
internal static class FanoutLog
{
    private const double NanosecondsPerMicrosecond = 1000;
    private const int BufferBytes = 256 * 1024;

    /// <summary>The file's place.</summary>
    public static string PathIn(string directory) =>
        Path.Combine(directory, $"{Environment.MachineName}_data_entries.log");

    /// <summary>Makes it, empty: what cannot be written is known before anything is measured.</summary>
    public static void Create(string path)
    {
        Directory.CreateDirectory(Path.GetDirectoryName(Path.GetFullPath(path))!);
        File.WriteAllBytes(path, []);
    }

    /// <summary>Adds what one subscriber got.</summary>
    public static void Append(string path, int firstSubscriber, IReadOnlyList<FanoutLedger> subscribers)
    {
        using var writer = new StreamWriter(path, append: true, new System.Text.UTF8Encoding(false), BufferBytes);
        string host = Environment.MachineName;
        for (int i = 0; i < subscribers.Count; i++)
        {
            foreach ((int thread, int sequence, float microseconds) in subscribers[i].Entries())
            {
                writer.Write(
                    string.Create(
                        CultureInfo.InvariantCulture,
                        $"{host}-{thread}-{sequence} {firstSubscriber + i} {microseconds:0.0}\n"
                    )
                );
            }
        }
    }

    /// <summary>Reads it back.</summary>
    /// <returns>The latencies in nanoseconds, and their mean in microseconds.</returns>
    /// <exception cref="InvalidDataException">A line is not of its form.</exception>
    public static (LatencyHistogram Latencies, double MeanUs) Read(string path)
    {
        var latencies = new LatencyHistogram();
        double sum = 0;
        foreach (string line in File.ReadLines(path))
        {
            int space = line.LastIndexOf(' ');
            if (
                space <= line.IndexOf(' ', StringComparison.Ordinal)
                || !double.TryParse(
                    line.AsSpan(space + 1),
                    NumberStyles.AllowDecimalPoint,
                    CultureInfo.InvariantCulture,
                    out double microseconds
                )
            )
            {
                throw new InvalidDataException($"{path} has a line that is no entry: '{line}'.");
            }

            latencies.Record((long)(microseconds * NanosecondsPerMicrosecond));
            sum += microseconds;
        }
        return (latencies, latencies.Count == 0 ? 0 : sum / latencies.Count);
    }
}
