import type { LogRecord, RecordOf } from '../../../src/protocol/records.ts'
import { cutEnd } from '../../../src/protocol/text/cutMiddle.ts'
import { textOf } from '../../../src/protocol/text/messageText.ts'
import { oneLine } from './plainText.ts'
import { callLine, outcomeLine } from './toolLine.ts'

/** A participant: an agent of the tree, or people, clients and programs as one. */
export interface SequenceLane {
  /** Id of the agent; empty for people. */
  readonly id: string
  readonly label: string
  /** Name of the agent's definition, if it is known. */
  readonly definition?: string
  /** True if the agent's own log was read. Otherwise the sequence has only the part that its caller saw. */
  readonly isRead: boolean
}

/**
 * `call`: the start of a sub-agent, by a tool or by code. `result` and `failure`: its end. `asks`: an item that
 * waits for people. `handoff`: the switch of the conversation to another definition.
 */
export type SequenceKind = 'said' | 'call' | 'result' | 'failure' | 'report' | 'asks' | 'answer' | 'handoff'

/** A message from one participant to another, such as a call or its result. */
export interface SequenceStep {
  readonly from: string
  readonly to: string
  readonly kind: SequenceKind
  /** Text of the step, on one line. */
  readonly text: string
  /** Time of the step, in epoch milliseconds. */
  readonly time: number
  /** Agent and `seq` of the record that the step is made from. */
  readonly agentId: string
  readonly seq: number
}

/** The calls and messages in a tree of agents, in order. */
export interface ActorSequence {
  /** People first, then the root, then the others as they were started. */
  readonly lanes: readonly SequenceLane[]
  readonly steps: readonly SequenceStep[]
}

/** The log of an agent, from its beginning. */
export interface SequenceLog {
  readonly agentId: string
  readonly records: readonly LogRecord[]
}

export const people = ''
const maxText = 80

/**
 * Returns the calls and messages among the agents of a tree and people. The log of the root is enough for the starts and ends of its sub-agents.
 * Their own logs, in any order, add their questions and calls. Each log keeps its order, even if its clock was wrong. Pure.
 */
export function actorSequence(root: SequenceLog, others: readonly SequenceLog[] = []): ActorSequence {
  const logs = [root, ...others]
  const read = new Set(logs.map(({ agentId }) => agentId))
  const told = logs.map((log) => stepsOf(log, read))
  const steps = merged(told.map((one) => one.steps))
  const definitions = new Map(told.flatMap((one) => [...one.definitions]))
  const ids = new Set([people, root.agentId, ...steps.flatMap(({ from, to }) => [from, to]), ...read])
  const lanes = [...ids].map((id): SequenceLane => {
    const definition = definitions.get(id)
    const label = id === people ? 'people' : id
    return { id, label, isRead: id === people || read.has(id), ...(definition === undefined ? {} : { definition }) }
  })
  return { lanes, steps }
}

/** Merges the steps of several logs by time; each log keeps its own order. At the same moment a call goes first, and a result last. */
function merged(logs: readonly (readonly SequenceStep[])[]): SequenceStep[] {
  const timed = logs.flatMap((steps, log) => {
    let latest = Number.NEGATIVE_INFINITY
    return steps.map((step) => {
      latest = Math.max(latest, step.time)
      return { step, log, latest }
    })
  })
  timed.sort((a, b) => a.latest - b.latest || a.log - b.log)
  const steps: SequenceStep[] = []
  let moment: SequenceStep[][] = []
  for (const [index, { step, log, latest }] of timed.entries()) {
    const before = timed[index - 1]
    if (before?.latest !== latest) {
      steps.push(...inOrder(moment))
      moment = [[step]]
    } else if (before.log === log) moment.at(-1)!.push(step)
    else moment.push([step])
  }
  return [...steps, ...inOrder(moment)]
}

/**
 * Returns true if `one` must precede `other`, a step of another log at the same moment: `one` starts the agent of `other`, or `other`
 * records the end of the agent of `one`.
 */
const goesFirst = (one: SequenceStep, other: SequenceStep): boolean =>
  (one.kind === 'call' && one.to === other.agentId) || (one.agentId === other.from && other.from !== other.agentId)

