import type { Attributes } from '@opentelemetry/api'
import type { AgentEvent, EventOf } from '../../../src/protocol/events.ts'
import { formatNodeId } from '../../../src/protocol/ids.ts'
import { headOf, plainError } from '../../words/src/withoutContent.ts'
import { brakeWords } from '../../words/src/brakes/brakeWords.ts'
import { wordsOf } from '../../words/src/parts/partWords.ts'
import { plainReason } from '../../words/src/brakes/telling.ts'
import type { AgentTrace } from './agentTrace.ts'
import { finishReasons, modelAttributes, settingsAttributes, usageAttributes } from './genAi.ts'
import { callContent, replyContent, requestContent, resultContent } from './genAiContent.ts'

type SpanRules = { readonly [T in AgentEvent['type']]?: (trace: AgentTrace, event: EventOf<T>) => void }

const callAttributes = ({ name, callId }: { readonly name: string; readonly callId: string }): Attributes => ({
  'gen_ai.tool.name': name,
  'gen_ai.tool.call.id': callId,
})

/** Ends the span of a call. A call that the runtime answered counts as a failure only if its outcome is unknown. */
function endTool(trace: AgentTrace, event: EventOf<'tool.end'>): void {
  const { message, callId } = event
  const { synthetic, isError } = message
  const key = `tool/${callId}` as const
  trace.endWithin(callId)
  if (!trace.has(key)) {
    trace.mark('tool.end', { ...callAttributes(event), 'escapement.tool.synthetic': synthetic })
    return
  }
  if (synthetic === undefined ? isError : synthetic === 'interrupted') {
    const code = synthetic ?? 'tool_error'
    trace.fail(key, { code, message: trace.content ? String(resultContent(message)['gen_ai.tool.call.result']) : '' })
  }
  trace.end(key, {
    'escapement.tool.synthetic': synthetic,
    ...(synthetic === 'aborted' ? { 'escapement.cut_off': true } : {}),
    ...(trace.content ? resultContent(message) : {}),
  })
}

const begunCall = (trace: AgentTrace, call: { name: string; callId: string; input: unknown }): Attributes => ({
  'gen_ai.operation.name': 'execute_tool',
  ...callAttributes(call),
  'gen_ai.tool.type': 'function',
  ...(trace.content ? callContent(call.input) : {}),
})

/** Begins the span of an inner call, within the span of the call that makes it. */
function beginInner(trace: AgentTrace, event: EventOf<'inner.start' | 'inner.end'>, input: unknown): void {
  const { callId: outer, n, name } = event
  const callId = `${outer}/${n}`
  const attributes = { ...begunCall(trace, { name, callId, input }), 'escapement.inner.n': n }
  trace.begin(`tool/${callId}`, `execute_tool ${name}`, attributes, undefined, `tool/${outer}`)
}

