using LightQ.Protocol.Control;

namespace LightQ.Server.Messages;

/// <summary>Makes a page of several partitions: one after the other, until it is full.</summary>
internal static class BrowseWalk
{
    /// <summary>Makes a page.</summary>
    /// <param name="request">What is asked for; it was checked.</param>
    /// <param name="partitions">The partitions, in their order.</param>
    /// <param name="readAsync">Reads a page of the one partition that a request names.</param>
    public static async Task<BrowseResponse> RunAsync(
        BrowseRequest request,
        uint[] partitions,
        Func<BrowseRequest, Task<BrowseResponse>> readAsync
    )
    {
        int at = request.Next is { } from ? Array.IndexOf(partitions, from.Partition) : 0,
            left = BrowseRequests.CountOf(request.MaxMessages),
            bytes = 0;
        BrowseResponse? page = null;
        while (true)
        {
            BrowseRequest one = request.Clone();
            one.Partition = partitions[at];
            one.MaxMessages = (uint)left;
            if (request.Next?.Partition != partitions[at])
                one.Next = null;
            BrowseResponse part = await readAsync(one).ConfigureAwait(false);
            left -= part.Messages.Count;
            bytes += part.CalculateSize();
            page = page is null ? part : Join(page, part);
            at++;
            if (!part.AtEnd || at == partitions.Length)
                return page;
            if (left == 0 || bytes >= BrowseRequests.PageBytes)
            {
                page.AtEnd = false; // The next page looks behind this partition's end, and goes on with the next one.
                return page;
            }
        }
    }

    private static BrowseResponse Join(BrowseResponse page, BrowseResponse part)
    {
        page.Messages.AddRange(part.Messages);
        page.Gaps.AddRange(part.Gaps);
        page.Partitions.AddRange(part.Partitions);
        page.Scanned += part.Scanned;
        (page.Next, page.AtEnd) = (part.Next, part.AtEnd);
        return page;
    }
}
