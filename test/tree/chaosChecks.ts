import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import type { Conversation } from '../../src/conversation/tree/conversation.ts'
import { messageOf } from '../../src/protocol/errors.ts'
import type { AgentEvent } from '../../src/protocol/events.ts'
import { totalTokens, type Usage } from '../../src/protocol/messages.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { checkJourney, checkLog } from '../support/journeyRules.ts'

/** Traces of one agent of a tree. */
export interface AgentTrace {
  readonly agentId: string
  readonly records: readonly LogRecord[]
  /** Events that a listener at the root heard of it. */
  readonly events: readonly AgentEvent[]
  readonly conversation: Conversation | undefined
  /** Its last life ended in the middle of things: by a defect of its own, or of one above. */
  readonly isTorn: boolean
}

interface Totals {
  tokens: number
  costUsd: number
  turns: number
}

const nothing = (): Totals => ({ tokens: 0, costUsd: 0, turns: 0 })

function count(totals: Totals, usage: Usage | undefined, costUsd = 0, turns = 0): void {
  totals.tokens += usage === undefined ? 0 : totalTokens(usage)
  totals.costUsd += costUsd
  totals.turns += turns
}

/** Usage of an agent over its life, read off its log: its own replies, and the reported usage of its children. */
function totalsOf(records: readonly LogRecord[]): Totals {
  const totals = nothing()
  for (const record of records) {
    if (record.type === 'reply.end') count(totals, record.message.usage, record.costUsd)
    else if (record.type === 'reply.reset') count(totals, record.usage, record.costUsd)
    // A turn that a crash cut off is begun again, and counts once.
    else if (record.type === 'run.end') {
      totals.turns += record.turns
      for (const { spent } of record.unfinished ?? []) count(totals, spent.usage, spent.costUsd, spent.turns)
    } else if ((record.type === 'tool.end' || record.type === 'child.ended') && record.spent !== undefined)
      count(totals, record.spent.usage, record.spent.costUsd, record.spent.turns)
  }
  return totals
}

const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b))
const areEqual = (a: Totals, b: Totals): boolean =>
  a.tokens === b.tokens && a.turns === b.turns && isNear(a.costUsd, b.costUsd)
const inWords = ({ tokens, costUsd, turns }: Totals): string => `${tokens} tokens, ${costUsd} $, ${turns} turns`

/** Every log is whole and rebuilds; where nothing was torn its events are its records and everything opened is closed. */
export function checkTraces(traces: readonly AgentTrace[], { isStoreSound }: { isStoreSound: boolean }): string[] {
  return traces.flatMap(({ agentId, records, events, conversation, isTorn }) => {
    const label = (fault: string): string => `${agentId}: ${fault}`
    try {
      rebuildConversation(records)
    } catch (thrown) {
      return [label(`the log does not rebuild: ${messageOf(thrown)}`)]
    }
    if (isTorn || !isStoreSound) return checkLog(records, { isWhole: false }).map(label)
    if (conversation === undefined) return [label('nothing was heard of it')]
    const heard = events.filter(({ type }) => type !== 'agent.created')
    return checkJourney({ events: heard, conversation, records }).map(label)
  })
}

/** Checks that the usage a parent reports of a child, pauses of its own included, is what the child's log says. */
export function checkSpending(traces: readonly AgentTrace[]): string[] {
  const byId = new Map(traces.map((trace) => [trace.agentId, trace]))
  return traces.flatMap(({ agentId, records }) => {
    const childOf = new Map<string, string>()
    /** By call: what was told before its end. */
    const told = new Map<string, Totals>()
    return records.flatMap((record) => {
      if (record.type === 'tool.start' && record.childId !== undefined) childOf.set(record.key, record.childId)
      if (record.type === 'reply.end') told.clear()
      for (const { callId, spent } of record.type === 'run.end' ? (record.unfinished ?? []) : []) {
        const before = told.get(callId) ?? nothing()
        count(before, spent.usage, spent.costUsd, spent.turns)
        told.set(callId, before)
      }
      if (record.type !== 'tool.end' && record.type !== 'child.ended') return []
      const childId = record.type === 'tool.end' ? childOf.get(record.key) : record.childId
      const child = childId === undefined ? undefined : byId.get(childId)
      if (child === undefined || child.isTorn) return []
      const said = (record.type === 'tool.end' ? told.get(record.callId) : undefined) ?? nothing()
      if (record.spent !== undefined) count(said, record.spent.usage, record.spent.costUsd, record.spent.turns)
      const used = totalsOf(child.records)
      return areEqual(said, used) ? [] : [`${agentId} says ${childId} used ${inWords(said)}; its log ${inWords(used)}`]
    })
  })
}

