using System.Globalization;
using LightQ.Dashboard.Texts;
using LightQ.Protocol.Control;
using Microsoft.JSInterop;

namespace LightQ.Dashboard.Api;

/// <summary>
/// The signed-in user. The token is in memory, and in the tab's session storage so that it survives a reload of the
/// page; it ends with the tab.
/// </summary>
internal sealed class Session(IJSRuntime js)
{
    private const string TokenKey = "lightq-token",
        EndKey = "lightq-token-end";

    private IReadOnlyList<UserGrant> _grants = [];

    /// <summary>Raised when anything here has changed.</summary>
    public event Action? Changed;

    /// <summary>What the page knows of the user.</summary>
    public enum Stage
    {
        /// <summary>The broker was not asked yet.</summary>
        Unknown,

        /// <summary>The broker wants a login.</summary>
        SignedOut,

        /// <summary>The broker answers this user.</summary>
        SignedIn,
    }

    /// <summary>What the page knows.</summary>
    public Stage State { get; private set; }

    /// <summary>The token that calls show; null for an anonymous user.</summary>
    public string? Token { get; private set; }

    /// <summary>When the token ends; null where that is not known or never.</summary>
    public DateTimeOffset? End { get; private set; }

    /// <summary>The user's name.</summary>
    public string User { get; private set; } = "";

    /// <summary>Whether the user may do everything.</summary>
    public bool IsAdmin { get; private set; }

    /// <summary>When the broker has said what the user may do.</summary>
    public DateTimeOffset Told { get; private set; }

    /// <summary>Why the last session ended; empty when there was none or the user ended it.</summary>
    public string EndReason { get; private set; } = "";

    /// <summary>What a user lacks who is not admin; empty when this one is.</summary>
    public string MissingAdmin => IsAdmin ? "" : "This needs the right admin.";

    /// <summary>Which rights on a topic the user lacks, in a sentence; empty when it has them all.</summary>
    public string Missing(string topic, params ReadOnlySpan<Right> rights)
    {
        var missing = new List<string>();
        foreach (Right right in rights)
        {
            if (!IsAdmin && !_grants.Any(g => g.Right == right && Covers(g.Topic, topic)))
                missing.Add(WordOf(right));
        }

        return missing.Count == 0
            ? ""
            : $"This needs the right to {string.Join(" and ", missing)} on {Shown.Line(topic)}.";
    }

    /// <summary>As <see cref="Missing"/>, for what may be on any topic: a right on one of them will do.</summary>
    public string MissingEverywhere(Right right) =>
        IsAdmin || _grants.Any(g => g.Right == right) ? "" : $"This needs the right to {WordOf(right)} on a topic.";

    /// <summary>Takes the token that a page of this tab has kept.</summary>
    public async Task RestoreAsync()
    {
        Token = await js.InvokeAsync<string?>("sessionStorage.getItem", TokenKey);
        string? end = await js.InvokeAsync<string?>("sessionStorage.getItem", EndKey);
        End = DateTimeOffset.TryParse(end, CultureInfo.InvariantCulture, out DateTimeOffset time) ? time : null;
    }

    /// <summary>Keeps a token, before the broker is asked whose it is.</summary>
    public async Task KeepAsync(string token, DateTimeOffset? end)
    {
        (Token, End) = (token, end);
        await js.InvokeVoidAsync("sessionStorage.setItem", TokenKey, token);
        await js.InvokeVoidAsync(
            "sessionStorage.setItem",
            EndKey,
            end?.ToString("O", CultureInfo.InvariantCulture) ?? ""
        );
    }

    /// <summary>The broker has said who the caller is.</summary>
    public void Begin(WhoAmIResponse user)
    {
        (User, IsAdmin, EndReason) = (user.User, user.IsAdmin, "");
        (_grants, Told) = (user.Grants, DateTimeOffset.UtcNow);
        State = Stage.SignedIn;
        Changed?.Invoke();
    }

    /// <summary>Forgets the token and demands a login.</summary>
    /// <param name="reason">What the user reads; empty when there is nothing to say.</param>
    public async Task EndAsync(string reason)
    {
        if (State == Stage.SignedOut && reason.Length != 0)
            return; // It has ended; a call that was under way finds that out.
        (Token, End, User, IsAdmin, EndReason) = (null, null, "", false, reason);
        _grants = [];
        State = Stage.SignedOut;
        await js.InvokeVoidAsync("sessionStorage.removeItem", TokenKey);
        await js.InvokeVoidAsync("sessionStorage.removeItem", EndKey);
        Changed?.Invoke();
    }

    /// <summary>A right as people write it.</summary>
    public static string WordOf(Right right) =>
        right switch
        {
            Right.Publish => "publish",
            Right.Consume => "consume",
            Right.Manage => "manage",
            Right.Admin => "admin",
            _ => "?",
        };

    private static bool Covers(string pattern, string topic) =>
        pattern.EndsWith('*') ? topic.StartsWith(pattern[..^1], StringComparison.Ordinal) : topic == pattern;
}
