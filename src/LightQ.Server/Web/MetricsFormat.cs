namespace LightQ.Server.Web;

/// <summary>How a page of metrics is written.</summary>
internal enum MetricsFormat
{
    /// <summary>Prometheus' text format, version 0.0.4.</summary>
    Prometheus,

    /// <summary>OpenMetrics, version 1.0.0.</summary>
    OpenMetrics,
}
