import { counted, dollars, duration } from '../../../../../charts/src/amounts.ts'
import { callLine } from '../../../../../charts/src/toolLine.ts'
import type { AgentEvent } from '../../../../../../src/protocol/events.ts'
import type { NodeId } from '../../../../../../src/protocol/ids.ts'
import { brakeLines } from '../../../../../words/src/brakes/brakeLines.ts'
import { linesAbout } from '../../../../../words/src/parts/partLines.ts'
import type { Telling } from '../../../../../words/src/brakes/telling.ts'
import type { LogRecord, RecordOf } from '../../../../../../src/protocol/records.ts'
import { keptNotes, readKeptName } from '../calls/keptResults.ts'

/** A remark about the context that an agent had in view. */
export interface ContextNote {
  readonly seq: number
  readonly turnIndex: number
  readonly text: string
  /** Text that can be unfolded below the note, line by line. */
  readonly lines?: readonly string[]
  readonly tone?: 'bad' | 'warn'
  /** A node of the conversation to go to. */
  readonly node?: NodeId
}

export const noteGroups = [
  'Circles',
  'Memos and names',
  'Pins',
  brakeLines.heading,
  'Undone effects',
  'Looked up',
  'Memory',
  'Skills',
  'Kept results',
  'Questions and approvals',
  'Models that failed or had to wait',
] as const
/** One of the groups above, or the heading of a part's notes. */
export type NoteGroup = string

/** Notes by group, oldest first. Groups without notes are missing. */
export type ContextNotes = ReadonlyMap<NoteGroup, readonly ContextNote[]>

const rungs = {
  none: 'nothing was done',
  note: 'the model was told',
  revert: 'it went back',
  pause: 'it paused',
} as const

type Told = readonly [group: NoteGroup, note: Omit<ContextNote, 'seq' | 'turnIndex'>]

/** Groups of the runtime's own tools whose calls get a note; a tool that only shares the name gets none. */
const calls: Readonly<Record<string, NoteGroup>> = {
  recall: 'Looked up',
  [readKeptName]: 'Looked up',
  remember: 'Memory',
  recall_memory: 'Memory',
  read_skill: 'Skills',
}

/** Returns the notes about the context that an agent had in view up to record `end`, from its log and the events seen live. One pass. Pure. */
export function contextNotes(
  records: readonly LogRecord[],
  end: number,
  live: readonly AgentEvent[] = [],
): ContextNotes {
  const notes = new Map<NoteGroup, ContextNote[]>()
  const asked = new Map<string, number>()
  const add = (seq: number, turnIndex: number, [group, note]: Told): void => {
    const known = notes.get(group)
    const made = { seq, turnIndex, ...note }
    if (known === undefined) notes.set(group, [made])
    else known.push(made)
  }
  for (let at = 0; at < Math.min(end, records.length); at++) {
    const record = records[at]!
    if (!('turnIndex' in record)) continue
    for (const told of notesOf(record, asked)) add(record.seq, record.turnIndex, told)
  }
  for (const event of live) {
    if (event.type !== 'model.waited' || event.seq > end) continue
    const text = `${event.model} had to wait ${duration(event.ms)} within the limits of the runtime`
    add(event.seq, event.turnIndex, ['Models that failed or had to wait', { text }])
  }
  const groups = new Set([...noteGroups, ...notes.keys()])
  return new Map([...groups].flatMap((group) => (notes.has(group) ? [[group, notes.get(group)!] as const] : [])))
}

type Placed = Exclude<LogRecord, { type: 'agent.created' | 'agent.stopped' }>

