/**
 * One cell of the table, in a process of its own: prints its figures as a line of JSON, or fails.
 *
 *   node --expose-gc tools/bench/peers/cell.ts <contender> <workload> [short|long]
 */
import { contenders, type ContenderName } from './contenders.ts'
import { timeWorkload, warmUp, type WarmUp } from './measure.ts'
import type { Contender } from './contender.ts'
import type { Figures, TimedWorkload, Workload } from './workload.ts'
import { workloads } from './workloads.ts'
import { turnWorkload } from './workloads/turn.ts'

/** Result that a cell prints. */
export interface CellResult {
  readonly contender: string
  readonly workload: string
  readonly warmUp: string
  readonly figures: Figures
}

/** Measures one workload in this process. */
export async function measureCell(contender: ContenderName, workload: Workload, how: WarmUp): Promise<CellResult> {
  const { load } = contenders[contender]
  const figures =
    workload.type === 'timed'
      ? { cpu: await timeAlone(workload, await load(), how) }
      : await workload.measure(load, (host) => warmUp(turnWorkload(100), host, how))
  return { contender, workload: workload.name, warmUp: how, figures }
}

async function timeAlone(workload: TimedWorkload, contender: Contender, how: WarmUp): Promise<number> {
  const host = await contender.open()
  await warmUp(workload, host, how)
  const cpu = await timeWorkload(workload, host, how)
  await host.close()
  return cpu
}

if (import.meta.main) {
  const [contender, name, how = 'short'] = process.argv.slice(2)
  const workload = workloads.find((each) => each.name === name)
  if (workload === undefined) throw new Error(`There is no workload "${name}".`)
  console.log(JSON.stringify(await measureCell(contender as ContenderName, workload, how as WarmUp)))
  // A contender that hangs keeps its process alive.
  process.exit()
}
