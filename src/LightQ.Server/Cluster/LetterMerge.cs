using Google.Protobuf.Collections;
using LightQ.Protocol.Control;
using LightQ.Server.Messages;

namespace LightQ.Server.Cluster;

/// <summary>One answer about dead letters of those of the nodes that lead their originals.</summary>
internal static class LetterMerge
{
    /// <summary>
    /// The letters in the order of their offsets, as far as all nodes have come, and as many as one page has.
    /// </summary>
    public static ListLettersResponse List(
        ListLettersRequest request,
        IReadOnlyList<NodePart<ListLettersResponse>> parts
    )
    {
        long next = parts
            .Where(p => !p.Response.AtEnd)
            .Select(p => p.Response.NextOffset)
            .DefaultIfEmpty(parts.Max(p => p.Response.NextOffset))
            .Min();
        var page = new ListLettersResponse
        {
            DeadLetterTopic = parts[0].Response.DeadLetterTopic,
            NextOffset = next,
            AtEnd = parts.All(p => p.Response.AtEnd),
        };
        int most = BrowseRequests.CountOf(request.MaxLetters),
            bytes = 0;
        IOrderedEnumerable<DeadLetter> letters = parts
            .SelectMany(p => p.Response.Letters)
            .Where(letter => letter.Offset < next)
            .OrderBy(letter => letter.Offset);
        foreach (DeadLetter letter in letters)
        {
            if (page.Letters.Count == most || bytes >= BrowseRequests.PageBytes)
            {
                (page.NextOffset, page.AtEnd) = (letter.Offset, false);
                break;
            }
            page.Letters.Add(letter);
            bytes += letter.CalculateSize();
        }
        return page;
    }

    public static RedriveLettersResponse Redrive(
        RedriveLettersRequest _,
        IReadOnlyList<NodePart<RedriveLettersResponse>> parts
    ) => new() { Results = { Merge([.. parts.Select(p => p.Response.Results)]) } };

    public static DeleteLettersResponse Delete(
        DeleteLettersRequest _,
        IReadOnlyList<NodePart<DeleteLettersResponse>> parts
    ) => new() { Results = { Merge([.. parts.Select(p => p.Response.Results)]) } };

    /// <summary>Of each letter what the node says that leads its original; the others say nothing.</summary>
    private static IEnumerable<LetterResult> Merge(RepeatedField<LetterResult>[] parts) =>
        parts[0]
            .Select(
                (result, i) =>
                    new LetterResult
                    {
                        Offset = result.Offset,
                        Outcome = parts
                            .Select(part => part[i].Outcome)
                            .Where(outcome => outcome != LetterOutcome.Unspecified)
                            .DefaultIfEmpty(LetterOutcome.NotFound)
                            .First(),
                    }
            );
}
