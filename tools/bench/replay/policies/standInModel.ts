import { heuristicScorer } from '../../../../src/policies.ts'
import { textOf } from '../../../../src/protocol/messages.ts'
import type { Agent, Block, Model, ModelRequest } from '../../../../src/index.ts'
import { namesIn } from '../measure/names.ts'
import { textTokens } from '../measure/tokens.ts'

export interface StandInOptions {
  /** The agent whose conversation is worked on. */
  readonly agent: () => Agent
  readonly sent: (request: ModelRequest, reply: readonly Block[]) => void
}

/** Part of its limit that the model writes, as for a text that keeps within its limit. */
const written = 0.6
/** Steps that a reviewer reads in full. */
const mostRead = 8
/** The part of what may be hidden that a reviewer hides. */
const hiddenShare = 0.5

/**
 * Stands in for the model that a policy asks: it does by rule, without knowing what comes, what a model would, and each of its requests and
 * replies is billed. A summary: half of it the names that most steps hold, half the first words of the steps, in 60 % of the tokens allowed. A
 * review: the outline and the eight largest steps are read, then the half with the lowest scores is hidden.
 */
export const standInModel = ({ agent, sent }: StandInOptions): Model => ({
  id: 'replay:standIn',
  async *stream(request) {
    const isReview = request.tools.some(({ name }) => name === 'read_transcript')
    const content = isReview ? await review(request, agent()) : [text(summaryOf(request))]
    sent(request, content)
    const stopReason = content.some(({ type }) => type === 'toolCall') ? 'toolUse' : 'stop'
    yield { type: 'done', reply: { content, stopReason, usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } } }
  },
})

const text = (said: string): Block => ({ type: 'text', text: said })
const promptOf = ({ messages }: ModelRequest): string => textOf(messages[0]!.content)

function summaryOf(request: ModelRequest): string {
  const { maxTokens } = request.settings as { readonly maxTokens: number }
  const entries = promptOf(request)
    .split(/<transcript-entry[^>]*>/)
    .slice(1)
    .map((entry) => entry.replace(/<\/transcript-entry>[\s\S]*/, '').trim())
  const holders = new Map<string, number>()
  for (const entry of entries) for (const name of namesIn(entry)) holders.set(name, (holders.get(name) ?? 0) + 1)
  const names = [...holders].toSorted(([, a], [, b]) => b - a).map(([name]) => name)
  const words = entries.map((entry) => entry.replace(/\s+/g, ' ').slice(0, 80))
  const most = written * maxTokens
  return `Names: ${fitting(names, most / 2, ', ')}\nDone:\n${fitting(words, most / 2, '\n')}`
}

/** The first of some texts that together have at most so many tokens. */
function fitting(texts: readonly string[], most: number, between: string): string {
  let joined = ''
  for (const each of texts) {
    const longer = joined === '' ? each : `${joined}${between}${each}`
    if (textTokens(longer) > most) break
    joined = longer
  }
  return joined
}

async function review(request: ModelRequest, agent: Agent): Promise<Block[]> {
  const steps = Array.from(promptOf(request).matchAll(/^(n\d+) \(agent, (\d+) tokens\)/gm), ([, id, tokens]) => ({
    id: id!,
    tokens: Number(tokens),
  }))
  if (!request.messages.some(({ role }) => role === 'toolResult')) {
    const largest = steps.toSorted((a, b) => b.tokens - a.tokens).slice(0, mostRead)
    if (largest.length > 0) return largest.map(({ id }, index) => readCall(id, index))
  }
  return [text(JSON.stringify({ hide: await lowest(steps, agent), why: 'the lowest scores' }))]
}

const readCall = (from: string, index: number): Block => ({
  type: 'toolCall',
  callId: `read-${index}`,
  name: 'read_transcript',
  input: { from },
})

type Sized = { readonly id: string; readonly tokens: number }

async function lowest(steps: readonly Sized[], { conversation }: Agent): Promise<string[]> {
  const { signal } = new AbortController()
  const scored: (Sized & { readonly score: number })[] = []
  for (const step of steps) {
    const view = { ...step, role: 'assistant' as const, text: () => '' }
    scored.push({ ...step, score: await heuristicScorer(view, { conversation, signal }) })
  }
  const hidden: string[] = []
  let left = hiddenShare * steps.reduce((sum, { tokens }) => sum + tokens, 0)
  for (const { id, tokens } of scored.toSorted((a, b) => a.score - b.score)) {
    if (left <= 0) break
    hidden.push(id)
    left -= tokens
  }
  return hidden
}
