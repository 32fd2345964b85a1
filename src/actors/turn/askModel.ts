import type { ConversationNode } from '../../conversation/tree/node.ts'
import { estimateTokens } from '../../conversation/limits/tokenCounter.ts'
import type { Clock } from '../../protocol/ports/clock.ts'
import { wellFormed } from '../../conversation/request/renderMessage.ts'
import { noUsage, textOf, type Usage } from '../../protocol/messages.ts'
import type { Model, ModelRequest } from '../../protocol/ports/model.ts'
import { Cancellation } from '../timing/cancellation.ts'
import { countUsage } from './countUsage.ts'
import { readReply } from './readReply.ts'

/** The text of a whole answer, or the error, with the usage in either case. */
export type Answered =
  | { readonly ok: true; readonly text: string; readonly usage: Usage }
  | { readonly ok: false; readonly problem: string; readonly usage?: Usage }

/** Time limit of a question, in milliseconds, and the signal that ends it. */
export interface Patience {
  readonly timeoutMs: number
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** A question to the agent's own model about a part of its conversation. */
export interface AskedAbout extends Omit<Patience, 'clock'> {
  /** Instructions for the model that answers. */
  readonly system: string
  /** Returns that part as a transcript, for a model that does not see the conversation. */
  readonly text: () => string
  readonly span: readonly ConversationNode[]
  /** Set if the transcript begins with the summary of the part before, which the answer replaces. */
  readonly hasEarlier?: boolean
  readonly maxTokens: number
}

/**
 * Asks a model one question, outside any conversation, under a time limit. Never rejects. A reply that was cut off or refused, or that
 * calls a tool it was not offered, is no answer.
 */
export async function askModel(
  model: Model,
  question: Patience & { readonly system: string; readonly text: string; readonly maxTokens: number },
): Promise<Answered> {
  const { system, text } = wellFormed({ system: question.system, text: question.text })
  const messages = [{ role: 'user', content: [{ type: 'text', text }] }] as const
  const request = { system, messages, tools: [], settings: { maxTokens: question.maxTokens } }
  const input = estimateTokens.text(system) + estimateTokens.text(text)
  return await answerTo(model, request, { ...question, input, isOnce: true })
}

/** Returns the answer of a model to a request. `input`: its estimated tokens. */
export async function answerTo(
  model: Model,
  request: ModelRequest,
  { input, isOnce, timeoutMs, clock, signal }: Patience & { readonly input: number; readonly isOnce?: true },
): Promise<Answered> {
  if (signal.aborted) return { ok: false, problem: 'aborted' }
  const limit = new Cancellation()
  const stop = (): void => limit.abort()
  signal.addEventListener('abort', stop, { once: true })
  const cancel = clock.after(timeoutMs, stop)
  let written = ''
  const result = await readReply(
    model,
    request,
    { cancellation: limit, ...(isOnce === undefined ? {} : { isOnce }) },
    (delta) => void (written += 'text' in delta ? delta.text : ''),
  )
  cancel()
  signal.removeEventListener('abort', stop)
  // No provider tells what a reply used that came in part.
  const begun =
    written === ''
      ? {}
      : { usage: { ...noUsage, input, output: estimateTokens.text(written), estimated: true as const } }
  if (result === null)
    return { ok: false, problem: signal.aborted ? 'aborted' : `it took too long, over ${timeoutMs} ms`, ...begun }
  if (!result.ok) {
    const { error, usage } = result.failure
    return { ok: false, problem: error.message, ...(usage === undefined ? begun : { usage }) }
  }
  const { reply, verdict } = result
  const usage = countUsage(reply, input, estimateTokens)
  const said = textOf(reply.content)
  if (verdict !== 'whole') return { ok: false, problem: problems[verdict](usage), usage }
  const isCall = reply.content.some(({ type }) => type === 'toolCall') || said.trimStart().startsWith('<tool_call>')
  return isCall
    ? { ok: false, problem: 'the model called a tool, and has none', usage }
    : { ok: true, text: said, usage }
}

const problems = {
  cut: ({ output }: Usage) => `the model was cut off after ${output} tokens`,
  refused: () => 'the model refused to answer',
  empty: () => 'the model wrote nothing',
} as const
