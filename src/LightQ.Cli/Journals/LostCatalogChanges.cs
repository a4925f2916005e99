using System.Globalization;
using LightQ.Broker.Catalog;
using LightQ.Broker.Users;
using LightQ.Server.Audit;
using LightQ.Storage.Inspection;

namespace LightQ.Cli.Journals;

/// <summary>
/// What a repair of the catalog undoes, as far as the audit log knows: what it says was made or removed last is held
/// against what is left of the catalog.
/// </summary>
/// <remarks>
/// Passwords, settings and a topic's own user are changed without a trace that could be compared: of these it names
/// what was changed when the lost records were written.
/// </remarks>
internal sealed class LostCatalogChanges
{
    /// <summary>A change is in the audit log as soon as it is in the catalog; this is more than that takes.</summary>
    private static readonly TimeSpan AuditDelay = TimeSpan.FromSeconds(10);

    private readonly CatalogContents _left;
    private readonly IReadOnlyList<(DateTimeOffset? From, DateTimeOffset? To)> _times;
    private readonly Dictionary<string, Dictionary<string, AuditLine>> _users = new(StringComparer.Ordinal),
        _topics = new(StringComparer.Ordinal);

    private LostCatalogChanges(CatalogContents left, IReadOnlyList<(DateTimeOffset? From, DateTimeOffset? To)> times) =>
        (_left, _times) = (left, times);

    /// <summary>The changes, oldest first.</summary>
    public IReadOnlyList<LostChangeView> Changes { get; private set; } = [];

    /// <summary>What the audit log could be asked, for people.</summary>
    public string Source { get; private set; } = "";

    private static string Back => "the catalog has it again";

    private static string Gone => "the catalog no longer has it";

    /// <summary>Compares. Changes nothing.</summary>
    /// <param name="dataDirectory">The data directory.</param>
    /// <param name="catalog">The catalog in it.</param>
    /// <param name="losses">What the repair loses.</param>
    /// <exception cref="IOException">The disk refuses to read.</exception>
    public static LostCatalogChanges Find(string dataDirectory, string catalog, IReadOnlyList<RepairLoss> losses)
    {
        var found = new LostCatalogChanges(CatalogReader.Read(catalog), CatalogReader.TimesOf(catalog, losses));
        AuditReport report;
        try
        {
            report = AuditVerifier.Verify(dataDirectory, read: found.Take);
        }
        catch (FileNotFoundException)
        {
            found.Source = "there is no audit log that would say what was changed";
            return found;
        }
        found.Changes = [.. found.Users().Concat(found.Topics()).OrderBy(c => c.Time)];
        found.Source = (found.Changes.Count, report.Finding) switch
        {
            (0, null) => "the audit log lists no change that would be undone",
            (_, null) => "the catalog no longer knows these changes of the audit log",
            (_, { } broken) => $"the audit log is not as it was written ({broken.Detail}); in front of that it lists "
                + $"{found.Changes.Count.ToString(CultureInfo.InvariantCulture)} changes that the catalog does "
                + $"not know",
        };
        return found;
    }

    /// <summary>
    /// Keeps the last line about each thing; what was said of a user or topic in front of its making or removal counts
    /// no more.
    /// </summary>
    private void Take(AuditLine line)
    {
        (Dictionary<string, Dictionary<string, AuditLine>>? kind, string key) = line.Event switch
        {
            "user-created" or "user-deleted" => (_users, ""),
            "right-granted" or "right-revoked" => (_users, "right " + line.Detail),
            "token-created" or "token-revoked" => (_users, TokenOf(line)),
            "password-changed" => (_users, "password"),
            "topic-created" or "topic-deleted" => (_topics, ""),
            "topic-changed" => (_topics, "settings"),
            "topic-credentials-changed" => (_topics, "credentials"),
            _ => (null, ""),
        };
        if (kind is null)
            return;
        if (!kind.TryGetValue(line.Subject, out Dictionary<string, AuditLine>? lines))
            kind[line.Subject] = lines = new Dictionary<string, AuditLine>(StringComparer.Ordinal);
        if (key.Length == 0)
            lines.Clear();
        lines[key] = line;
    }

    private IEnumerable<LostChangeView> Users() =>
        from user in _users
        let known = _left.Users.Users.GetValueOrDefault(user.Key)
        let isKnown = known is not null || user.Key == UserStore.Admin
        from line in user.Value.Values
        let effect = line.Event switch
        {
            "user-deleted" when isKnown => Back,
            "user-created" when !isKnown => Gone,
            "right-revoked" when Has(known, line) => Back,
            "right-granted" when isKnown && !Has(known, line) => Gone,
            "token-revoked" when IsToken(line) => Back,
            "token-created" when isKnown && !IsToken(line) && !HasEnded(line) => Gone,
            "password-changed" when isKnown => Before(line),
            _ => null,
        }
        where effect is not null
        select ViewOf(line, effect);

    private IEnumerable<LostChangeView> Topics() =>
        from topic in _topics
        let isKnown = _left.Topics.Contains(topic.Key)
        from line in topic.Value.Values
        let effect = line.Event switch
        {
            "topic-deleted" when isKnown => Back,
            "topic-created" when !isKnown => Gone,
            "topic-changed" or "topic-credentials-changed" when isKnown => Before(line),
            _ => null,
        }
        where effect is not null
        select ViewOf(line, effect);

    /// <summary>Whether the record of a change may be among the lost ones, by its time.</summary>
    private string? Before(AuditLine line) =>
        _times.Any(t => !(line.Time < t.From) && !(line.Time > t.To + AuditDelay)) ? "may be as it was before" : null;

    private static bool Has(User? user, AuditLine line) =>
        user is not null && user.Grants.Any(g => g.ToString() == line.Detail);

    private bool IsToken(AuditLine line) => _left.Users.Tokens.Values.Any(t => TokenOf(line) == $"token {t.Id}");

    /// <summary>The token of <c>token 0123456789ab, until ...</c>.</summary>
    private static string TokenOf(AuditLine line) => line.Detail.Split(',', 2)[0];

    private static bool HasEnded(AuditLine line) =>
        DateTimeOffset.TryParse(
            line.Detail.Split("until ", 2)[^1],
            CultureInfo.InvariantCulture,
            DateTimeStyles.AssumeUniversal,
            out DateTimeOffset end
        )
        && end <= DateTimeOffset.UtcNow;

    private static LostChangeView ViewOf(AuditLine line, string effect) =>
        new(line.Time, line.Actor, line.Event, line.Subject, line.Detail, effect);
}
