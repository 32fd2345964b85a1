import { mapped } from '../../protocol/mapped.ts'
import { checkRequest } from '../../conversation/request/checkRequest.ts'
import { nextFold } from '../../conversation/brakes/fold/planFold.ts'
import { comesLate, measure, type Measured } from '../../conversation/limits/tokenCounter.ts'
import { cutEnd, cutMiddle } from '../../protocol/text/cutMiddle.ts'
import type { AssembledRequest } from '../../conversation/request/assembleRequest.ts'
import type { ReplyFailure, ReplyInput, ReplyOutput } from '../../machines/effectTypes.ts'
import { maxContentChars, mediaOf, jsonChars } from '../../protocol/text/saidContent.ts'
import { errorInfo, messageOf, type ErrorInfo } from '../../protocol/errors.ts'
import { cloneJson } from '../../protocol/checks/cloneJson.ts'
import { textOf, totalTokens, type AssistantMessage, type Block, type ToolCallBlock } from '../../protocol/messages.ts'
import type { ModelRequest } from '../../protocol/ports/model.ts'
import { foldTerms } from '../brakes/fold/foldTerms.ts'
import { costOf, priceOf } from './pricing.ts'
import type { AgentPorts, FindPorts } from '../agentPorts.ts'
import { countUsage } from './countUsage.ts'
import { partialUsage } from './estimates.ts'
import { effect } from '../effect.ts'
import type { Cancellation } from '../timing/cancellation.ts'
import { heardGate } from '../models/heardGate.ts'
import { isMadeOfModels, through, refusedPart, withoutRefused } from '../models/openStream.ts'
import { guardedReply } from './guards/guardedReply.ts'
import { readAnswer } from '../../protocol/checks/readOutput.ts'
import { readReply, tooLarge, type ReadReply } from './readReply.ts'
import type { TurnFrame } from './turnFrames.ts'
import { planCalls } from '../calls/planCalls.ts'
import { innerCall, InnerDeltas } from '../parts/calls.ts'
import { warnOfUnusedCache } from '../models/cachingModels.ts'
import { whenDone } from '../timing/whenDone.ts'
import { usualWindow } from '../../conversation/limits/economics.ts'

/** The effect of `replying`: assembles the request, streams the reply, passes on deltas and returns the finished message. */
export const streamReply = (find: FindPorts) =>
  effect<ReplyOutput, ReplyInput>((input, cancellation) => {
    const ports = find(input.agentId)
    if (ports.definition.guards === null) return stream(ports, input, cancellation)
    return guardedReply(ports, input, cancellation, stream)
  })

