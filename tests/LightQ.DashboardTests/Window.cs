using System.Collections.Concurrent;
using Deque.AxeCore.Playwright;
using Microsoft.Playwright;
using Xunit;

namespace LightQ.DashboardTests;

/// <summary>A window of the browser, and what it met.</summary>
public sealed class Window : IAsyncDisposable
{
    /// <summary>How long something may take to be seen.</summary>
    public const int PatienceMilliseconds = 45_000;

    private readonly IBrowserContext _context;

    public Window(IBrowserContext context, IPage page)
    {
        _context = context;
        Page = page;
        page.Request += (_, request) => Requested.Add(request.Url);
        page.PageError += (_, error) => Errors.Add(error);
        page.Console += (_, message) =>
        {
            if (message.Type == "error")
                Errors.Add(message.Text);
        };
    }

    public IPage Page { get; }

    /// <summary>Addresses that the page has asked.</summary>
    public ConcurrentBag<string> Requested { get; } = [];

    /// <summary>What the browser's console calls an error, such as what the content security policy forbids.</summary>
    public ConcurrentBag<string> Errors { get; } = [];

    /// <summary>Opens a page, and waits until it has a heading.</summary>
    public async Task GoAsync(string path, string heading)
    {
        await Page.GotoAsync(path);
        await HeadingAsync(heading);
    }

    public Task HeadingAsync(string heading) =>
        Assertions
            .Expect(
                Page.GetByRole(
                    AriaRole.Heading,
                    new()
                    {
                        Name = heading,
                        Level = 1,
                        Exact = true,
                    }
                )
            )
            .ToBeVisibleAsync();

    /// <summary>Goes on to a page as its links do, without loading everything again.</summary>
    public async Task TurnAsync(string path, string heading)
    {
        await Page.EvaluateAsync("path => Blazor.navigateTo(path)", path);
        await HeadingAsync(heading);
    }

    public async Task SignInAsync(string user, string password)
    {
        await Page.GetByLabel("User").FillAsync(user);
        await Page.GetByLabel("Password").FillAsync(password);
        await Page.GetByRole(AriaRole.Button, new() { Name = "Sign in", Exact = true }).ClickAsync();
        await Assertions.Expect(Page.GetByLabel("Sign out")).ToBeVisibleAsync();
    }

    public Task ClickAsync(string button) =>
        Page.GetByRole(AriaRole.Button, new() { Name = button, Exact = true }).First.ClickAsync();

    public Task TabAsync(string tab) => Page.GetByRole(AriaRole.Tab, new() { NameRegex = new(tab) }).ClickAsync();

    /// <summary>Waits until a text is to be seen.</summary>
    public Task SeesAsync(string text) => Assertions.Expect(Page.GetByText(text).First).ToBeVisibleAsync();

    /// <summary>Nothing that keeps people from reading or using the page.</summary>
    /// <remarks>
    /// The package brings its script into the page. From then on the script is asked itself, for what is wrong alone:
    /// 0.3 s, where the package takes 2.3 to hand over all that is right as well.
    /// </remarks>
    public async Task AccessibleAsync(string where)
    {
        if (await Page.EvaluateAsync<bool>("() => !window.axe"))
            await Page.RunAxe();
        string[] found = await Page.EvaluateAsync<string[]>(
            """
            async where => (await axe.run(document, { resultTypes: ['violations'] })).violations
              .filter(v => v.impact === 'serious' || v.impact === 'critical')
              .flatMap(v => v.nodes.map(n => `${where}: ${v.id}: ${v.help}: ${n.html}`))
            """,
            where
        );
        Assert.True(found.Length == 0, string.Join('\n', found));
    }

    /// <summary>A picture of it, where the environment variable LIGHTQ_PICTURES names a folder.</summary>
    public async Task PictureAsync(string name)
    {
        if (Environment.GetEnvironmentVariable("LIGHTQ_PICTURES") is { Length: > 0 } folder)
            await Page.ScreenshotAsync(new() { Path = Path.Combine(folder, name + ".png"), FullPage = true });
    }

    public async ValueTask DisposeAsync() => await _context.DisposeAsync();
}
