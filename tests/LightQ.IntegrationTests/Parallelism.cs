using Xunit.v3;

// Many tests here wait, for a child process or for time to pass, and leave the processors to others meanwhile.
[assembly: Parallelization(MaxThreads = 4)]
