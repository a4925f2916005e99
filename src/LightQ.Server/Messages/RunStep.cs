namespace LightQ.Server.Messages;

/// <summary>What a <see cref="RunReader"/> has come to.</summary>
internal enum RunStep
{
    /// <summary>Nothing is left of the run.</summary>
    End,

    /// <summary>Messages.</summary>
    Records,

    /// <summary>Messages that cannot be had.</summary>
    Gap,
}
