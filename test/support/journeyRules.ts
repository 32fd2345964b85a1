import { checkRequest, type CheckContext } from '../../src/conversation/request/checkRequest.ts'
import type { Conversation } from '../../src/conversation/tree/conversation.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { messageOf } from '../../src/protocol/errors.ts'
import { eventOf, type AgentEvent } from '../../src/protocol/events.ts'
import { toolCallsOf } from '../../src/protocol/messages.ts'
import type { ModelRequest } from '../../src/protocol/ports/model.ts'
import { logRecordSchema, type LogRecord } from '../../src/protocol/records.ts'
import { isDeepStrictEqual } from 'node:util'

/** The life of an agent that has stopped. */
export interface Journey {
  /** Events that a subscriber received, from the spawn on. */
  readonly events: readonly AgentEvent[]
  readonly conversation: Conversation
  readonly records: readonly LogRecord[]
}

/** Checks the rules that every stopped agent must keep; returns the violations in words, none if it keeps them all. */
export const checkJourney = (journey: Journey): string[] => [
  ...checkRecords(journey),
  ...checkRebuild(journey),
  ...checkSeqs(journey),
  ...checkRuns(journey.records),
  ...checkCalls(journey.records),
  ...checkReplies(journey.events),
  ...checkPolicies(journey.records),
]

/**
 * Checks the rules that a log must keep by itself; returns the violations in words. In a log that is not whole, the ends of open runs and
 * calls may be missing.
 */
export const checkLog = (records: readonly LogRecord[], { isWhole }: { readonly isWhole: boolean }): string[] => [
  ...checkRecords({ records }),
  ...(isWhole ? [...checkRuns(records), ...checkCalls(records)] : []),
]

/** Faults of a request that the model received, in words. */
export const requestFaults = (request: ModelRequest, context: CheckContext): string[] =>
  checkRequest(request, context).map(({ rule, message }) => `request: rule ${rule}: ${message}`)

/** Every record is what its schema says, and still is after a trip through a file. */
function checkRecords({ records }: Pick<Journey, 'records'>): string[] {
  return records.flatMap((record) => {
    const read = logRecordSchema().safeParse(JSON.parse(JSON.stringify(record)))
    if (!read.success) return [`record ${record.seq} (${record.type}) is not valid: ${read.error.message}`]
    return isDeepStrictEqual(read.data, record)
      ? []
      : [`record ${record.seq} (${record.type}) changes on its way through JSON`]
  })
}

const shapeOf = (conversation: Conversation): { [aspect: string]: unknown } => ({
  trunk: conversation.trunk(),
  log: conversation.log(),
  abandoned: conversation.abandoned(),
  steps: conversation.steps(),
  head: conversation.head,
  queues: conversation.queues,
  tokens: conversation.tokens,
  lastSeq: conversation.lastSeq,
  lastNodeId: conversation.lastNodeId,
  overlay: conversation.overlay,
  repair: conversation.repair,
})

function checkRebuild({ records, conversation }: Journey): string[] {
  try {
    const live = shapeOf(conversation)
    const rebuilt = shapeOf(rebuildConversation(records, { counter: conversation.counter }))
    // Which old notes the last request still showed is not in the log.
    if (conversation.annotations?.tagged.some(({ isShown }) => isShown !== undefined))
      rebuilt['tokens'] = live['tokens']
    return Object.keys(live).flatMap((aspect) =>
      isDeepStrictEqual(live[aspect], rebuilt[aspect])
        ? []
        : [`rebuilt ${aspect} differs: ${JSON.stringify(rebuilt[aspect])} instead of ${JSON.stringify(live[aspect])}`],
    )
  } catch (thrown) {
    return [`the log does not rebuild: ${messageOf(thrown)}`]
  }
}

const liveTypes: ReadonlySet<string> = new Set<AgentEvent['type']>([
  'turn.request',
  'model.waiting',
  'model.waited',
  'model.warning',
  'source.status',
  'reply.start',
  'reply.delta',
  'thinking.delta',
  'toolCall.delta',
  'tool.progress',
  'state.changed',
  'error',
  'tag.expired',
  'events.dropped',
])

/** Logged events are the records, one by one; live ones carry the seq of the record before them. */
function checkSeqs({ events, records }: Journey): string[] {
  const faults: string[] = []
  // A subscriber comes after the birth.
  let last = 1
  for (const event of events) {
    if (liveTypes.has(event.type)) {
      if (event.seq !== last) faults.push(`${event.type} has seq ${event.seq} after ${last}`)
      continue
    }
    if (event.seq !== last + 1) faults.push(`${event.type} has seq ${event.seq} after ${last}`)
    last = event.seq
    const record = records[event.seq - 1]
    const expected = record && eventOf(record, event)
    if (!isDeepStrictEqual(event, expected))
      faults.push(`event ${event.seq} (${event.type}) is not record ${record?.seq} (${record?.type})`)
  }
  if (last !== records.length) faults.push(`the last event is ${last} of ${records.length} records`)
  return faults
}

