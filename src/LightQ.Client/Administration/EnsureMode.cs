namespace LightQ.Client.Administration;

/// <summary>What <see cref="TopicsClient.EnsureAsync(TopicSpec, EnsureMode, CancellationToken)"/> may do.</summary>
public enum EnsureMode
{
    /// <summary>
    /// Creates a topic that is missing, and changes the settings of one that has others: of two programs with different
    /// settings, the last to start wins.
    /// </summary>
    Change,

    /// <summary>Creates a topic that is missing, and leaves one that exists as it is.</summary>
    Create,

    /// <summary>Changes nothing: a topic that is missing, or has other settings, is an error.</summary>
    Check,
}
