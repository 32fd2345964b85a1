import { isLikelyBug } from '../../protocol/callbackBugs.ts'
import { cutEnd } from '../../protocol/text/cutMiddle.ts'
import { maxContentChars } from '../../protocol/text/saidContent.ts'
import { renderMessage, wellFormed } from '../../conversation/request/renderMessage.ts'
import { asSentence, errorInfo, messageOf, RuntimeError, toErrorInfo, type ErrorCode } from '../../protocol/errors.ts'
import { errorOfVerdict, judgeReply, type ReplyVerdict } from '../../protocol/checks/judgeReply.ts'
import { addUsage, noUsage, totalTokens, type Block, type Usage } from '../../protocol/messages.ts'
import type {
  Model,
  ModelError,
  ModelErrorKind,
  ModelPart,
  ModelReply,
  ModelRequest,
  ReplyStopReason,
} from '../../protocol/ports/model.ts'
import type { ReplyFailure } from '../../machines/effectTypes.ts'
import { breather, stepsInATurn } from '../timing/breather.ts'
import type { Cancellation } from '../timing/cancellation.ts'
import { Silence, silenceError, type SilenceLimit } from '../models/openStream.ts'
import { toldBy } from './countUsage.ts'
import { wrongInReply } from './wrongInReply.ts'

/** Maximum length of a stored error message from a provider, which may send a page of HTML. */
const maxErrorChars = 4_000

const codes: { readonly [K in ModelErrorKind]: ErrorCode } = {
  rateLimited: 'MODEL_RATE_LIMITED',
  network: 'MODEL_NETWORK',
  auth: 'MODEL_AUTH',
  overflow: 'MODEL_OVERFLOW',
  badRequest: 'MODEL_BAD_REQUEST',
  other: 'MODEL_FAILED',
}

/** Codes of errors that occur before a model is asked. Retrying would not help. */
const ownCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['ROUTER_FAILED', 'MODEL_LIMIT'])

interface ReplyFailed {
  readonly ok: false
  readonly failure: ReplyFailure
  /** Id of the model that failed. */
  readonly model: string
}

/** A reply that may be kept, with its judgement. */
export interface JudgedReply extends Omit<ModelReply, 'stopReason' | 'endReason'> {
  readonly stopReason: ReplyStopReason
}

interface Replied {
  readonly ok: true
  readonly reply: JudgedReply
  readonly verdict: Exclude<ReplyVerdict, 'paused' | 'windowFull' | 'broken'>
  /** Id of the model that answered. */
  readonly model: string
  /** Number of requests that the reply took, because the provider may pause in the middle of it. */
  readonly requests: number
  /** Usage of the last request. */
  readonly lastUsage: Usage
}

/** Result of reading a reply; `null` if it was aborted. */
export type ReadReply = Replied | ReplyFailed | null

/** Switches to `model`. With `after`, `from` has failed, and the parts of its reply are discarded. */
export interface Handover {
  readonly type: 'model'
  readonly model: string
  readonly from: string
  readonly after?: ReplyFailure
}

type Delta = Exclude<ModelPart, { type: 'done' | 'error' | 'model' }> | Handover

/** Number of parts of a stream after which the process may do other things, because a model may never wait. */
const partsAtOnce = 16
const breathe = breather()
/** Waits once 32 replies have begun in one turn of the event loop: with models and tools that never wait, a run would hold the process. */
const begin = stepsInATurn(32)

/** Maximum number of pauses of a provider in one reply. */
const mostPauses = 8

interface ReadOptions {
  readonly cancellation: Cancellation
  readonly turnIndex?: number
  /** Set if no later request has the same beginning. */
  readonly isOnce?: true
  /** Set if requests often come so late that a longer lifetime of their cache pays. */
  readonly comesLate?: true
  /** Called with an error of the model that is a bug in its code. */
  readonly threw?: (model: string, thrown: unknown) => void
  /** Context window of the model in tokens, if known. */
  readonly window?: number | undefined
  /** Time for which the model may say nothing, unless somebody else listens. */
  readonly silence?: SilenceLimit | undefined
}

/**
 * Reads one reply from a model, passing on each delta and warning as it arrives, and judges it. A paused reply is continued. Never throws: any fault
 * of the model is returned as a failure. Once aborted, nothing more is passed on and the result is `null` at once, even if the model continues.
 */
