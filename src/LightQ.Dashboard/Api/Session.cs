using System.Globalization;
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

    /// <summary>Why the last session ended; empty when there was none or the user ended it.</summary>
    public string EndReason { get; private set; } = "";

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
        State = Stage.SignedOut;
        await js.InvokeVoidAsync("sessionStorage.removeItem", TokenKey);
        await js.InvokeVoidAsync("sessionStorage.removeItem", EndKey);
        Changed?.Invoke();
    }
}