/** Ends the span of an inner call. If another process began the call, the span consists of its end alone. */
function endInner(trace: AgentTrace, event: EventOf<'inner.end'>): void {
  const { callId: outer, n, name, error, asked, value, apart } = event
  const callId = `${outer}/${n}`
  const key = `tool/${callId}` as const
  if (!trace.has(key) && asked !== undefined)
    return trace.mark('inner.end', { ...callAttributes({ name, callId }), 'error.type': error?.code })
  if (!trace.has(key)) {
    beginInner(trace, event, undefined)
    trace.set(key, { 'escapement.tool.resumed': true })
  }
  if (error !== undefined)
    trace.fail(key, { code: error.code ?? 'tool_error', message: trace.content ? error.message : '' })
  const text = error?.message ?? apart?.preview ?? (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
  trace.end(key, trace.content ? { 'gen_ai.tool.call.result': text } : {})
}

const runAttributes = (trace: AgentTrace, modelId: string, runId: string): Attributes => ({
  'gen_ai.operation.name': 'invoke_agent',
  ...modelAttributes(modelId),
  ...trace.settings,
  'escapement.run.id': runId,
})

interface Place {
  readonly runId: string
  readonly turnIndex: number
}

/** Joins a run that another process started and that waited for people. It continues here without its own start. */
function joinRun(trace: AgentTrace, { runId }: Place): void {
  if (trace.has('run')) return
  const { name, model } = trace.agent
  const attributes = { ...runAttributes(trace, model, runId), 'escapement.run.cause': 'resume' }
  trace.begin('run', `invoke_agent ${name}`, attributes)
}

const beginTurn = (trace: AgentTrace, { turnIndex }: Place): void =>
  trace.begin('turn', 'turn', { 'escapement.turn.index': turnIndex })

type Asked = { readonly type: AgentEvent['type']; readonly id?: string; readonly request?: { readonly id: string } }
type Attribution = (event: never, hasContent: boolean) => Attributes

/** Rules by which requests begin spans of drains, and outcomes end them. */
const drainSpans: SpanRules = Object.fromEntries(
  Object.entries(brakeWords.spans).map(([type, attributesOf]) => [
    type,
    (trace: AgentTrace, event: Asked): void => {
      const attributes = (attributesOf as Attribution)(event as never, trace.content)
      if (event.request !== undefined) trace.awaitDrain(event.request.id, event.type, attributes)
      else trace.answerDrain(event.id!, event.type, attributes)
    },
  ]),
)

/** Rules for the span that an event begins, extends or ends. The end of a span that began before the tracer did is ignored. */
const spanRules: SpanRules = {
  'run.start'(trace, { runId, cause, requestId, resumedFrom, model }) {
    trace.endTurn()
    trace.settings = settingsAttributes(model?.settings)
    const attributes = {
      ...runAttributes(trace, model?.id ?? trace.agent.model, runId),
      'escapement.run.cause': cause,
      'escapement.run.resumed_from': resumedFrom,
    }
    trace.begin('run', `invoke_agent ${trace.agent.name}`, attributes, trace.takeParent(requestId))
  },
  'run.end'(trace, { stopReason, turns, usage, costUsd, reason, error, refusal }) {
    trace.endTurn()
    if (error !== undefined) trace.fail('run', error)
    trace.end('run', {
      'escapement.run.stop_reason': stopReason,
      'escapement.run.turns': turns,
      'escapement.cost_usd': costUsd,
      'escapement.run.pause': stopReason === 'paused' ? reason?.type : undefined,
      'escapement.run.limit': reason?.type === 'limit' ? reason.limit : undefined,
      'escapement.refusal.at': refusal?.at,
      'escapement.refusal.guard': refusal?.guard,
      'escapement.refusal.reason': trace.content ? refusal?.reason : undefined,
      ...usageAttributes(usage),
    })
  },
  'turn.start'(trace, event) {
    joinRun(trace, event)
    trace.request = {}
    trace.turnSettings = {}
    beginTurn(trace, event)
  },
  'turn.prepared'(trace, { by, tools, settings, limit }) {
    trace.turnSettings = settingsAttributes(settings)
    trace.set('turn', {
      'escapement.turn.prepared_by': [...by],
      ...(tools === undefined ? {} : { 'escapement.turn.tools': [...tools] }),
      ...(limit === undefined ? {} : { 'escapement.turn.limit': limit.limit }),
    })
  },
  'tools.changed'(trace, { added, removed }) {
    trace.set('turn', {
      'escapement.turn.tools_added': added.map(({ name }) => name),
      'escapement.turn.tools_removed': [...removed],
    })
  },
  'source.status'(trace, { source, state, trouble }) {
    trace.mark('source.status', {
      'escapement.tool.source': source,
      'escapement.source.state': state,
      'escapement.source.trouble': trace.content ? trouble : undefined,
    })
  },
  'turn.end'(trace) {
    trace.request = {}
    trace.endTurn()
  },
  'turn.request'(trace, { request }) {
    if (trace.content && trace.has('turn')) trace.request = requestContent(request)
  },
  'reply.start'(trace, { model }) {
    const waited = trace.waitedSeconds
    trace.mark('reply.start', {}, 'model')
    trace.set('model', {
      'gen_ai.response.time_to_first_chunk': waited,
      ...(model === undefined ? {} : modelAttributes(model)),
    })
  },
  'reply.end'(trace, { message, costUsd }) {
    const { stopReason, usage, model, responseModel } = message
    trace.end('model', {
      'gen_ai.response.finish_reasons': [finishReasons[stopReason]],
      'gen_ai.response.model': responseModel ?? modelAttributes(model)['gen_ai.request.model'],
      ...usageAttributes(usage),
      'escapement.cost_usd': costUsd,
      ...(stopReason === 'aborted' ? { 'escapement.cut_off': true } : {}),
      ...(trace.content ? replyContent(message) : {}),
    })
  },
  'reply.reset'(trace, { attempt, error, usage, retryAt, time, next }) {
    if (!trace.has('model')) trace.mark('reply.reset', { 'error.type': error.code, 'escapement.attempt': attempt })
    trace.fail('model', error)
    trace.end('model', usage === undefined ? {} : usageAttributes(usage))
    if (next !== undefined && trace.has('turn')) trace.ask(attempt + 1, next)
    if (retryAt === undefined) return
    trace.mark('retry', { 'escapement.attempt': attempt + 1, 'escapement.retry.wait_ms': Math.max(0, retryAt - time) })
  },
  'tool.start'(trace, event) {
    joinRun(trace, event)
    if (!trace.has('turn')) beginTurn(trace, event)
    trace.begin(`tool/${event.callId}`, `execute_tool ${event.name}`, begunCall(trace, event))
  },
  'tool.end': endTool,
  'inner.start'(trace, event) {
    beginInner(trace, event, event.input)
    if (event.childId !== undefined)
      trace.set(`tool/${event.callId}/${event.n}`, { 'escapement.child.id': event.childId })
  },
  'inner.end': endInner,
  'guard.decided'(trace, { at, decision, guard }) {
    trace.mark('guard.decided', {
      'escapement.guard.at': at,
      'escapement.guard.decision': decision,
      'escapement.guard.name': guard,
    })
  },
  'approval.requested': (trace, event) => trace.mark('approval.requested', callAttributes(event)),
  'approval.decided'(trace, { callId, decision }) {
    trace.mark('approval.decided', { 'gen_ai.tool.call.id': callId, 'escapement.approval.decision': decision })
  },
  'question.asked': (trace, event) => trace.mark('question.asked', callAttributes(event)),
  'question.answered'(trace, { callId, decision }) {
    trace.mark('question.answered', { 'gen_ai.tool.call.id': callId, 'escapement.question.decision': decision })
  },
  'call.requested': (trace, event) => trace.mark('call.requested', callAttributes(event)),
  'compaction.start'(trace, { cause, tokens, requestId }) {
    const attributes = { 'escapement.compaction.cause': cause, 'escapement.compaction.tokens': tokens }
    const parent = requestId === undefined ? undefined : trace.takeParent(requestId)
    if (trace.has('run') || requestId !== undefined) trace.begin('compaction', 'compaction', attributes, parent)
  },
  'compaction.end'(trace, { applied, reason, tokensBefore, tokensAfter, usage, costUsd, overlay }) {
    trace.end('compaction', {
      'escapement.compaction.applied': applied,
      'escapement.compaction.reason': trace.content ? reason : headOf(reason),
      'escapement.compaction.tokens_before': tokensBefore,
      'escapement.compaction.tokens_after': tokensAfter,
      'escapement.cost_usd': costUsd,
      ...(usage === undefined ? {} : usageAttributes(usage)),
      ...(trace.content ? { 'escapement.compaction.summary': overlay?.summary } : {}),
    })
  },
  'revert.requested'(trace, { request: { id, by, category, step, summary } }) {
    trace.awaitDrain(id, 'revert.requested', {
      'escapement.revert.by': by,
      'escapement.revert.category': category,
      ...(trace.content ? { 'escapement.revert.step': step, 'escapement.revert.summary': summary } : {}),
    })
  },
  'revert.applied'(trace, { id, applied, category, reason, target, tag, usage, costUsd }) {
    const attributes = {
      'escapement.revert.applied': applied,
      'escapement.revert.category': category,
      'escapement.revert.target': target === undefined ? undefined : formatNodeId(target),
      'escapement.revert.abandoned': tag?.abandoned.length,
      'escapement.revert.reason': trace.content ? reason : plainReason(reason),
      'escapement.cost_usd': costUsd,
      ...(trace.content ? { 'escapement.revert.note': tag?.text } : {}),
    }
    trace.answerDrain(id, 'revert.applied', attributes, usage)
  },
  'undo.end'(trace, { undone, kept }) {
    trace.mark('undo.end', {
      'escapement.undo.undone': undone.length,
      'escapement.undo.kept': kept.length,
      ...(trace.content
        ? {
            'escapement.undo.undone_names': [...undone],
            'escapement.undo.kept_names': kept.map(({ what, why }) => `${what} (${why})`),
          }
        : {}),
    })
  },
  'stall.detected'(trace, { rule, rung, count, first, target, steps, evidence }) {
    trace.mark('stall.detected', {
      'escapement.stall.rule': rule,
      'escapement.stall.rung': rung,
      'escapement.stall.count': count,
      'escapement.stall.first': formatNodeId(first),
      'escapement.stall.target': formatNodeId(target),
      'escapement.stall.steps': steps.length,
      ...(trace.content ? { 'escapement.stall.evidence': evidence } : {}),
    })
  },
  'policy.requested'(trace, { request: { by, policy } }) {
    trace.mark('policy.requested', { 'escapement.policy': policy, 'escapement.policy.by': by })
  },
  'policy.start'(trace, { policy, why, tokens }) {
    trace.mark('policy.start', {
      'escapement.policy': policy,
      'escapement.policy.tokens': tokens,
      ...(trace.content ? { 'escapement.policy.why': why } : {}),
    })
  },
  'policy.end'(trace, { policy, outcome, reason, note, costUsd }) {
    trace.mark('policy.end', {
      'escapement.policy': policy,
      'escapement.policy.outcome': outcome,
      'escapement.cost_usd': costUsd,
      ...(trace.content ? { 'escapement.policy.reason': reason, 'escapement.policy.note': note } : {}),
    })
  },
  ...drainSpans,
  'pin.requested'(trace, { request: { id, by, step, pinned } }) {
    trace.awaitDrain(id, 'pin.requested', {
      'escapement.pin.by': by,
      'escapement.pin.pinned': pinned,
      ...(trace.content ? { 'escapement.pin.step': step } : {}),
    })
  },
  'pin.applied'(trace, { id, applied, pinned, step, reason }) {
    trace.answerDrain(id, 'pin.applied', {
      'escapement.pin.applied': applied,
      'escapement.pin.pinned': pinned,
      'escapement.pin.step': step === undefined ? undefined : formatNodeId(step),
      'escapement.pin.reason': trace.content ? reason : plainReason(reason),
    })
  },
  'prune.requested'(trace, { request: { id, by, steps, tokens, memo } }) {
    trace.awaitDrain(id, 'prune.requested', {
      'escapement.prune.by': by,
      ...(trace.content
        ? {
            'escapement.prune.steps': steps && [...steps],
            'escapement.prune.tokens': tokens,
            'escapement.prune.memo': memo,
          }
        : {}),
    })
  },
  'prune.applied'(trace, { id, applied, masked, shown, steps, tokens, reason }) {
    trace.answerDrain(id, 'prune.applied', {
      'escapement.prune.applied': applied,
      'escapement.prune.masked': masked,
      [`escapement.prune.${shown === true ? 'shown' : 'hidden'}`]: steps.map(formatNodeId),
      'escapement.prune.tokens': tokens,
      'escapement.prune.reason': trace.content ? reason : plainReason(reason),
    })
  },
  // A message that waited was taken into a run, or dropped: what surrounded it is no run's parent any more.
  'queue.changed'(trace, { queue, removed = [], why }) {
    if (queue !== 'prompts' || why === 'dropped') for (const id of removed) trace.takeParent(id)
  },
  error(trace, { error }) {
    trace.mark('error', {
      'error.type': error.code,
      'error.message': trace.content ? error.message : plainError(error),
    })
  },
  'agent.stopped': (trace) => trace.endAll(),
}

/** Begins, extends and ends the spans of an agent according to an event. */
export function traceEvent(trace: AgentTrace, event: AgentEvent): void {
  const rule = spanRules[event.type] as ((trace: AgentTrace, event: AgentEvent) => void) | undefined
  if (rule !== undefined) return rule(trace, event)
  const attributes = wordsOf(event)?.attributes?.(event, trace.content)
  if (attributes !== undefined) trace.mark(event.type, attributes as Attributes)
}