export async function readReply(
  model: Model,
  request: ModelRequest,
  options: ReadOptions,
  onDelta: (delta: Delta) => void,
): Promise<ReadReply> {
  const room = { window: options.window, maxTokens: request.settings.maxTokens }
  let content: readonly Block[] = []
  let usage = noUsage
  for (let requests = 1; ; requests++) {
    const read = await readOnce(model, requests === 1 ? request : goOn(request, content), options, onDelta)
    if (read === null) return null
    if (!read.ok) return { ...read, failure: withUsage(read.failure, usage) }
    const reply: ModelReply = { ...read.reply, usage: toldBy(read.reply.usage) }
    const verdict = judgeReply(reply, reply.endReason, room)
    if (verdict === 'broken' || verdict === 'windowFull') {
      const failure = failureOf(read.model, errorOfVerdict(verdict, reply))
      return { ok: false, failure: withUsage(failure, usage), model: read.model }
    }
    content = requests === 1 ? reply.content : [...content, ...reply.content]
    usage = requests === 1 ? reply.usage : addUsage(usage, reply.usage)
    if (verdict === 'paused' && requests <= mostPauses) continue
    if (verdict === 'paused')
      onDelta({ type: 'warning', message: `The provider paused ${requests} times in one reply, which ends here.` })
    const judged = verdict === 'paused' ? 'cut' : verdict
    const { endReason: _, ...rest } = reply
    const stopReason = stopReasonOf(judged, reply)
    const kept: JudgedReply = { ...rest, content, usage, stopReason }
    return { ok: true, reply: kept, verdict: judged, model: read.model, requests, lastUsage: reply.usage }
  }
}

/** Returns the request from which a paused reply is continued. */
function goOn(request: ModelRequest, content: readonly Block[]): ModelRequest {
  const said = renderMessage({ role: 'assistant', content, stopReason: 'stop', usage: noUsage, model: '' })
  return said === undefined ? request : { ...request, messages: [...request.messages, wellFormed(said)] }
}

function withUsage(failure: ReplyFailure, before: Usage): ReplyFailure {
  if (totalTokens(before) === 0) return failure
  return { ...failure, usage: failure.usage === undefined ? before : addUsage(before, failure.usage) }
}

function stopReasonOf(verdict: Replied['verdict'], { stopReason, content }: ModelReply): ReplyStopReason {
  if (verdict === 'cut') return 'length'
  if (verdict === 'refused') return 'refusal'
  if (stopReason === 'stop' || stopReason === 'toolUse') return stopReason
  return content.some(({ type }) => type === 'toolCall') ? 'toolUse' : 'stop'
}

type ReadOnce = { readonly ok: true; readonly reply: ModelReply; readonly model: string } | ReplyFailed

function readOnce(
  model: Model,
  request: ModelRequest,
  { cancellation, window: _, threw, silence, ...more }: ReadOptions,
  onDelta: (delta: Delta) => void,
): Promise<ReadOnce | null> {
  if (cancellation.aborted) return Promise.resolve(null)
  return new Promise((resolve) => {
    const reading = new Reading(model, cancellation, onDelta, threw)
    const end = (outcome: ReadOnce | null): void => {
      cancellation.remove(stop)
      reading.silence?.end()
      resolve(outcome)
    }
    const stop = (): void => {
      reading.close()
      end(null)
    }
    cancellation.add(stop)
    if (silence !== undefined)
      reading.silence = new Silence(silence, () => {
        reading.close()
        end(reading.failed(silenceError(silence)))
      })
    const options = { signal: cancellation.signal, ...more }
    void reading.run(request, options).then(end)
  })
}

/** One pass over a model's stream. */
class Reading {
  readonly #model: Model
  readonly #cancellation: Cancellation
  readonly #onDelta: (delta: Delta) => void
  readonly #threw: ReadOptions['threw']
  #iterator: AsyncIterator<ModelPart> | undefined
  silence: Silence | undefined
  /** Length of the deltas so far. */
  #chars = 0
  #parts = 0
  /** Id of the model that answers. */
  #answering: string

  constructor(model: Model, cancellation: Cancellation, onDelta: (delta: Delta) => void, threw: ReadOptions['threw']) {
    this.#threw = threw
    this.#model = model
    this.#answering = model.id
    this.#cancellation = cancellation
    this.#onDelta = onDelta
  }

