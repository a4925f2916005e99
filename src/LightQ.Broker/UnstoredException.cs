using LightQ.Storage.Files;

namespace LightQ.Broker;

/// <summary>
/// A change could not be put on the disk. What takes something away counts all the same, from now on.
/// </summary>
public sealed class UnstoredException : BrokerException
{
    private UnstoredException(ErrorCode code, string message, bool isInForce)
        : base(code, message) => IsInForce = isInForce;

    /// <summary>Whether the change counts until the broker stops.</summary>
    public bool IsInForce { get; }

    /// <summary>
    /// Completes when it is known whether the change is stored after all; null when that is known already.
    /// </summary>
    internal Task<bool>? Outcome { get; private init; }

    /// <summary>
    /// Makes a change that counts if the disk takes it, and, where the catalog says so, if it does not.
    /// </summary>
    /// <returns>The exception for the caller; null when the disk has taken the change.</returns>
    internal static UnstoredException? Of(Action change)
    {
        try
        {
            change();
            return null;
        }
        catch (UnstoredException e) when (e.IsInForce)
        {
            return e;
        }
    }

    /// <summary>A change that counts, and that a restart would undo.</summary>
    internal static UnstoredException InForce(Exception error) =>
        new(
            CodeOf(error),
            $"The change counts from now on, but could not be stored: {DiskError.Describe(error)}. A restart may undo "
                + $"it until it is stored, which the broker goes on trying; /healthz/ready tells when that is done.",
            isInForce: true
        );

    /// <summary>A change that does not count.</summary>
    /// <param name="error">What the disk said.</param>
    /// <param name="mayReturn">Whether some of it may be on the disk.</param>
    internal static UnstoredException Refused(Exception error, bool mayReturn) =>
        new(
            CodeOf(error),
            $"The change could not be stored and does not count: {DiskError.Describe(error)}."
                + (
                    mayReturn
                        ? " A restart may find it on the disk until the broker has corrected the file, which it "
                            + "goes on trying; /healthz/ready tells when that is done."
                        : ""
                ),
            isInForce: false
        );

    /// <summary>A change of a cluster's catalog that is not stored.</summary>
    internal static UnstoredException Unreachable(string reason) =>
        new(
            ErrorCode.Unavailable,
            $"The cluster's catalog could not be changed, and the change does not count: {reason}. Try again.",
            isInForce: false
        );

    /// <summary>A change of a cluster's catalog that may be stored, now or later.</summary>
    /// <param name="reason">Why that is not known.</param>
    /// <param name="outcome">Completes when it is.</param>
    internal static UnstoredException InDoubt(string reason, Task<bool> outcome) =>
        new(
            ErrorCode.OutcomeUnknown,
            $"It is not known whether the cluster's catalog has the change: {reason}. It counts on all nodes or on "
                + $"none; look whether it does before it is tried again.",
            isInForce: false
        )
        {
            Outcome = outcome,
        };

    private static ErrorCode CodeOf(Exception error) =>
        DiskError.IsFull(error) ? ErrorCode.DiskFull : ErrorCode.Internal;
}
