namespace LightQ.Storage;

/// <summary>Gets a record while its journal opens; the span is valid during the call.</summary>
public delegate void RecordReplay(ReadOnlySpan<byte> record);
