import type { Host } from './contender.ts'
import { tick } from './script.ts'
import type { TimedWorkload } from './workload.ts'

/** `short`: as many model calls as a quick test makes, before the compiler is done; `long`: steady state. */
export type WarmUp = 'short' | 'long'

/** Model calls of a short warm-up. */
const shortCalls = 840
/** Milliseconds of work of a long one, and of what is measured after it. */
const longMs = 3_000
const measuredMs = 500

/** CPU microseconds, of all threads of the process. */
export function cpuNow(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Collects garbage. Needs `--expose-gc`. */
export async function collect(): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await tick()
    globalThis.gc!()
  }
}

/** Bytes of the heap that are in use, after a collection. */
export async function heapAtRest(): Promise<number> {
  await collect()
  return process.memoryUsage().heapUsed
}

/** CPU microseconds of one batch. */
export async function timeBatch(workload: TimedWorkload, host: Host): Promise<number> {
  const run = await workload.prepare(host)
  const before = cpuNow()
  await run()
  const spent = cpuNow() - before
  await host.release()
  return spent
}

/** Works before it is measured, then collects garbage. */
export async function warmUp(workload: TimedWorkload, host: Host, how: WarmUp): Promise<void> {
  const by = workload.warmUp ?? workload
  const until = performance.now() + longMs
  for (let calls = 0; how === 'short' ? calls < shortCalls : performance.now() < until; calls += by.calls)
    await timeBatch(by, host)
  await collect()
}

/** Converts a batch's CPU time to that of one unit, in the unit of the workload. */
export const perUnit = ({ unit, units }: TimedWorkload, micros: number): number =>
  ((unit === 'ns' ? 1_000 : 1) * micros) / units

/** A unit's CPU time, over as many batches as belong to the warm-up. */
export async function timeWorkload(workload: TimedWorkload, host: Host, how: WarmUp): Promise<number> {
  const until = performance.now() + measuredMs
  let [spent, batches] = [0, 0]
  while (how === 'short' ? batches < workload.batches : batches < workload.batches || performance.now() < until) {
    spent += await timeBatch(workload, host)
    batches += 1
  }
  return perUnit(workload, spent / batches)
}
