using MudBlazor;

namespace LightQ.Dashboard.Layout;

/// <summary>Colours and letters of the page, light and dark.</summary>
internal static class Theme
{
    // The letters of the reader's own system: nothing is loaded for them.
    private static readonly string[] Letters =
    [
        "Inter",
        "system-ui",
        "-apple-system",
        "Segoe UI",
        "Roboto",
        "Helvetica Neue",
        "Noto Sans",
        "Liberation Sans",
        "sans-serif",
    ];

    /// <summary>The theme of MudBlazor.</summary>
    public static MudTheme Mud { get; } =
        new()
        {
            PaletteLight = new PaletteLight
            {
                Primary = "#0369a1",
                Secondary = "#475569",
                Tertiary = "#a16207",
                Info = "#0369a1",
                Success = "#15803d",
                Warning = "#a16207",
                Error = "#b91c1c",
                Background = "#f5f7fa",
                Surface = "#ffffff",
                AppbarBackground = "#0f172a",
                AppbarText = "#f1f5f9",
                DrawerBackground = "#ffffff",
                DrawerText = "#334155",
                DrawerIcon = "#475569",
                TextPrimary = "#0f172a",
                TextSecondary = "#4b5a70",
                ActionDefault = "#475569",
                LinesDefault = "#e2e8f0",
                LinesInputs = "#94a3b8",
                TableLines = "#e2e8f0",
                Divider = "#e2e8f0",
            },
            PaletteDark = new PaletteDark
            {
                Primary = "#7dd3fc",
                PrimaryContrastText = "#082f49",
                Secondary = "#94a3b8",
                Tertiary = "#fde047",
                Info = "#7dd3fc",
                InfoContrastText = "#082f49",
                Success = "#86efac",
                SuccessContrastText = "#052e16",
                Warning = "#fcd34d",
                WarningContrastText = "#422006",
                Error = "#fca5a5",
                ErrorContrastText = "#450a0a",
                Background = "#0b1120",
                Surface = "#131c2f",
                AppbarBackground = "#0f172a",
                AppbarText = "#f1f5f9",
                DrawerBackground = "#0f172a",
                DrawerText = "#cbd5e1",
                DrawerIcon = "#94a3b8",
                TextPrimary = "#e8eef7",
                TextSecondary = "#a3b1c6",
                ActionDefault = "#a3b1c6",
                LinesDefault = "#25324a",
                LinesInputs = "#64748b",
                TableLines = "#25324a",
                Divider = "#25324a",
            },
            Typography = new Typography
            {
                Default = new DefaultTypography { FontFamily = Letters, FontSize = "0.875rem" },
                Button = new ButtonTypography { TextTransform = "none", FontWeight = "600" },
            },
            LayoutProperties = new LayoutProperties
            {
                DefaultBorderRadius = "8px",
                DrawerWidthLeft = "232px",
                AppbarHeight = "56px",
            },
        };
}
