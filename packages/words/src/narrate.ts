import type { AgentEvent, EventOf } from '../../../src/protocol/events.ts'
import { formatNodeId } from '../../../src/protocol/ids.ts'
import type { Logger } from '../../../src/protocol/ports/logger.ts'
import type { ErrorInfo } from '../../../src/protocol/errors.ts'
import { totalTokens, toolCallsOf } from '../../../src/protocol/messages.ts'
import { headOf, plainError } from './withoutContent.ts'
import { brakeWords } from './brakes/brakeWords.ts'
import { plainReason, type Telling } from './brakes/telling.ts'
import type { PartRecordType } from '../../../src/protocol/parts/partRecords.ts'
import { wordsOf } from './parts/partWords.ts'

/** One line of a narrative log. */
export interface Narration {
  readonly level: keyof Logger
  readonly message: string
  readonly fields: { readonly [name: string]: unknown }
}

type Fields = Narration['fields']
type Narrator<E> = (event: E, telling: Pick<Telling, 'counted'>) => Narration

/** Function that writes a line for each type of event that no part handles. `null`: no line. */
type Narrators = { readonly [T in Exclude<AgentEvent['type'], PartRecordType>]: Narrator<EventOf<T>> | null }

const line =
  (level: keyof Logger) =>
  (message: string, fields: Fields = {}): Narration => ({ level, message, fields })

const debug = line('debug')
const info = line('info')
const warn = line('warn')
const failure = line('error')

const why = (error: ErrorInfo): Fields => ({ code: error.code, error: plainError(error) })

/** Returns true for errors that do not affect the run. */
const isMild = ({ code }: ErrorInfo): boolean => ['PRICE_UNKNOWN', 'USAGE_UNKNOWN', 'LOG_REPAIRED'].includes(code)

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** Narrates a guard's decision without the reason of a refusal, which may quote messages. */
function guardDecided({ at, decision, guard, error }: EventOf<'guard.decided'>): Narration {
  const fields = { at, decision, ...(guard === undefined ? {} : { guard }), ...(error === undefined ? {} : why(error)) }
  const text = `guards: the ${at} ${decision}`
  return decision === 'passed'
    ? debug(text, fields)
    : decision === 'refused'
      ? info(text, fields)
      : failure(text, fields)
}

function runEnded({ stopReason, turns, usage, costUsd, reason, error, refusal }: EventOf<'run.end'>): Narration {
  const refused = refusal === undefined ? {} : { at: refusal.at, guard: refusal.guard }
  const fields = { stopReason, turns, usage, costUsd, ...(error === undefined ? {} : why(error)), ...refused }
  const after = `after ${counted(turns, 'turn')}`
  if (error !== undefined) return failure(`run ${stopReason === 'paused' ? 'paused' : 'failed'} ${after}`, fields)
  switch (reason?.type) {
    case 'limit': {
      const { limit, allowed, used } = reason
      return warn(`run ${stopReason === 'paused' ? 'paused' : 'answered'} ${after}: its limit of ${limit} is reached`, {
        ...fields,
        limit,
        allowed,
        used,
      })
    }
    case 'stall':
      return warn(`run paused ${after}: it went in circles`, { ...fields, rule: reason.rule })
    case 'interrupted':
      return warn(`run was interrupted ${after}: the process had ended`, fields)
    default:
      return info(`run ended (${stopReason}) ${after}`, fields)
  }
}

function replyReset({ attempt, error, repair, retryAt, time, next, without }: EventOf<'reply.reset'>): Narration {
  if (repair !== undefined) return warn('the answer does not fit, asked again', { attempt, ...why(error) })
  if (without !== undefined)
    return warn(`the provider refused ${without.part}, asked again without`, { attempt, ...why(error) })
  if (next !== undefined) return warn(`model call failed, ${next} is asked instead`, { attempt, next, ...why(error) })
  if (retryAt === undefined) return warn('model call failed', { attempt, ...why(error) })
  const waitMs = Math.max(0, retryAt - time)
  return warn(`model call failed, next attempt in ${waitMs} ms`, { attempt, waitMs, ...why(error) })
}

function toolEnded({ name, callId, handoff, message: { isError, synthetic } }: EventOf<'tool.end'>): Narration {
  if (handoff !== undefined) return info(`conversation handed over to ${handoff}`, { callId, handoff })
  if (synthetic !== undefined) return debug(`tool ${name} did not finish (${synthetic})`, { callId, name, synthetic })
  return debug(`tool ${name} ${isError ? 'failed' : 'ended'}`, { callId, name, isError })
}

function queueChanged({ queue, added, removed = [], why: cause, length }: EventOf<'queue.changed'>): Narration {
  if (cause === 'dropped') {
    return info(`${counted(removed.length, 'waiting message')} dropped`, { queue, removed, length })
  }
  const fields = { queue, length, ...(added === undefined ? { removed } : { added: added.id }) }
  return debug(added === undefined ? 'waiting messages taken' : 'message waits', fields)
}

