using LightQ.Dashboard;
using LightQ.Dashboard.Api;
using LightQ.Dashboard.Live;
using Microsoft.AspNetCore.Components.WebAssembly.Hosting;
using MudBlazor;
using MudBlazor.Services;

var builder = WebAssemblyHostBuilder.CreateDefault(args);
builder.RootComponents.Add<App>("#app");
builder.Logging.SetMinimumLevel(LogLevel.Warning);
builder.Services.AddMudServices(services =>
{
    services.SnackbarConfiguration.PositionClass = Defaults.Classes.Position.BottomRight;
    services.SnackbarConfiguration.MaxDisplayedSnackbars = 3;
    services.SnackbarConfiguration.VisibleStateDuration = 6_000;
});
builder.Services.AddSingleton<Session>();
builder.Services.AddSingleton(services => new BrokerApi(
    new Uri(builder.HostEnvironment.BaseAddress),
    services.GetRequiredService<Session>()
));
builder.Services.AddSingleton<BrokerFeed>();
builder.Services.AddSingleton<OpenLetters>();
await builder.Build().RunAsync();
