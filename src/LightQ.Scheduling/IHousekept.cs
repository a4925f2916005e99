namespace LightQ.Scheduling;

/// <summary>What housekeeping looks after.</summary>
public interface IHousekept
{
    /// <summary>Does what is due. Must not throw.</summary>
    /// <param name="now">The clock.</param>
    /// <returns>Within which time it is due again; null when it is not until that is requested.</returns>
    TimeSpan? Look(DateTimeOffset now);
}