function compactionEnded(event: EventOf<'compaction.end'>): Narration {
  const { applied, tokensBefore, tokensAfter, usage, costUsd, economics } = event
  const reason = headOf(event.reason)
  const fields = {
    tokensBefore,
    tokensAfter,
    usage,
    costUsd,
    ...economics,
    ...(reason === undefined ? {} : { reason }),
  }
  if (!applied) return warn('conversation not compacted', fields)
  const message = `conversation compacted from ${tokensBefore} to ${tokensAfter} tokens`
  return reason === undefined ? info(message, fields) : warn(`${message}, but ${reason}`, fields)
}

function revertApplied(event: EventOf<'revert.applied'>): Narration {
  const { applied, category, target, tag, reason, costUsd, economics } = event
  if (!applied || target === undefined) return warn('revert refused', { category, reason: plainReason(reason) })
  const abandoned = tag?.abandoned.length ?? 0
  const to = formatNodeId(target)
  return info(`reverted to ${to}: ${counted(abandoned, 'node')} abandoned`, {
    category,
    target: to,
    abandoned,
    costUsd,
    ...economics,
  })
}

const pruneWord = ({ mask, show }: { readonly mask?: true | undefined; readonly show?: true | undefined }): string =>
  show === true ? 'show' : mask === true ? 'mask' : 'prune'

function pruneApplied(event: EventOf<'prune.applied'>): Narration {
  const { applied, masked, shown, steps, tokens, reason, economics } = event
  if (!applied) return warn(`${pruneWord({ mask: masked, show: shown })} refused`, { reason: plainReason(reason) })
  const done = shown === true ? 'showed again' : masked === true ? 'masked' : 'pruned'
  return info(`${done} ${counted(steps.length, 'step')}`, {
    steps: steps.map(formatNodeId),
    tokens,
    ...economics,
  })
}

function pinApplied({ applied, pinned, step, reason }: EventOf<'pin.applied'>): Narration {
  if (!applied || step === undefined)
    return warn(`${pinned ? 'pin' : 'unpin'} refused`, { reason: plainReason(reason) })
  return info(`${formatNodeId(step)} ${pinned ? 'pinned' : 'unpinned'}`, { step: formatNodeId(step) })
}

/** Narrates a detected stall without the evidence, which quotes arguments and results. */
const stallDetected = ({ rule, rung, count, first, target }: EventOf<'stall.detected'>): Narration =>
  warn(`it goes in circles (${rule})`, { rule, rung, count, first: formatNodeId(first), target: formatNodeId(target) })

/** Narrates a policy's end without the reason, which may quote a model or a tool. */
const policyEnded = ({ policy, outcome, usage, costUsd }: EventOf<'policy.end'>): Narration =>
  (outcome === 'failed' ? warn : info)(`policy ${policy} ${policyWords[outcome]}`, { policy, outcome, usage, costUsd })

const policyWords = { planned: 'has a plan', nothing: 'changes nothing', failed: 'failed' } as const

