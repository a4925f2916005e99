using System.Runtime.ExceptionServices;
using LightQ.Broker;

namespace LightQ.Server.Security;

/// <summary>Changes together with word of them.</summary>
internal static class SecurityEventsExtensions
{
    /// <summary>
    /// Makes a change and tells of it; of one that counts though the disk refused it, too, before its caller learns
    /// that.
    /// </summary>
    /// <param name="events">Who is told.</param>
    /// <param name="happened">What to tell, asked for when the change is made.</param>
    /// <param name="change">Makes it; false when there was nothing to change, which is not told.</param>
    /// <returns>What <paramref name="change"/> returned.</returns>
    /// <exception cref="UnstoredException">The disk refused it.</exception>
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
