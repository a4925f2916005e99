using LightQ.DashboardTests;
using Microsoft.Playwright;
using Xunit;

[assembly: AssemblyFixture(typeof(Browser))]

namespace LightQ.DashboardTests;

/// <summary>One Chromium for all tests.</summary>
public sealed class Browser : IAsyncLifetime
{
    private static readonly string[] Programs =
    [
        "/usr/bin/chromium",
        "/usr/bin/chromium-browser",
        "/usr/bin/google-chrome",
    ];

    private IPlaywright? _playwright;
    private IBrowser? _browser;

    public async ValueTask InitializeAsync()
    {
        if (Array.Find(Programs, File.Exists) is not { } program)
            return;
        Assertions.SetDefaultExpectTimeout(Window.PatienceMilliseconds);
        _playwright = await Playwright.CreateAsync();
        _browser = await _playwright.Chromium.LaunchAsync(
            new BrowserTypeLaunchOptions
            {
                ExecutablePath = program,
                Args = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
            }
        );
    }

    public async ValueTask DisposeAsync()
    {
        if (_browser is not null)
            await _browser.DisposeAsync();
        _playwright?.Dispose();
    }

    /// <summary>A new window with nothing kept of others.</summary>
    public async Task<Window> OpenAsync(DashboardBroker broker, int width = 1440, bool isDark = false)
    {
        Assert.SkipWhen(_browser is null, $"There is none of {string.Join(", ", Programs)}.");
        Assert.SkipUnless(
            await broker.HasDashboardAsync(),
            "The dashboard is not in this build: run packaging/dashboard, and build again."
        );
        IBrowserContext context = await _browser.NewContextAsync(
            new BrowserNewContextOptions
            {
                BaseURL = broker.Address,
                ColorScheme = isDark ? ColorScheme.Dark : ColorScheme.Light,
                ViewportSize = new ViewportSize { Width = width, Height = 900 },
            }
        );
        context.SetDefaultTimeout(Window.PatienceMilliseconds);
        return new Window(context, await context.NewPageAsync());
    }
}