function notesOf(record: Placed, asked: Map<string, number>): readonly Told[] {
  switch (record.type) {
    case 'stall.detected': {
      const text = `${record.evidence}: ${rungs[record.rung]}${record.count === 1 ? '' : `, ${record.count} in a row`}`
      return [['Circles', { text, tone: 'warn', node: record.first, ...linesOf(record.note) }]]
    }
    case 'prune.applied':
      return memosOf(record)
    case 'pin.applied': {
      const text = `${record.pinned ? 'Pinned' : 'Unpinned'} ${record.requested}`
      if (record.applied) return [['Pins', { text, ...nodeOf(record.step) }]]
      return [['Pins', { text: `${text}: not done, ${record.reason ?? 'no reason was given'}`, tone: 'warn' }]]
    }
    case 'undo.end': {
      const text = `${counted(record.undone.length, 'effect')} undone, ${record.kept.length} left as they are`
      const lines = [
        ...record.undone.map((what) => `undone: ${what}`),
        ...record.kept.map(({ what, why }) => `left: ${what} (${why})`),
      ]
      return [['Undone effects', { text, lines, ...(record.kept.length === 0 ? {} : { tone: 'warn' as const }) }]]
    }
    case 'tool.end':
      return endOf(record)
    case 'tool.start': {
      const group = Object.hasOwn(calls, record.name) ? calls[record.name] : undefined
      return group === undefined ? [] : [[group, { text: callLine(record.name, record.input) }]]
    }
    case 'question.asked':
    case 'approval.requested': {
      asked.set(record.key, record.time)
      return []
    }
    case 'question.answered':
    case 'approval.decided': {
      const since = asked.get(record.key)
      asked.delete(record.key)
      const took = since === undefined ? '' : `, after ${duration(record.time - since)}`
      const why = record.reason === undefined ? '' : `: ${record.reason}`
      const words = { answer: 'Answered', approve: 'Approved', deny: 'Denied' } as const
      return [['Questions and approvals', { text: `${words[record.decision]} ${record.key}${took}${why}` }]]
    }
    case 'reply.reset': {
      const next = record.next === undefined ? '' : `; ${record.next} was asked instead`
      const text = `Attempt ${record.attempt} failed with ${record.error.code}${next}`
      return [['Models that failed or had to wait', { text, tone: 'bad', lines: [record.error.message] }]]
    }
    default:
      return notesElsewhere(record)
  }
}

function memosOf({ memo, index, applied, steps, rolled = [] }: RecordOf<'prune.applied'>): readonly Told[] {
  if (!applied) return []
  const [first] = steps
  const group = 'Memos and names'
  const memos: Told[] =
    memo === undefined
      ? []
      : [[group, { text: `Memo of ${counted(steps.length, 'step')}`, ...linesOf(memo), ...nodeOf(first) }]]
  const names: Told[] =
    index === undefined ? [] : [[group, { text: 'Names that stand in hidden steps alone', ...linesOf(index) }]]
  const shorter = rolled.map((one): Told => {
    const text = `Shorter memo of ${counted(one.folds.length, 'older fold')}`
    return [group, { text, ...linesOf(one.memo) }]
  })
  return [...memos, ...names, ...shorter]
}

const brakeNotes: {
  readonly [T in LogRecord['type']]?: (
    record: never,
    telling: Pick<Telling, 'counted'>,
  ) => Omit<ContextNote, 'seq' | 'turnIndex' | 'node'> & { readonly node?: NodeId | undefined }
} = brakeLines.notes

function notesElsewhere(record: Placed): readonly Told[] {
  const ofPart = linesAbout(record as AgentEvent)?.note?.(record as AgentEvent, { counted, dollars })
  if (ofPart !== undefined) {
    const { heading, ...rest } = ofPart
    return [[heading, rest]]
  }
  const told = brakeNotes[record.type]?.(record as never, { counted })
  if (told === undefined) return []
  const { node, ...note } = told
  return [[brakeLines.heading, { ...note, ...nodeOf(node) }]]
}

function endOf({ message, nodeId }: RecordOf<'tool.end'>): readonly Told[] {
  return keptNotes(message).map((text): Told => ['Kept results', { text, node: nodeId }])
}

const linesOf = (text: string | undefined): { readonly lines?: readonly string[] } =>
  text === undefined || text === '' ? {} : { lines: text.split('\n') }

const nodeOf = (node: NodeId | undefined): { readonly node?: NodeId } => (node === undefined ? {} : { node })
