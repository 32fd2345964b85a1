import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LogRecord } from '../../src/protocol/records.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import { lineOf } from '../../packages/stores/src/checksum.ts'

/** `before`: as the record is about to be written; `torn`: with half of its line written; `after`: as soon as it is stored. */
export type KillMode = 'before' | 'torn' | 'after'

/** Ends the process around the `at`th record that it writes, counted over all agents from 1. */
export interface Kill {
  readonly mode: KillMode
  readonly at: number
}

export const killModes: readonly KillMode[] = ['after', 'before', 'torn']

const die = (): Promise<never> => {
  process.kill(process.pid, 'SIGKILL')
  return new Promise(() => {})
}

/** A file store in `dir` whose process is killed at a record. */
export function killingStore(inner: Store, dir: string, kill: Kill): Store {
  const whole = kill.mode === 'after' ? kill.at : kill.at - 1
  let written = 0
  const appendLast = async (agentId: string, records: readonly LogRecord[], count: number): Promise<void> => {
    const before = records.slice(0, count)
    if (before.length > 0) await inner.append(agentId, before)
    if (kill.mode === 'torn') {
      const line = lineOf(JSON.stringify(records[before.length]))
      appendFileSync(join(dir, `${agentId}.jsonl`), line.slice(0, Math.ceil(line.length / 2)))
    }
    return die()
  }
  return {
    read: (agentId, fromSeq) => inner.read(agentId, fromSeq),
    list: () => inner.list(),
    open: (agentId) => inner.open(agentId),
    close: () => inner.close(),
    ...(inner.checkpoints === undefined ? {} : { checkpoints: inner.checkpoints }),
    append(agentId, records) {
      const first = written
      written += records.length
      // Its promise as it is: a store that is done at once is so in here as well.
      if (written < kill.at) return inner.append(agentId, records)
      // Other agents' appends that come meanwhile are never stored.
      return first >= kill.at ? new Promise(() => {}) : appendLast(agentId, records, whole - first)
    },
  }
}