async function stream(ports: AgentPorts, input: ReplyInput, cancellation: Cancellation): Promise<ReplyOutput> {
  // Wait at least a tick, so that stopping the agent right after a prompt does not call the model.
  await ports.durable()
  if (cancellation.aborted) return aborted(ports, input.key)
  const { definition, frame, conversation } = ports
  const assembled = ports.assemble(input.turnIndex)
  const estimatedTokens = conversation.trunkTokens + frame.frameTokens
  const at = { model: frame.model.id, turnIndex: input.turnIndex, provenance: assembled.told.provenance }
  const sent = withoutRefused(assembled.request, conversation.annotations?.refused ?? nothing, at)
  const { left } = input
  const request = left === undefined ? sent : withinBudget(ports, left, sent, estimatedTokens)
  if ('limit' in request) return failed(ports, input.key, request)
  announceExpired(ports, input, assembled)
  const invalid = definition.checkRequests ? describeViolations(ports, request) : ''
  if (invalid !== '')
    return failed(ports, input.key, {
      kind: 'badRequest',
      error: errorInfo('INVALID_REQUEST', `The request is invalid: ${invalid}.`),
    })
  if (announceRequest(ports, input, request, assembled)) {
    const captured = ports.durable()
    if (captured !== undefined) await captured
    if (cancellation.aborted) return aborted(ports, input.key)
  }

  const { runId, turnIndex } = input
  let { attempt, key } = input
  let answering: Answering = frame.model.id === definition.model.id ? none : { model: frame.model.id }
  let partial = { key, text: '', thinking: '', estimatedTokens, ...answering }
  let isStarted = false
  let innerDeltas: InnerDeltas | undefined
  /** Returns the usage of a failed attempt, as reported by the provider or else estimated from the partial reply. */
  const spentInVain = (failure: ReplyFailure, from: string): ReplyFailure =>
    failure.usage === undefined && isStarted && !cancellation.aborted
      ? { ...failure, ...partialUsage(ports, { ...partial, model: from }) }
      : priced(frame, failure, from)
  const take: Parameters<typeof readReply>[3] = (delta) => {
    if (delta.type === 'warning') return ports.warn({ runId, turnIndex }, delta.message)
    if (delta.type === 'model') {
      const { model: next, from, after } = delta
      answering = next === definition.model.id ? none : { model: next }
      if (after !== undefined) {
        ports.replyReplaced(key, spentInVain(after, from), next)
        attempt += 1
        key = `${key.slice(0, key.lastIndexOf('/'))}/${attempt}`
        isStarted = false
        innerDeltas = undefined
      }
      partial = { key, text: '', thinking: '', estimatedTokens, ...answering }
      return
    }
    if (!isStarted) {
      isStarted = true
      ports.partial = partial
      ports.replyStarted(key)
      if (cancellation.aborted) return
      ports.emit({ type: 'reply.start', runId, turnIndex, attempt, ...answering })
    }
    if (cancellation.aborted) return
    const { text } = delta
    switch (delta.type) {
      case 'text.delta':
        partial.text += text
        ports.delta('reply.delta', input, text, partial.text.length - text.length)
        break
      case 'thinking.delta':
        partial.thinking += text
        ports.delta('thinking.delta', input, text, partial.thinking.length - text.length)
        break
      case 'toolCall.delta': {
        const inner = (innerDeltas ??= new InnerDeltas(definition)).next(delta)
        if (inner !== undefined) ports.emit({ ...inner, runId, turnIndex })
      }
    }
  }
  const late = comesLate(conversation.measured) ? ({ comesLate: true } as const) : none
  const gate = ports.gate(Math.ceil(estimatedTokens * conversation.correction), frame.model)
  const { clock } = ports
  const { silenceMs: ms } = definition.policy.retry
  const silence = ms === undefined ? undefined : { clock, ms }
  // A model that may have to wait for its turn, or one made of several, is listened to behind that.
  const isDirect = gate === undefined && !isMadeOfModels(frame.model)
  const model = through(isDirect || silence === undefined ? gate : heardGate(gate, silence), frame.model)
  const window = definition.compaction?.policy.contextWindow
  const threw = (id: string, thrown: unknown): void => ports.callbackFailed?.(`The model "${id}"`, thrown)
  const result = await ports.within({ type: 'model', turnIndex, attempt, ...answering }, () =>
    readReply(
      model,
      request,
      { cancellation, turnIndex, window, threw, silence: isDirect ? silence : undefined, ...late },
      take,
    ),
  )
  if (result === null) return aborted(ports, key)
  if (!result.ok) {
    const failure = spentInVain(result.failure, result.model)
    const refused = isStarted ? undefined : refusedPart(request, result.failure, frame.model.id)
    if (refused === undefined) return failed(ports, key, failure)
    const why = `The provider refused ${refused.what}, left out from here on: ${result.failure.error.message}`
    ports.warn({ runId, turnIndex }, why)
    return failed(ports, key, { ...failure, without: refused.part })
  }
  return finish(ports, { ...input, key }, result, { estimatedTokens, cancellation })
}

/** Returns true if a name can be an id, because an adapter of the application may give any value. */
const isNamed = (name: unknown): name is string => typeof name === 'string' && name !== '' && name.length <= 200

function finish(
  ports: AgentPorts,
  input: ReplyInput,
  { reply, verdict, model, requests, lastUsage }: Extract<ReadReply, { ok: true }>,
  { estimatedTokens, cancellation }: { readonly estimatedTokens: number; readonly cancellation: Cancellation },
): ReplyOutput | Promise<ReplyOutput> {
  const { definition, frame, conversation, clock } = ports
  const content = soundContent(reply.content, ports, input.turnIndex)
  const calls = content.filter((block) => block.type === 'toolCall')
  const chars = jsonChars(content)
  const isTooLarge = chars > maxContentChars
  const usage = countUsage(
    { ...reply, content: isTooLarge ? [] : content },
    Math.round(estimatedTokens * conversation.correction),
    definition.counter,
  )
  const costUsd = costOf(usage, priceOf(frame, model))
  if (isTooLarge) return failed(ports, input.key, { ...tooLarge(model, chars).failure, usage, costUsd })
  if (verdict === 'empty' && definition.output === null && input.acceptsEmpty !== true) {
    ports.warn(input, 'The model replied with neither a text nor a call, so it is asked once more.')
    return failed(ports, input.key, { kind: 'empty', ...emptied, usage, costUsd })
  }
  const isAnswer = calls.length === 0 && (reply.stopReason === 'stop' || reply.stopReason === 'toolUse')
  const wrong = isAnswer ? checkAnswer(ports, content) : undefined
  if (wrong !== undefined) return failed(ports, input.key, { kind: 'badAnswer', ...wrong, usage, costUsd })
  const message: AssistantMessage = {
    role: 'assistant',
    content,
    stopReason: reply.stopReason,
    usage,
    model,
    ...(isNamed(reply.responseModel) ? { responseModel: reply.responseModel } : {}),
  }
  const asked = estimatedTokens * requests
  const measured = measure(conversation.measured, { message, estimatedTokens: asked, time: clock.now() })
  warnOfUnusedCache(ports, input, measured)
  return whenDone(planCalls(ports, calls, verdict === 'whole', input, cancellation), (planned) => ({
    key: input.key,
    ok: true,
    message,
    calls: planned,
    costUsd,
    // What was asked is counted once for each request that it took.
    estimatedTokens: asked,
    ...ratesOf(ports, model),
    contextTokens: totalTokens(requests === 1 ? usage : lastUsage),
    at: clock.now(),
    ...foldAt(ports, message, measured),
    ...(isAnswer && definition.output !== null ? answered : none),
  }))
}

