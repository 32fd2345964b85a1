import { cpus, loadavg } from 'node:os'

/** Time since a deadline was set, in milliseconds. */
export interface Elapsed {
  readonly wall: number
  /** Processor time of this process, all its threads together. */
  readonly cpu: number
  /** Processor time that no process of the machine wanted, summed over its cores. */
  readonly idle: number
}

/** A busy machine may stretch a deadline this often; then the case hangs, whatever else runs. */
const mostStretch = 10

/** With less than this share of one core idle, a process that waits may be waiting for a core. */
const idleShare = 0.25

/**
 * Tells whether `limit` milliseconds are over for a process that shares the machine with others: it has computed that long, or waited that
 * long while a core was idle, or waited ten times as long.
 */
export function isOver({ wall, cpu, idle }: Elapsed, limit: number): boolean {
  if (wall <= limit) return false
  return cpu > limit || idle > idleShare * wall || wall > mostStretch * limit
}

/** Factor of all deadlines: `TEST_TIMEOUT_FACTOR`, 1 if it is not set. Throws if it is no positive number. */
export function timeoutFactor(environment: Readonly<Record<string, string | undefined>> = process.env): number {
  const text = environment['TEST_TIMEOUT_FACTOR']
  const factor = Number(text === undefined || text === '' ? 1 : text)
  if (Number.isFinite(factor) && factor > 0) return factor
  throw new Error(`TEST_TIMEOUT_FACTOR is "${text}": set it to a positive number, such as 5 for a slow machine.`)
}

/** Factor for waits that others measure by the clock, such as a wait in a browser: it grows with the number of processes that want each core. */
export const waitFactor = (): number =>
  timeoutFactor() * Math.min(mostStretch, Math.max(1, (2 * loadavg()[0]!) / cpus().length))

const idleNow = (): number => cpus().reduce((sum, { times }) => sum + times.idle, 0)

const cpuNow = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** Starts to measure; returns a function that tells the time since. */
export function stopwatch(): () => Elapsed {
  const [wall, cpu, idle] = [performance.now(), cpuNow(), idleNow()]
  return () => ({ wall: performance.now() - wall, cpu: cpuNow() - cpu, idle: idleNow() - idle })
}
