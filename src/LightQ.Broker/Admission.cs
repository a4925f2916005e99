namespace LightQ.Broker;

/// <summary>Whether something is within a limit, and within the share of who wants it (<see cref="Shares"/>).</summary>
internal enum Admission
{
    /// <summary>It is.</summary>
    Admitted,

    /// <summary>There are as many as there may be.</summary>
    TooMany,

    /// <summary>Its source has its share.</summary>
    TooManyOfSource,
}