const emptied = {
  error: errorInfo('REPLY_EMPTY', 'The model replied with neither a text nor a call.'),
  repair: 'Your last reply was empty: it had neither a text nor a call. Go on, or say what came of the task.',
} as const
const none = {}
const nothing: readonly never[] = Object.freeze([])
const answered = { answer: true } as const

/** The model that answers, if it is not the agent's own. */
type Answering = { readonly model?: string }

/** Adds the cost of a failed call, if its usage is known. */
const priced = (frame: TurnFrame, failure: ReplyFailure, model: string): ReplyFailure =>
  failure.usage === undefined ? failure : { ...failure, costUsd: costOf(failure.usage, priceOf(frame, model)) }

/**
 * Returns the number of tokens from which the next drain checks whether to fold. It is a low estimate, because the drain decides by its own
 * measurement. An agent that was loaded in between checks anyway, and must fold in the same turn.
 */
function foldAt(
  { conversation, definition, frame }: AgentPorts,
  message: AssistantMessage,
  measured: Measured,
): { foldAt?: number } {
  const { braking, counter } = definition
  const { frameTokens } = frame
  if (braking?.fold == null) return none
  const { correction } = measured
  const tokens = frameTokens + nextFold(conversation, braking.fold, frameTokens, foldTerms(frame), measured)
  // A provider may count less of the reply than the drain will.
  const uncounted = Math.max(0, counter.message(message) * correction - message.usage.output)
  return { foldAt: Math.max(0, Math.floor(0.98 * tokens * correction - uncounted)) }
}

/** Returns the request with its reply limited to the rest of a sub-agent's budget, or the limit if too little is left. */
function withinBudget(
  { frame: { pricing }, conversation }: AgentPorts,
  left: NonNullable<ReplyInput['left']>,
  request: ModelRequest,
  estimatedTokens: number,
): ModelRequest | (ReplyFailure & { limit: 'tokens' | 'costUsd' }) {
  const asked = Math.ceil(estimatedTokens * conversation.correction)
  const rooms = {
    tokens: left.tokens === undefined ? Infinity : left.tokens - asked,
    costUsd:
      left.costUsd === undefined || pricing === null || pricing.output === 0
        ? Infinity
        : Math.floor((left.costUsd * 1_000_000 - asked * pricing.input) / pricing.output),
  }
  const limit = rooms.tokens <= rooms.costUsd ? 'tokens' : 'costUsd'
  const room = rooms[limit]
  if (room < 1)
    return { kind: 'overBudget', limit, error: errorInfo('LIMIT_REACHED', `The limit of ${limit} is used up.`) }
  const { settings } = request
  if (room === Infinity || room >= (settings.maxTokens ?? Infinity)) return request
  return { ...request, settings: { ...settings, maxTokens: room } }
}

const failed = ({ clock, random }: AgentPorts, key: string, failure: ReplyFailure): ReplyOutput => ({
  key,
  ok: false,
  failure,
  at: clock.now(),
  jitter: random(),
})

function announceExpired(ports: AgentPorts, { runId, turnIndex }: ReplyInput, { expired }: AssembledRequest): void {
  for (const { nodeId, tag } of expired) {
    ports.emit({ type: 'tag.expired', runId, turnIndex, nodeId, kind: tag.kind, text: tag.text })
  }
}