const narrators: Narrators = {
  'agent.created': ({ definition, model, forkedFrom }) =>
    info('agent created', { definition, model, ...(forkedFrom === undefined ? {} : { forkedFrom }) }),
  'agent.stopped': () => info('agent stopped'),
  'run.start': ({ cause, requestId, resumedFrom, limits }) =>
    info(`run started (${cause})`, { requestId, limits, ...(resumedFrom === undefined ? {} : { resumedFrom }) }),
  'run.end': runEnded,
  'run.abandoned': () => info('paused run given up'),
  'turn.start': () => debug('turn started'),
  'turn.end': ({ usage, costUsd }) => debug('turn ended', { usage, costUsd }),
  // Not what the instructions say.
  'turn.prepared': ({ by, tools, model, limit }) =>
    limit === undefined
      ? debug('turn prepared', { by, tools, model })
      : info(`the limit of ${limit.limit} is reached: one last turn`, { by, limit }),
  'tools.changed': ({ added, removed, trouble }) =>
    info('what the sources of its tools have changed', { added: added.map(({ name }) => name), removed, trouble }),
  'use.changed': ({ use }) =>
    info(use === null ? 'asked to use what its definition says' : 'asked to use something else', {
      model: use?.model,
      tools: use?.tools,
    }),
  'turn.captured': null,
  'turn.request': null,
  'message.added': ({ nodeId, message: { source, provenance } }) =>
    provenance?.type === 'report'
      ? info(`sub-agent ${provenance.agentId} reported`, { nodeId: formatNodeId(nodeId), childId: provenance.agentId })
      : debug(`message added (${source})`, { nodeId: formatNodeId(nodeId), source }),
  'reply.start': null,
  'reply.delta': null,
  'thinking.delta': null,
  'toolCall.delta': null,
  'reply.end': ({ nodeId, costUsd, message: { content, stopReason, usage, model } }) =>
    debug(`model replied (${stopReason}) with ${counted(totalTokens(usage), 'token')}`, {
      nodeId: formatNodeId(nodeId),
      model,
      stopReason,
      calls: toolCallsOf(content).length,
      usage,
      costUsd,
    }),
  'reply.reset': replyReset,
  'tool.start': ({ callId, name }) => debug(`tool ${name} started`, { callId, name }),
  'tool.progress': null,
  'tool.end': toolEnded,
  'guard.decided': guardDecided,
  'approval.requested': ({ callId, name }) => info(`tool ${name} waits for approval`, { callId, name }),
  'approval.decided': ({ callId, decision }) =>
    info(`call ${decision === 'approve' ? 'approved' : 'denied'}`, { callId, decision }),
  'question.asked': ({ callId, name }) => info(`tool ${name} asks a question`, { callId, name }),
  'question.answered': ({ callId, decision }) =>
    info(`question ${decision === 'answer' ? 'answered' : 'denied'}`, { callId, decision }),
  'call.requested': ({ callId, name }) => info(`tool ${name} waits for a client`, { callId, name }),
  'child.spawned': ({ childId, definition }) => info(`sub-agent ${childId} spawned`, { childId, definition }),
  'child.ended': ({ childId, error, spent }) =>
    error === undefined
      ? info(`sub-agent ${childId} ended`, { childId, spent })
      : warn(`sub-agent ${childId} failed`, { childId, error, spent }),
  'queue.changed': queueChanged,
  'compaction.requested': ({ request: { by } }) => debug(`compaction asked for by the ${by}`, { by }),
  'compaction.start': ({ cause, tokens }) => debug('compaction started', { cause, tokens }),
  'compaction.end': compactionEnded,
  'revert.requested': ({ request: { by, category } }) => debug(`revert asked for by the ${by}`, { by, category }),
  'revert.applied': revertApplied,
  'undo.step': ({ call, undone }) => debug(`call ${undone ? '' : 'not '}undone`, { call: formatNodeId(call), undone }),
  'undo.end': ({ undone, kept }) =>
    info(`${counted(undone.length, 'thing')} undone, ${kept.length} not`, { undone: undone.length, kept: kept.length }),
  'prune.requested': ({ request }) => debug(`${pruneWord(request)} asked for by the ${request.by}`, { by: request.by }),
  'prune.applied': pruneApplied,
  ...brakeWords.log,
  'pin.requested': ({ request: { by, pinned } }) => debug(`${pinned ? 'pin' : 'unpin'} asked for by the ${by}`, { by }),
  'pin.applied': pinApplied,
  'stall.detected': stallDetected,
  'policy.requested': ({ request: { by, policy } }) => debug(`policy ${policy} asked for by the ${by}`, { by, policy }),
  'policy.start': ({ policy, tokens }) => debug(`policy ${policy} fired`, { policy, tokens }),
  'policy.end': policyEnded,
  'model.waiting': ({ model, why: limit, ahead }) => debug('model call waits for its turn', { model, limit, ahead }),
  'model.waited': ({ model, ms }) => debug(`model call made after ${ms} ms`, { model, waitedMs: ms }),
  'source.status': ({ source, state, tools, trouble }) =>
    trouble === undefined
      ? debug(`source of tools ${source} is ${state}`, { source, state, tools: tools.length })
      : warn(`source of tools ${source} is ${state}, with trouble`, { source, state, tools: tools.length, trouble }),
  'model.warning': ({ model, message }) => warn('the model warns', { model, warning: message }),
  'state.changed': null,
  'tag.expired': null,
  'record.withheld': null,
  error: ({ error }) => (isMild(error) ? warn : failure)(`something went wrong: ${error.code}`, why(error)),
  'events.dropped': ({ count }) => warn(`${counted(count, 'event')} dropped: the listener was too slow`, { count }),
}

/** Returns the fields for an event's origin in every line. `seq` is the seq of its record, or of the last record before it. */
function place(event: AgentEvent): Fields {
  const { agentId, seq, type, incognito } = event
  return {
    agentId,
    seq,
    event: type,
    ...('runId' in event ? { runId: event.runId, turnIndex: event.turnIndex } : {}),
    ...(incognito === undefined ? {} : { incognito }),
  }
}

/** Describes an event for people; `undefined` if it is not worth a line. It never contains messages, inputs, results or reasons. Pure. */
export function narrate(event: AgentEvent): Narration | undefined {
  const narrator = wordsOf(event)?.log ?? (narrators[event.type as keyof Narrators] as Narrator<AgentEvent> | null)
  const narration = narrator?.(event, { counted })
  return narration === undefined ? undefined : { ...narration, fields: { ...place(event), ...narration.fields } }
}

/** Writes the line of an event, if it has one, and returns the logger's result. Throws the logger's errors. */
export function logEvent(logger: Logger, event: AgentEvent): unknown {
  const narration = narrate(event)
  return narration === undefined ? undefined : write(logger, narration)
}

const write = (logger: Logger, { level, fields, message }: Narration): unknown => logger[level](fields, message)
