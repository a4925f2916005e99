namespace LightQ.Tests.Storage.Faults;

/// <summary>What became of damage.</summary>
internal enum DamageOutcome
{
    /// <summary>Everything was delivered as it had been stored: unused bytes, or a file that is made anew.</summary>
    Harmless,

    /// <summary>The start was refused with a typed error.</summary>
    Refused,

    /// <summary>Readers were told which offsets are lost, and got all others.</summary>
    Gap,

    /// <summary>The end was taken for a torn write: nothing that is left shows that it had been durable.</summary>
    Cut,

    /// <summary>Anything else.</summary>
    Silent,
}