  /** Reads the reply to a request. Resolves with `null` if it was aborted. Never rejects. */
  async run(
    request: ModelRequest,
    options: { signal: AbortSignal; turnIndex?: number; isOnce?: true; comesLate?: true },
  ): Promise<ReadOnce | null> {
    try {
      const parts: Partial<AsyncIterable<ModelPart>> | undefined = this.#model.stream(request, options)
      const iterator = parts?.[Symbol.asyncIterator]?.()
      if (iterator === undefined) return protocolFailure(this.#answering, 'its stream is not an async iterable')
      this.#iterator = iterator
      if (this.#cancellation.aborted) {
        // Aborted by the call itself, before there was anything to close.
        this.close()
        return null
      }
      for (;;) {
        this.silence?.begin()
        const { done, value } = await iterator.next()
        this.silence?.pause()
        if (this.#cancellation.aborted) return null
        this.#parts += 1
        const pause = this.#parts === 1 ? begin() : this.#parts % partsAtOnce === 0 ? breathe() : undefined
        if (pause !== undefined) {
          await pause
          if (this.#cancellation.aborted) return null
        }
        if (done === true)
          return protocolFailure(this.#answering, 'its stream ended without "done" or "error"', 'network')
        const outcome = this.#take(value)
        if (outcome === undefined) continue
        if (outcome.ok || value?.type === 'error') return await this.#end(iterator, outcome)
        this.close()
        return outcome
      }
    } catch (thrown) {
      const own = thrown instanceof RuntimeError && thrown.code === 'ROUTER_FAILED' ? thrown.cause : thrown
      if (!this.#cancellation.aborted && isLikelyBug(own)) this.#threw?.(this.#answering, own)
      if (thrown instanceof RuntimeError && ownCodes.has(thrown.code)) {
        return {
          ok: false,
          failure: { kind: 'badRequest', error: toErrorInfo(thrown, 'MODEL_FAILED') },
          model: this.#answering,
        }
      }
      return this.failed({ kind: 'other', message: messageOf(thrown) })
    }
  }

  /** Lets the model clean up; the outcome is ignored. */
  close(): void {
    try {
      void Promise.resolve(this.#iterator?.return?.()).catch(() => {})
    } catch {
      // A hand-written iterator may throw here; the reply is over anyway.
    }
  }

  /** Passes a delta on. Returns the outcome for a terminal part, or for a breach of the contract. */
  #take(part: ModelPart): ReadOnce | undefined {
    if (this.#parts > maxContentChars)
      return protocolFailure(this.#answering, `it yielded ${maxContentChars} parts and came to no end`)
    switch (part?.type) {
      case 'text.delta':
      case 'thinking.delta':
      case 'toolCall.delta':
        if (typeof part.text !== 'string')
          return protocolFailure(this.#answering, `it yielded a ${part.type} without text`)
        this.#chars += part.text.length
        if (this.#isTooMuch) return tooLarge(this.#answering, this.#chars)
        this.#onDelta(part)
        return undefined
      case 'warning':
        if (typeof part.message !== 'string')
          return protocolFailure(this.#answering, 'it yielded a warning without message')
        this.#chars += part.message.length
        if (this.#isTooMuch) return tooLarge(this.#answering, this.#chars)
        this.#onDelta(part)
        return undefined
      case 'model':
        return this.#handOver(part)
      case 'done': {
        const wrong = wrongInReply(part.reply)
        return wrong === undefined
          ? { ok: true, reply: part.reply, model: this.#answering }
          : protocolFailure(this.#answering, wrong)
      }
      case 'error':
        return this.failed(part.error)
      default: {
        const seen = JSON.stringify((part as { type?: unknown } | undefined)?.type)
        return protocolFailure(this.#answering, `it yielded a part of unknown type ${seen}`)
      }
    }
  }

  get #isTooMuch(): boolean {
    return this.#chars > maxContentChars
  }

  #handOver({ model, after }: Extract<ModelPart, { type: 'model' }>): ReadOnce | undefined {
    if (typeof model !== 'string' || model === '')
      return protocolFailure(this.#answering, 'it named no model that answers')
    const from = this.#answering
    this.#answering = model
    if (after === undefined) this.#onDelta({ type: 'model', model, from })
    else {
      this.#chars = 0
      this.#onDelta({ type: 'model', model, from, after: failureOf(from, after) })
    }
    return undefined
  }

  failed(error: ModelError): ReplyFailed {
    const model = this.#answering
    return { ok: false, failure: failureOf(model, error), model }
  }

  /** A part immediately after the terminal one is a breach; a stream that is merely slow to close is not waited for. */
  async #end(iterator: AsyncIterator<ModelPart>, outcome: ReadOnce): Promise<ReadOnce> {
    const next: { isOver: boolean; part?: ModelPart } = { isOver: false }
    iterator.next().then(
      ({ done, value }) => Object.assign(next, { isOver: true }, done === true ? {} : { part: value }),
      () => (next.isOver = true),
    )
    for (let tick = 0; tick < 8 && !next.isOver; tick++) await Promise.resolve()
    if (!next.isOver || 'part' in next) this.close()
    if (!('part' in next)) return outcome
    return protocolFailure(this.#answering, `it yielded "${next.part?.type}" after its terminal part`)
  }
}

function failureOf(model: string, error: ModelError): ReplyFailure {
  const kind = Object.hasOwn(codes, error?.kind) ? error.kind : 'other'
  const { retryAfterMs, usage } = error ?? {}
  // What went wrong comes first: where there is little room, that is what is read.
  const said = cutEnd(messageOf(error?.message).trim(), maxErrorChars).replace(/\.$/, '')
  return {
    kind,
    error: errorInfo(codes[kind], asSentence(`${said} (${model})`)),
    ...(Number.isFinite(retryAfterMs) ? { retryAfterMs: retryAfterMs! } : {}),
    ...(usage === undefined ? {} : { usage: toldBy(usage) }),
  }
}

/** Returns the error for a reply that is too large for any log. */
export const tooLarge = (model: string, chars: number): ReplyFailed => ({
  ok: false,
  model,
  failure: {
    kind: 'badRequest',
    error: errorInfo(
      'REPLY_TOO_LARGE',
      `${model} replied with ${chars} characters or more, and ${maxContentChars} are allowed.`,
    ),
  },
})

/** Returns the failure for a broken contract. A stream that just ends may be a lost connection, so it is retried; other breaches would repeat. */
const protocolFailure = (model: string, what: string, kind: ModelErrorKind = 'badRequest'): ReplyFailed => ({
  ok: false,
  model,
  failure: { kind, error: errorInfo('MODEL_PROTOCOL', `Model ${model} broke the contract of the port: ${what}.`) },
})
