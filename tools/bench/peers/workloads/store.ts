import type { HostOptions } from '../contender.ts'
import { perUnit, timeBatch } from '../measure.ts'
import type { MeasuredWorkload } from '../workload.ts'
import { turnWorkload } from './turn.ts'

/** A turn with the log in files; `memory` beside it. Only we have one. */
export function storeWorkload(durability: HostOptions['durability']): MeasuredWorkload {
  const where = durability === undefined ? 'in memory' : `in files, "${durability}"`
  return {
    type: 'measured',
    name: `store-${durability ?? 'memory'}`,
    rows: [
      { figure: 'cpu', title: `turn, its log ${where}`, unit: 'µs/turn' },
      { figure: 'wall', title: `the same by the clock on the wall`, unit: 'µs/turn' },
    ],
    only: ['escapement'],
    async measure(load, warm) {
      const host = await (await load()).open(durability === undefined ? {} : { durability })
      // `batch` waits 10 ms twice a turn.
      const workload = turnWorkload(durability === 'batch' || durability === 'each' ? 10 : 100)
      await warm(host)
      const batches = durability === 'batch' ? 1 : 5
      let [cpu, wall] = [0, 0]
      for (let batch = 0; batch < batches; batch += 1) {
        const started = performance.now()
        cpu += await timeBatch(workload, host)
        wall += (performance.now() - started) * 1_000
      }
      await host.close()
      return { cpu: perUnit(workload, cpu / batches), wall: perUnit(workload, wall / batches) }
    },
  }
}