/** Returns the output after an abort, which is not used. */
const aborted = (ports: AgentPorts, key: string): ReplyOutput =>
  failed(ports, key, { kind: 'other', error: errorInfo('ABORTED', 'The reply was aborted.') })

/** Announces a request once, however often it is sent. Returns true if it must be in the log first. */
function announceRequest(
  ports: AgentPorts,
  input: ReplyInput,
  request: ModelRequest,
  assembled: AssembledRequest,
): boolean {
  const { turnIndex, attempt, key } = input
  const { definition, isObserved } = ports
  // Only a compaction in the middle of the turn, or an answer that did not match, changes what another attempt sends.
  const announced = `${turnIndex}/${ports.conversation.epoch}`
  if (ports.announced === announced || (!isObserved && !definition.captureTurnRequests)) return false
  ports.announced = announced
  if (definition.captureTurnRequests) ports.capture(key, attempt, request, assembled.provenance)
  ports.requested(input, request, assembled)
  return definition.captureTurnRequests
}

const describeViolations = (ports: AgentPorts, request: ModelRequest): string =>
  checkRequest(request, { trunk: ports.conversation.path })
    .map(({ rule, message }) => `rule ${rule}: ${message}`)
    .join('; ')

/**
 * Returns a copy of the reply that shares nothing with the model. Some providers repeat call ids or leave them empty,
 * and others refuse a request with two equal ids. Arguments that JSON cannot hold cannot be logged: they become text,
 * which the tool refuses with a message for the model.
 */
function soundContent(content: readonly Block[], ports: AgentPorts, turnIndex: number): readonly Block[] {
  const seen = new Set<string>()
  return mapped(content, (block, index) => {
    if (block.type !== 'toolCall') return soundBlock(block)
    const isTaken = (id: string): boolean => id === '' || seen.has(id) || ports.conversation.hasCall(id)
    const named = block.callId.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64)
    let callId = named
    for (let n = index; isTaken(callId); n++) callId = `${named.slice(0, 40) || 'call'}_t${turnIndex}_${n}`
    seen.add(callId)
    const called = innerCall(ports.definition, { name: block.name, input: soundInput(block.input) })
    return { type: 'toolCall', callId, ...called }
  })
}

/** Returns the block with its known fields only, because other fields of a model may not fit into a log. */
function soundBlock(block: Exclude<Block, ToolCallBlock>): Block {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'image':
    case 'file':
      return mediaOf(block)
    case 'provider': {
      const { provider, kind, name, data } = block
      return { type: 'provider', provider, kind, name, data: soundInput(data) }
    }
    case 'thinking': {
      const { text, signature } = block
      return signature === undefined ? { type: 'thinking', text } : { type: 'thinking', text, signature }
    }
  }
}

function soundInput(input: unknown): unknown {
  try {
    return cloneJson(input)
  } catch (thrown) {
    return messageOf(thrown)
  }
}

/** Returns the problem with a final answer that must match the agent's output schema, for people and for the model. */
function checkAnswer(
  { definition, redactor }: AgentPorts,
  content: readonly Block[],
): { readonly error: ErrorInfo; readonly repair: string } | undefined {
  if (definition.output === null) return undefined
  const text = textOf(content)
  const shown = redactor === undefined ? text : textOf(redactor.value(content))
  const said = readAnswer(definition.output, text)
  // What is kept is what the result is made of.
  const kept = said.ok && shown !== text ? readAnswer(definition.output, shown) : said
  if (kept.ok) return undefined
  const wrong = said.ok ? `it holds a secret, and with that blanked ${kept.wrong}` : kept.wrong
  return {
    error: errorInfo(
      'OUTPUT_INVALID',
      `The answer cannot be used, as ${wrong}. It was: ${JSON.stringify(cutEnd(shown, 200))}.`,
    ),
    repair: [
      `Your last answer cannot be used: ${wrong}.`,
      ...(text.trim() === '' ? [] : [`It was:\n${cutMiddle(shown, 4_000)}`]),
      'Answer again, with nothing but JSON of the schema.',
    ].join('\n'),
  }
}

type Rates = Pick<Extract<ReplyOutput, { ok: true }>, 'rates'>

/** Returns the window and prices of the answering model for the record of its reply, unless readers of the log can assume them. */
function ratesOf({ definition, frame }: AgentPorts, model: string): Rates {
  const window = definition.compaction?.policy.contextWindow ?? usualWindow
  const prices = priceOf(frame, model)
  if (window === usualWindow && prices === null) return none
  return { rates: { ...(window === usualWindow ? none : { window }), ...(prices === null ? none : { prices }) } }
}
