using System.Runtime.ExceptionServices;
using LightQ.Broker;

namespace LightQ.Server.Security;

/// <summary>Changes together with word of them.</summary>
internal static class SecurityEventsExtensions
{
    /// <summary>
    /// Makes a change and raises its event. A change that is in force although the disk rejected it raises it, too,
    /// before the caller learns that.
    /// </summary>
    /// <param name="events">Gets the event.</param>
    /// <param name="happened">The event, created when the change is made.</param>
    /// <param name="change">Makes it; false when there was nothing to change, which raises no event.</param>
    /// <returns>What <paramref name="change"/> returned.</returns>
    /// <exception cref="UnstoredException">The disk rejected it.</exception>
    public static async Task<bool> RaiseForAsync(
        this ISecurityEvents events,
        Func<SecurityEvent> happened,
        Func<Task<bool>> change
    )
    {
        bool isMade = true;
        UnstoredException? unstored = null;
        try
        {
            isMade = await change().ConfigureAwait(false);
        }
        catch (UnstoredException e) when (e.IsInForce)
        {
            unstored = e;
        }
        if (isMade)
        {
            SecurityEvent told = happened();
            string detail = told.Detail.Length == 0 ? "" : $"{told.Detail}; ";
            await events
                .RaiseAsync(
                    unstored is null ? told : told with { Detail = $"{detail}not stored, a restart may undo it" }
                )
                .ConfigureAwait(false);
        }
        if (unstored is not null)
            ExceptionDispatchInfo.Throw(unstored);
        return isMade;
    }
}