/** Tokens and dollars of the dearest reply in a log. */
const dearest = (records: readonly LogRecord[]): Totals => {
  const most = nothing()
  for (const record of records) {
    if (record.type !== 'reply.end') continue
    most.tokens = Math.max(most.tokens, totalTokens(record.message.usage))
    most.costUsd = Math.max(most.costUsd, record.costUsd)
  }
  return most
}

/** No run used more than its limits: a sub-agent's not by a token; the root's by no more than one reply of its own. */
export function checkBudgets(traces: readonly AgentTrace[]): string[] {
  return traces.flatMap(({ agentId, records }) => {
    const isRoot = records[0]?.type === 'agent.created' && records[0].parent === undefined
    const over = isRoot ? dearest(records) : nothing()
    const starts = records.filter((record) => record.type === 'run.start')
    return starts.flatMap(({ runId, limits }) => {
      const used = totalsOf(records.filter((record) => 'runId' in record && record.runId === runId))
      const faults: string[] = []
      if (used.tokens > (limits.tokens ?? Infinity) + over.tokens)
        faults.push(`${used.tokens} of ${limits.tokens} tokens`)
      if (used.costUsd > (limits.costUsd ?? Infinity) + over.costUsd + 1e-9)
        faults.push(`${used.costUsd} of ${limits.costUsd} $`)
      if (used.turns > (limits.turns ?? Infinity)) faults.push(`${used.turns} of ${limits.turns} turns`)
      return faults.map((fault) => `${agentId}: run ${runId} used ${fault}`)
    })
  })
}

/** The records of an agent by what its caller allowed it: one that a limit paused goes on with a new allowance. */
function byAllowance(records: readonly LogRecord[]): LogRecord[][] {
  const parts: LogRecord[][] = [[]]
  let isUsedUp = false
  for (const record of records) {
    if (record.type === 'run.start' && isUsedUp) parts.push([])
    if (record.type === 'run.start') isUsedUp = false
    if (record.type === 'run.end') isUsedUp = record.reason?.type === 'limit'
    parts.at(-1)!.push(record)
  }
  return parts
}

/** All lives of a called child together used no more than its caller gave it. */
export function checkAllowances(traces: readonly AgentTrace[]): string[] {
  return traces.flatMap(({ agentId, records }) => {
    const [created] = records
    if (created?.type !== 'agent.created' || created.parent?.callId === undefined) return []
    return byAllowance(records).flatMap((part) => checkAllowance(agentId, part))
  })
}

function checkAllowance(agentId: string, records: readonly LogRecord[]): string[] {
  const limits = records.find((record) => record.type === 'run.start')?.limits
  const used = totalsOf(records)
  const faults: string[] = []
  if (used.tokens > (limits?.tokens ?? Infinity)) faults.push(`${used.tokens} of ${limits?.tokens} tokens`)
  if (used.costUsd > (limits?.costUsd ?? Infinity) + 1e-9) faults.push(`${used.costUsd} of ${limits?.costUsd} $`)
  if (used.turns > (limits?.turns ?? Infinity)) faults.push(`${used.turns} of ${limits?.turns} turns`)
  return faults.map((fault) => `${agentId}: its lives used ${fault}`)
}

/** Every event says where it happened, and comes once. */
export function checkPaths(traces: readonly AgentTrace[]): string[] {
  const parents = new Map(
    traces.map(({ agentId, records: [created] }) => [
      agentId,
      created?.type === 'agent.created' ? created.parent?.agentId : undefined,
    ]),
  )
  const pathOf = (agentId: string): string[] => {
    const parent = parents.get(agentId)
    return parent === undefined ? [] : [...pathOf(parent), parent]
  }
  return traces.flatMap(({ agentId, events }) => {
    const path = pathOf(agentId).join('/')
    const wrong = events
      .filter((event) => event.path.join('/') !== path)
      .map((event) => `${event.type} at ${event.path.join('/')}`)
    const seen = new Set(events)
    return [
      ...wrong.slice(0, 3).map((what) => `${agentId}: ${what}, not at ${path}`),
      ...(seen.size === events.length ? [] : [`${agentId}: ${events.length - seen.size} events came twice`]),
    ]
  })
}
