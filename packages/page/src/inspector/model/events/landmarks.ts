import type { AgentEvent } from '../../../../../../src/protocol/events.ts'
import type { LogRecord } from '../../../../../../src/protocol/records.ts'
import { isFailure } from '../agent/eventGroups.ts'
import { eventText } from './eventWords.ts'

/** Kinds of landmarks in a log; those that matter more come first. */
export const landmarkKinds = ['error', 'revert', 'compaction', 'prompt', 'turn'] as const
export type LandmarkKind = (typeof landmarkKinds)[number]

/** A mark on the slider. */
export interface Landmark {
  readonly kind: LandmarkKind
  /** `seq` of the landmark's record. */
  readonly seq: number
}

function kindOf(record: LogRecord): LandmarkKind | undefined {
  if (isFailure(record as LogRecord & AgentEvent)) return 'error'
  switch (record.type) {
    case 'revert.applied':
      return 'revert'
    case 'compaction.end':
      return record.applied ? 'compaction' : undefined
    case 'message.added':
      return isSaid(record.message.provenance?.type) ? 'prompt' : undefined
    case 'turn.start':
      return 'turn'
    default:
      return undefined
  }
}

/** Returns true if a person sent the message, as a prompt, as steering or as a follow-up. */
const isSaid = (from: string | undefined): boolean => from === undefined || from === 'steering' || from === 'followUp'

/** Finds the landmarks of a growing log. Reads each record once. */
export class Landmarks {
  #records: readonly LogRecord[] = []
  #seen = 0
  #all: Landmark[] = []
  #shown: readonly Landmark[] = []
  #shownOf = 0

  /** Returns at most `places` landmarks, oldest first; of several at about the same place, the one that matters most. */
  of(records: readonly LogRecord[], places: number): readonly Landmark[] {
    if (records !== this.#records) {
      this.#records = records
      this.#seen = 0
      this.#all = []
      this.#shownOf = 0
    }
    for (; this.#seen < records.length; this.#seen++) {
      const kind = kindOf(records[this.#seen]!)
      if (kind !== undefined) this.#all.push({ kind, seq: this.#seen + 1 })
    }
    if (this.#shownOf !== records.length) this.#shown = thinned(this.#all, records.length, places)
    this.#shownOf = records.length
    return this.#shown
  }
}

function thinned(all: readonly Landmark[], length: number, places: number): readonly Landmark[] {
  const chosen = new Map<number, Landmark>()
  for (const mark of all) {
    const place = Math.floor(((mark.seq - 1) / length) * places)
    const before = chosen.get(place)
    if (before === undefined || landmarkKinds.indexOf(mark.kind) < landmarkKinds.indexOf(before.kind))
      chosen.set(place, mark)
  }
  return [...chosen.values()]
}

/** Returns the `seq` of the start of the turn after or before record `seq`, or the end or the beginning of the log if there is none. Pure. */
export function turnBeside(records: readonly LogRecord[], seq: number, step: 1 | -1): number {
  for (let index = seq - 1 + step; index >= 0 && index < records.length; index += step)
    if (records[index]!.type === 'turn.start') return index + 1
  return step === 1 ? records.length : 1
}

/** Bounds of one frame of the player in milliseconds: shorter waits are joined, and longer ones are shortened. */
const frame = { least: 40, most: 1_500 } as const

/** Returns the `seq` that a player shows after record `seq`, and the delay in milliseconds; `undefined` at the end. Pure. */
export function nextMoment(
  records: readonly LogRecord[],
  seq: number,
  speed: number,
): { readonly seq: number; readonly afterMs: number } | undefined {
  let afterMs = 0
  for (let next = seq + 1; next <= records.length; next++) {
    // A clock that was put back has no wait, and one that was put on has no longer one than others.
    const wait = Math.max(0, records[next - 1]!.time - (records[next - 2]?.time ?? records[next - 1]!.time))
    afterMs += Math.min(frame.most, wait) / speed
    if (afterMs >= frame.least || next === records.length)
      return { seq: next, afterMs: Math.min(frame.most, Math.max(frame.least, afterMs)) }
  }
  return undefined
}

const words: Partial<Record<LogRecord['type'], (text: string) => string>> = {
  'turn.start': (text) => `${text} begins`,
  'turn.end': (text) => `${text} ends`.replace(/^(turn \d+),(.*) ends$/, '$1 ends,$2'),
  'reply.end': (text) => `reply: ${text.replace(/^n\d+ /, '')}`,
  'message.added': (text) => text.replace(/^n\d+ /, ''),
  'tool.start': (text) => `calls ${text}`,
  'tool.end': (text) => `result of ${text}`,
  'run.start': () => 'a run begins',
  'run.end': (text) => `run ${text}`,
}

/** Describes a record: `turn 7 begins`, `calls deploy production`, `revert applied: …`. Pure. */
export function momentWords(record: LogRecord, agentId: string): string {
  const text = eventText({ ...record, agentId, path: [] })
  const said = words[record.type]
  if (said !== undefined) return said(text)
  const name = record.type.replace(/[.]|(?=[A-Z])/g, ' ').toLowerCase()
  return text === '' ? name : `${name}: ${text}`
}
