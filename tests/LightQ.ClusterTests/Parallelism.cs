using Xunit.v3;

// Most tests here wait, for a node's silence, an election or a process, and leave the processors to others meanwhile.
[assembly: Parallelization(MaxThreads = 4)]