/** Runs and turns are opened and closed once each, and never overlap; compactions too. */
function checkRuns(records: readonly LogRecord[]): string[] {
  const faults: string[] = []
  const open = new Map<'run' | 'turn' | 'compaction', string>()
  const seen = new Set<string>()
  for (const record of records) {
    const [kind, edge] = record.type.split('.') as ['run', string]
    if (!['run', 'turn', 'compaction'].includes(kind) || !('runId' in record)) continue
    const id = kind === 'run' ? record.runId : `${record.runId}#${record.turnIndex}`
    const name = `${kind} ${id}`
    if (edge === 'abandoned') {
      if (open.has('run')) faults.push(`${name} is given up while ${open.get('run')} is open`)
    } else if (edge === 'captured' || edge === 'prepared') {
      if (open.get('turn') !== id) faults.push(`${name} is ${edge} while ${open.get('turn')} is open`)
    } else if (edge === 'requested') {
      continue
    } else if (record.type === 'compaction.end' && record.reason?.startsWith('compaction refused') === true) {
      // It was asked for, and never began.
      if (record.requestId === undefined || record.applied) faults.push(`${name} is refused to nobody`)
    } else if (edge === 'start') {
      const isAsked = record.type === 'compaction.start' && record.requestId !== undefined
      if (open.has(kind)) faults.push(`${name} starts inside ${open.get(kind)}`)
      if (kind !== ('compaction' as string) && seen.has(name)) faults.push(`${name} starts twice`)
      if (kind !== 'run' && open.get('run') !== record.runId && !(isAsked && !open.has('run')))
        faults.push(`${name} starts outside of its run`)
      open.set(kind, id)
      seen.add(name)
    } else {
      if (open.get(kind) !== id) faults.push(`${name} ends while ${open.get(kind)} is open`)
      if (kind === 'run' && open.has('turn')) faults.push(`${name} ends inside turn ${open.get('turn')}`)
      open.delete(kind)
    }
  }
  for (const [kind, id] of open) faults.push(`${kind} ${id} never ends`)
  return faults
}

/** Every call of every reply is answered once, none before it is made; those of a paused run may wait for its `resume`. */
function checkCalls(records: readonly LogRecord[]): string[] {
  const faults: string[] = []
  const waiting = new Set<string>()
  const running = new Set<string>()
  for (const record of records) {
    if (record.type === 'reply.end') {
      if (waiting.size > 0) faults.push(`reply ${record.seq} comes while ${[...waiting].join()} wait`)
      for (const call of toolCallsOf(record.message.content)) waiting.add(call.callId)
    } else if (record.type === 'tool.start') {
      if (!waiting.has(record.callId)) faults.push(`call ${record.callId} starts but is not open`)
      running.add(record.callId)
    } else if (record.type === 'tool.end') {
      if (!waiting.delete(record.callId)) faults.push(`call ${record.callId} ends but is not open`)
      if (!running.delete(record.callId) && record.message.synthetic === undefined)
        faults.push(`call ${record.callId} ends without a start`)
    }
  }
  const last = records.findLast(({ type }) => type === 'run.start' || type === 'run.end')
  if (last?.type !== 'run.end' || last.unfinished === undefined)
    for (const callId of waiting) faults.push(`call ${callId} is never answered`)
  return faults
}

/** Each policy that fires comes to an end, before another does. */
function checkPolicies(records: readonly LogRecord[]): string[] {
  const faults: string[] = []
  let open: string | undefined
  for (const record of records) {
    if (record.type === 'policy.start') {
      if (open !== undefined) faults.push(`policy ${record.policy} fires inside ${open}`)
      open = record.policy
    } else if (record.type === 'policy.end') {
      // One that did not fire, but asked a model about it, says what that cost.
      const isPaid = record.outcome === 'nothing' && record.usage !== undefined
      if (open === undefined && record.requestId === undefined && !isPaid)
        faults.push(`policy ${record.policy} ends but never fired`)
      if (open === record.policy) open = undefined
    }
  }
  if (open !== undefined) faults.push(`policy ${open} never ends`)
  return faults
}

/** A started reply ends once, by `reply.end` or `reply.reset`; deltas come in between, in place; progress comes from running calls. */
function checkReplies(events: readonly AgentEvent[]): string[] {
  const faults: string[] = []
  const running = new Set<string>()
  const background = new Set<string>()
  let open: { turn: number; text: number; thinking: number } | undefined
  for (const event of events) {
    switch (event.type) {
      case 'reply.start':
        if (open !== undefined) faults.push(`a reply of turn ${event.turnIndex} starts inside another`)
        open = { turn: event.turnIndex, text: 0, thinking: 0 }
        break
      case 'reply.delta':
      case 'thinking.delta': {
        const field = event.type === 'reply.delta' ? 'text' : 'thinking'
        if (open === undefined) faults.push(`${event.type} ${JSON.stringify(event.text)} outside of a reply`)
        else if (event.offset !== open[field]) faults.push(`${event.type} at ${event.offset} instead of ${open[field]}`)
        if (open !== undefined) open[field] += event.text.length
        break
      }
      case 'toolCall.delta':
        if (open === undefined) faults.push('toolCall.delta outside of a reply')
        break
      case 'reply.end':
        if (open !== undefined && event.message.stopReason === 'aborted') {
          const kept = event.message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
          if (kept.length !== open.text)
            faults.push(`the aborted reply keeps ${kept.length} of ${open.text} characters that were seen`)
        }
        open = undefined
        break
      case 'reply.reset':
        open = undefined
        break
      case 'run.end':
      case 'turn.end':
        if (open !== undefined) faults.push(`${event.type} while a reply of turn ${open.turn} is open`)
        open = undefined
        break
      case 'tool.start':
        running.add(event.callId)
        if (event.background !== undefined) background.add(event.callId)
        break
      case 'call.reported':
        background.delete(event.callId)
        running.delete(event.callId)
        break
      case 'tool.end':
        if (!background.has(event.callId)) running.delete(event.callId)
        break
      case 'tool.progress':
        if (!running.has(event.callId)) faults.push(`progress of ${event.callId}, which does not run`)
        break
      case 'turn.request':
        if (event.provenance.length !== event.request.messages.length)
          faults.push(
            `turn.request ${event.turnIndex}: ${event.provenance.length} origins of ${event.request.messages.length} messages`,
          )
        break
      default:
    }
  }
  return faults
}
