import { cutMiddle } from '../../../src/protocol/text/cutMiddle.ts'
import { isErrorCode, type ErrorInfo } from '../../../src/protocol/errors.ts'
import type { AssistantMessage, Block, PlainBlock, UserMessage } from '../../../src/protocol/messages.ts'
import { mediaText, textOf } from '../../../src/protocol/text/messageText.ts'
import type { ModelErrorKind } from '../../../src/protocol/ports/model.ts'
import type { LogRecord, RecordOf } from '../../../src/protocol/records.ts'

/** A call of a recorded reply, with an id that is unique in the recording. */
export interface RecordedCall {
  readonly name: string
  readonly input: unknown
  readonly callId: string
}

/** A recorded reply in the form that a scripted model gives. */
export interface RecordedReply {
  readonly text?: string
  readonly toolCalls?: readonly RecordedCall[]
  readonly stopReason?: 'length' | 'refusal'
  /** Messages of people that came during the reply, or while its calls were carried out. */
  readonly said?: readonly { readonly how: 'steer' | 'followUp'; readonly text: string }[]
}

/** Result of a call. `isError`: the call was carried out and failed. */
export interface RecordedResult {
  readonly name: string
  readonly text: string
  readonly isError: boolean
  /** True if the result is synthetic: the tool itself did not answer. */
  readonly wasSkipped: boolean
}

/** End of a run other than a plain answer. */
export type RecordedEnd =
  | { readonly type: 'modelError'; readonly kind: ModelErrorKind; readonly message: string }
  | { readonly type: 'limit' }
  /** An end that replies do not cause: an abort, a store, a guard, a process that died. */
  | { readonly type: 'elsewhere'; readonly what: string }

/** One run with the runs that continued it, from its first message to its end. */
export interface RecordedRun {
  /** Texts of its first messages: the context first, the prompt last. */
  readonly said: readonly string[]
  readonly replies: readonly RecordedReply[]
  /** Missing if its last reply is its answer, or if the run is under way. */
  readonly end?: RecordedEnd
  /** Record of the run's end. */
  readonly ended?: RecordOf<'run.end'>
}

/** Runs and call results of a conversation. */
export interface Recording {
  readonly runs: readonly RecordedRun[]
  readonly results: ReadonlyMap<string, RecordedResult>
}

/** Maximum length of a text in UTF-16 units. The middle of a longer text is left out. */
const mostText = 4_000
/** Maximum depth of values in arguments. Deeper ones are left out. */
const mostDepth = 40

const cut = (text: string): string => cutMiddle(text, mostText).toWellFormed()

/** Kinds of model errors, by the codes of failed replies. */
const kinds: Readonly<Record<string, ModelErrorKind>> = {
  MODEL_RATE_LIMITED: 'rateLimited',
  MODEL_NETWORK: 'network',
  MODEL_AUTH: 'auth',
  MODEL_OVERFLOW: 'overflow',
  MODEL_BAD_REQUEST: 'badRequest',
  MODEL_FAILED: 'other',
}

type OpenReply = Omit<RecordedReply, 'said'> & { said?: { how: 'steer' | 'followUp'; text: string }[] }

interface OpenRun {
  readonly said: string[]
  readonly replies: OpenReply[]
  ended?: RecordOf<'run.end'>
  error?: ErrorInfo
}

/**
 * Returns the prompts, replies and call results of an agent's records, run by run; those of a fork come after the records that it shares.
 * Failed attempts that were repeated, and changes of the conversation's shape, are left out: a scripted model needs none of them. Texts are
 * bounded. Pure.
 */
