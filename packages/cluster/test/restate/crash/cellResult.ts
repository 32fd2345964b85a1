import { existsSync, readFileSync } from 'node:fs'
import type { LogRecord } from '../../../../../src/protocol/records.ts'
import type { Store } from '../../../../../src/protocol/ports/store.ts'
import { checkLog } from '../../../../../test/support/journeyRules.ts'
import { recordsIn } from '../recordsIn.ts'
import type { Effect } from './job.ts'

/** Result of a cell; the numbers below `answers` must be 0. */
export interface CellResult {
  readonly wanted: number
  readonly answers: number
  /** Logs that are not whole, in words. */
  readonly faults: readonly string[]
  /** Prompts that were recorded other than once. */
  readonly repeats: number
  /** Effects that happened again although their end was in the log. */
  readonly again: number
  /** Irreversible effects that happened twice. */
  readonly twice: number
  /** Records that somebody has added who had lost the log. */
  readonly zombie: number
  readonly slowestMs: number
  /** Deviation from the description, in words. */
  readonly note?: string
}

/** State that is looked at when all is over. */
export interface Remains {
  readonly store: Store
  readonly ids: readonly string[]
  /** Prompts that each agent was given. */
  readonly prompts: number
  readonly effectsFile: string
}

/** Judges logs and noted effects. `before`: the logs before those who had lost them went on. */
export async function judge(
  { store, ids, prompts, effectsFile }: Remains,
  before?: readonly LogRecord[][],
): Promise<Omit<CellResult, 'wanted' | 'answers' | 'slowestMs'>> {
  const logs = await logsOf(store, ids)
  const effects = readEffects(effectsFile)
  return {
    zombie: before === undefined ? 0 : sum(logs, (records, index) => records.length - before[index]!.length),
    faults: logs.flatMap((records, index) => faultsIn(ids[index]!, records)),
    repeats: sum(logs, (records) => repeatsIn(records, prompts)),
    again: sum(logs, (records) => againIn(records, effects)),
    twice: twiceIn(effects),
  }
}

export async function logsOf(store: Store, ids: readonly string[]): Promise<LogRecord[][]> {
  return await Promise.all(ids.map((id) => recordsIn(store, id)))
}

const sum = <T>(all: readonly T[], of: (one: T, index: number) => number): number =>
  all.reduce((total, one, index) => total + of(one, index), 0)

function faultsIn(agentId: string, records: readonly LogRecord[]): string[] {
  const gaps = records.flatMap(({ seq }, index) => (seq === index + 1 ? [] : [`record ${index + 1} is ${seq}`]))
  return [...gaps, ...checkLog(records, { isWhole: true })].map((fault) => `${agentId}: ${fault}`)
}

const repeatsIn = (records: readonly LogRecord[], prompts: number): number =>
  Math.abs(
    records.filter((record) => record.type === 'message.added' && record.message.role === 'user').length - prompts,
  )

/** Effects that began after the log had what came of their call; that it is not known whether it happened is no such thing. */
function againIn(records: readonly LogRecord[], effects: readonly Effect[]): number {
  const ends = new Map(
    records.flatMap((record) =>
      record.type === 'tool.end' && !record.message.isError ? [[record.key, record.time] as const] : [],
    ),
  )
  return effects.filter(({ key, at }) => at > (ends.get(key) ?? Infinity)).length
}

const irreversible = new Set(['pay', 'publish'])

function twiceIn(effects: readonly Effect[]): number {
  const keys = effects.filter(({ tool }) => irreversible.has(tool)).map(({ key }) => key)
  return keys.length - new Set(keys).size
}

function readEffects(file: string): Effect[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Effect)
}
