/**
 * One cell of the table, in a process of its own: prints its figures as a line of JSON, or fails.
 *
 *   node --expose-gc bench/peers/cell.ts <contender> <workload> [short|long]
 */
import { contenders, type ContenderName } from './contenders.ts'
import { timeWorkload, warmUp, type WarmUp } from './measure.ts'
import type { Figures } from './workload.ts'
import { workloads } from './workloads.ts'

/** What a cell prints. */
export interface CellResult {
  readonly contender: string
  readonly workload: string
  readonly warmUp: string
  readonly figures: Figures
}

async function measure(contender: ContenderName, name: string, how: WarmUp): Promise<CellResult> {
  const workload = workloads.find((each) => each.name === name)
  if (workload === undefined) throw new Error(`There is no workload "${name}".`)
  const subject = await contenders[contender].load()
  if (workload.type === 'measured') throw new Error(`"${name}" is not timed.`)
  const host = await subject.open()
  await warmUp(workload, host, how)
  const cpu = await timeWorkload(workload, host, how)
  await host.close()
  return { contender, workload: name, warmUp: how, figures: { cpu } }
}

if (import.meta.main) {
  const [contender, workload, how = 'short'] = process.argv.slice(2)
  const result = await measure(contender as ContenderName, workload!, how as WarmUp)
  console.log(JSON.stringify(result))
  // A contender that hangs keeps its process alive.
  process.exit()
}
