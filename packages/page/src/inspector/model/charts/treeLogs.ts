import { signal, type ReadonlySignal } from '@preact/signals'
import {
  actorSequence,
  isTold,
  people,
  type ActorSequence,
  type SequenceLog,
} from '../../../../../charts/src/actorSequence.ts'
import type { Client } from '../../../../../bridge/src/client/index.ts'
import type { LogRecord } from '../../../../../../src/protocol/records.ts'
import { isLogged } from '../agent/eventList.ts'
import type { FrameBatch } from '../agent/frameBatch.ts'

/** The records of a growing log that a sequence shows. Reads each record once. */
export class ToldRecords {
  #records: readonly LogRecord[] = []
  #looked = 0
  #told: LogRecord[] = []

  /** Returns the shown records up to and including record `seq`. */
  of(records: readonly LogRecord[], seq: number): readonly LogRecord[] {
    if (records !== this.#records) {
      this.#records = records
      this.#looked = 0
      this.#told = []
    }
    for (; this.#looked < records.length; this.#looked++) {
      const record = records[this.#looked]!
      if (isTold(record)) this.#told.push(record)
    }
    const end = this.#told.findLastIndex((record) => record.seq <= seq) + 1
    return end === this.#told.length ? this.#told : this.#told.slice(0, end)
  }
}

/** Limit of the lanes that are drawn; the others share one more. */
const mostLanes = 60
/** Id of the lane that is shared by all agents without a lane of their own. */
export const othersId = '…'

/** Returns the sequence with a limited number of lanes. Pure. */
export function withFewLanes({ lanes, steps }: ActorSequence): ActorSequence {
  if (lanes.length <= mostLanes + 1) return { lanes, steps }
  const own = lanes.slice(0, mostLanes)
  const known = new Set(own.map(({ id }) => id))
  const placed = (id: string): string => (known.has(id) ? id : othersId)
  return {
    lanes: [...own, { id: othersId, label: `${lanes.length - mostLanes} more`, isRead: true }],
    steps: steps.map((step) => ({ ...step, from: placed(step.from), to: placed(step.to) })),
  }
}

/** Returns the sequence of a tree up to the last record of the root. In the past, other logs are cut at that record's time. Pure. */
export function sequenceAt(root: SequenceLog, others: readonly SequenceLog[], isPast: boolean): ActorSequence {
  if (!isPast) return actorSequence(root, others)
  const until = root.records.at(-1)?.time ?? 0
  const cut = others.map(({ agentId, records }) => ({ agentId, records: records.filter(({ time }) => time <= until) }))
  return actorSequence(root, cut)
}

/** Logs of agents below the one that is shown, read when a person opens them and followed from then on. Close it. */
export class OpenedLogs {
  readonly #client: Client
  readonly #batch: FrameBatch
  readonly #logs = new Map<string, { readonly records: LogRecord[]; readonly unsubscribe: () => void }>()
  readonly #all = signal<readonly SequenceLog[]>([])
  readonly #publish = (): void =>
    void (this.#all.value = [...this.#logs].map(([agentId, { records }]) => ({ agentId, records })))

  constructor(client: Client, batch: FrameBatch) {
    this.#client = client
    this.#batch = batch
  }

  /** The opened logs. They have a new value at most once per frame. */
  get all(): ReadonlySignal<readonly SequenceLog[]> {
    return this.#all
  }

  /** Opens the log of an agent; a missing log stays empty. Idempotent. */
  open(agentId: string): void {
    if (this.#logs.has(agentId) || agentId === people || agentId === othersId) return
    const records: LogRecord[] = []
    const take = (event: Parameters<Parameters<ReturnType<Client['agent']>['subscribe']>[0]>[0]): void => {
      if (!isLogged(event) || event.agentId !== agentId || !isTold(event as LogRecord)) return
      records.push(event as LogRecord)
      this.#batch.add(this.#publish)
    }
    const unsubscribe = this.#client.agent(agentId).subscribe(take, { fromSeq: 1, deltas: false, captured: false })
    this.#logs.set(agentId, { records, unsubscribe })
    this.#publish()
  }

  close(): void {
    for (const { unsubscribe } of this.#logs.values()) unsubscribe()
    this.#logs.clear()
    this.#batch.remove(this.#publish)
  }
}
