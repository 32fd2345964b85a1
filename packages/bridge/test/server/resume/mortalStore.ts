import type { Clock } from '../../../../../src/protocol/ports/clock.ts'
import type { LogRecord } from '../../../../../src/protocol/records.ts'
import type { Store } from '../../../../../src/protocol/ports/store.ts'
import { memoryStore } from '../../../../stores/src/memory/memoryStore.ts'
import type { Dice } from '../../../../../test/tree/dice.ts'

export type Logs = ReadonlyMap<string, readonly LogRecord[]>

/** A store in memory that takes its time, and forgets what it has not written when its process is killed. */
export interface MortalStore extends Store {
  /** Logs as they are stored. */
  logs(): Promise<Logs>
  /** From now on nothing is written; gives what is: of what was on its way a part may be. */
  kill(): Promise<Logs>
}

interface Write {
  readonly agentId: string
  readonly records: readonly LogRecord[]
}

/** Makes one on logs that another left behind; a write takes up to `maxMs`. */
export async function mortalStore(
  left: Logs,
  { clock, dice, maxMs }: { readonly clock: Clock; readonly dice: Dice; readonly maxMs: number },
): Promise<MortalStore> {
  const inner = memoryStore()
  for (const [agentId, records] of left) {
    const lease = await inner.open(agentId)
    await inner.append(agentId, records)
    await lease.release()
  }
  const writes = new Set<Write>()
  let last: Promise<unknown> = Promise.resolve()
  let isDead = false

  const write = async (next: Write): Promise<void> => {
    const ms = dice.int(0, maxMs)
    if (ms > 0) await new Promise<void>((resolve) => clock.after(ms, resolve))
    if (isDead) return
    writes.delete(next)
    await inner.append(next.agentId, next.records)
  }

  const logs = async (): Promise<Logs> => {
    const all = new Map<string, LogRecord[]>()
    for (const id of await inner.list()) {
      const records: LogRecord[] = []
      for await (const record of inner.read(id)) records.push(record)
      all.set(id, records)
    }
    return all
  }

  return {
    ...inner,
    logs,
    append(agentId, records) {
      if (isDead) return Promise.resolve()
      const next = { agentId, records }
      writes.add(next)
      const done = last.then(() => write(next))
      last = done.catch(() => {})
      return done
    },
    async kill() {
      isDead = true
      let kept = dice.percent(50) ? 0 : dice.int(0, 12)
      for (const { agentId, records } of writes) {
        const torn = records.slice(0, kept)
        if (torn.length > 0) await inner.append(agentId, torn)
        kept -= torn.length
        if (torn.length < records.length) break
      }
      return await logs()
    },
  }
}
