/** What a piece of work costs this process, whatever else the machine does: in milliseconds. */
export function processorTimeOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
