namespace LightQ.Tests.Storage.Faults;

/// <summary>Whether a journal is there, as far as somebody was told.</summary>
internal enum JournalPhase
{
    /// <summary>Nobody asked for it yet.</summary>
    Absent,

    /// <summary>It was asked for: opening it must work.</summary>
    There,

    /// <summary>Its deletion began: anything may be left.</summary>
    Going,

    /// <summary>Its deletion was confirmed: nothing may be left.</summary>
    Gone,
}