export function recordingOf(records: readonly LogRecord[]): Recording {
  const runs: OpenRun[] = []
  const results = new Map<string, RecordedResult>()
  /** Ids in the recording, by ids in the log, because providers may use an id twice. */
  const callIds = new Map<string, string>()
  let count = 0
  for (const record of records) {
    const run = runs.at(-1)
    if (record.type === 'run.start') {
      if (record.resumedFrom === undefined && record.cause !== 'resume') runs.push({ said: [], replies: [] })
      else if (run !== undefined) {
        delete run.ended
        delete run.error
      }
    } else if (run === undefined) continue
    else if (record.type === 'message.added') say(run, record.message)
    else if (record.type === 'reply.end') {
      delete run.error
      if (record.message.stopReason === 'aborted') continue
      const calls = record.message.content.flatMap((block: Block): readonly RecordedCall[] => {
        if (block.type !== 'toolCall') return []
        const callId = `call${++count}`
        callIds.set(block.callId, callId)
        results.set(callId, { name: block.name, text: 'It had no result yet.', isError: true, wasSkipped: false })
        return [{ name: block.name, input: bounded(block.input, 0), callId }]
      })
      run.replies.push(replyOf(record.message, calls))
    } else if (record.type === 'reply.reset') run.error = record.error
    else if (record.type === 'tool.end') {
      const callId = callIds.get(record.callId)
      const { isError, synthetic, content } = record.message
      const wasSkipped = synthetic !== undefined
      // What was never run, as a person denied it, is no failure of a tool.
      const result = { name: record.name, text: wordsOf(content), isError: isError && !wasSkipped, wasSkipped }
      if (callId !== undefined) results.set(callId, result)
    } else if (record.type === 'run.end') run.ended = record
  }
  return { runs: runs.map(closed), results }
}

function say(run: OpenRun, { content, source }: UserMessage): void {
  const last = run.replies.at(-1)
  const text = wordsOf(content)
  if (last === undefined) run.said.push(text)
  else (last.said ??= []).push({ how: source === 'followUp' ? 'followUp' : 'steer', text })
}

function replyOf({ content, stopReason }: AssistantMessage, toolCalls: readonly RecordedCall[]): OpenReply {
  const text = cut(textOf(content))
  return {
    ...(text === '' && toolCalls.length > 0 ? {} : { text }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    ...(stopReason === 'length' || stopReason === 'refusal' ? { stopReason } : {}),
  }
}

function closed({ said, replies, ended, error }: OpenRun): RecordedRun {
  const end = endOf(ended, error)
  return { said, replies, ...(end === undefined ? {} : { end }), ...(ended === undefined ? {} : { ended }) }
}

function endOf(ended: RecordOf<'run.end'> | undefined, error: ErrorInfo | undefined): RecordedEnd | undefined {
  if (ended === undefined) return undefined
  switch (ended.stopReason) {
    case 'stop':
    case 'length':
      return undefined
    case 'refusal':
      return ended.refusal === undefined ? undefined : { type: 'elsewhere', what: 'a guard refused it' }
    case 'aborted':
      return { type: 'elsewhere', what: 'it was aborted' }
    case 'paused':
      if (ended.reason?.type === 'limit') return { type: 'limit' }
      return { type: 'elsewhere', what: 'it was paused' }
    case 'error': {
      const { code = 'INTERNAL', message = '' } = ended.error ?? error ?? {}
      // A log from elsewhere may have any text for a code.
      const kind = Object.hasOwn(kinds, code) ? kinds[code] : undefined
      if (kind === undefined)
        return { type: 'elsewhere', what: isErrorCode(code) ? `it failed with ${code}` : 'it failed' }
      return { type: 'modelError', kind, message: cut(message) }
    }
  }
}

/** Returns the text of a message or a result. */
const wordsOf = (content: readonly PlainBlock[]): string =>
  cut(content.map((block) => (block.type === 'text' ? block.text : mediaText(block))).join('\n'))

/** Returns a JSON value with its long texts cut. */
function bounded(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return cut(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth > mostDepth) return '…'
  if (Array.isArray(value)) return value.map((item) => bounded(item, depth + 1))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, bounded(item, depth + 1)]))
}
