namespace LightQ.Server.Limits;

/// <summary>Whether a connection may stay.</summary>
internal enum Admission
{
    /// <summary>It may.</summary>
    Admitted,

    /// <summary>There are as many as there may be.</summary>
    TooMany,

    /// <summary>There are as many from its address as there may be.</summary>
    TooManyOfAddress,
}
