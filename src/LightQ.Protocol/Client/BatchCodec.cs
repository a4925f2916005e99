namespace LightQ.Client;

/// <summary>How a batch's records are compressed; bits 0 to 3 of its flags.</summary>
public enum BatchCodec
{
    /// <summary>The records are not compressed.</summary>
    None = 0,

    /// <summary>Brotli (RFC 7932) with a window of at most 16 MiB.</summary>
    Brotli = 1,

    /// <summary>Deflate (RFC 1951) without a wrapper around it.</summary>
    Deflate = 2,
}
