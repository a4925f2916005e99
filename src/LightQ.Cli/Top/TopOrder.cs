namespace LightQ.Cli.Top;

/// <summary>Which rows come first.</summary>
/// <param name="Column">Those with the most in this column, or first in the alphabet.</param>
/// <param name="IsReversed">Those with the least instead.</param>
internal readonly record struct TopOrder(string Column, bool IsReversed);