/** Yields the steps of several logs at one moment, causes before effects. */
function* inOrder(logs: readonly (readonly SequenceStep[])[]): Generator<SequenceStep> {
  let left = logs.map((steps) => ({ steps, next: 0 }))
  while (left.length > 1) {
    const heads = left.map(({ steps, next }) => steps[next]!)
    const free = heads.findIndex((head) => !heads.some((other) => other !== head && goesFirst(other, head)))
    const taken = left[Math.max(0, free)]!
    yield taken.steps[taken.next]!
    taken.next += 1
    if (taken.next === taken.steps.length) left = left.filter((one) => one !== taken)
  }
  for (const { steps, next } of left) yield* steps.slice(next)
}

/** Describes the end of a run in a word or two. */
const endOf = ({ stopReason, reason }: RecordOf<'run.end'>): string =>
  stopReason === 'stop' ? 'done' : reason === undefined ? stopReason : `${stopReason}: ${reason.type}`

const toldTypes: ReadonlySet<LogRecord['type']> = new Set([
  'agent.created',
  'message.added',
  'tool.start',
  'tool.end',
  'child.spawned',
  'child.ended',
  'approval.requested',
  'approval.decided',
  'question.asked',
  'question.answered',
  'call.requested',
  'run.end',
])

/** Returns true if a sequence may show a record; no other records need to be kept for it. Pure. */
export const isTold = ({ type }: LogRecord): boolean => toldTypes.has(type)

interface Told {
  readonly steps: readonly SequenceStep[]
  readonly definitions: ReadonlyMap<string, string>
}

function stepsOf({ agentId, records }: SequenceLog, read: ReadonlySet<string>): Told {
  const steps: SequenceStep[] = []
  const definitions = new Map<string, string>()
  /** Sub-agents by the key of the call that runs them. */
  const calls = new Map<string, string>()
  let isCalled = false
  for (const record of records) {
    const add = (from: string, to: string, kind: SequenceKind, text: string): void => {
      const { time, seq } = record
      steps.push({ from, to, kind, text: cutEnd(oneLine(text), maxText), time, agentId, seq })
    }
    switch (record.type) {
      case 'agent.created':
        definitions.set(agentId, record.definition)
        isCalled = record.parent !== undefined && read.has(record.parent.agentId)
        break
      case 'message.added': {
        const { provenance } = record.message
        if (provenance?.type === 'report') add(provenance.agentId, agentId, 'report', textOf(record.message.content))
        // What its caller told it is the call.
        else if (!isCalled) add(people, agentId, 'said', textOf(record.message.content))
        break
      }
      case 'tool.start':
        if (record.childId === undefined) break
        calls.set(record.key, record.childId)
        add(agentId, record.childId, 'call', callLine(record.name, record.input))
        break
      case 'tool.end': {
        const child = calls.get(record.key)
        if (child !== undefined) add(child, agentId, record.message.isError ? 'failure' : 'result', outcomeLine(record))
        if (record.handoff !== undefined) add(agentId, agentId, 'handoff', `hands over to ${record.handoff}`)
        break
      }
      case 'child.spawned':
        definitions.set(record.childId, record.definition)
        add(agentId, record.childId, 'call', `starts ${record.definition}`)
        break
      case 'child.ended':
        if (record.error === undefined) add(record.childId, agentId, 'result', 'ended')
        else add(record.childId, agentId, 'failure', `${record.error.code}: ${record.error.message}`)
        break
      case 'approval.requested':
        add(agentId, people, 'asks', `wants to run ${callLine(record.name, record.input)}`)
        break
      case 'approval.decided':
        add(people, agentId, 'answer', [record.decision, record.reason].filter(Boolean).join(': '))
        break
      case 'question.asked':
        add(agentId, people, 'asks', record.question)
        break
      case 'question.answered':
        add(people, agentId, 'answer', 'answers')
        break
      case 'call.requested':
        add(agentId, people, 'asks', `to carry out ${callLine(record.name, record.input)}`)
        break
      case 'run.end':
        if (!isCalled) add(agentId, people, record.stopReason === 'error' ? 'failure' : 'result', endOf(record))
        break
      default:
    }
  }
  return { steps, definitions }
}
