/**
 * How well `heuristicScorer` tells which steps a session can do without: each step is scored when ten more were made, as deciders do, and is
 * missed when the agent later writes a name of it that stands in no other step before that.
 *
 *   node tools/bench/stepScores.ts <recorded session…>
 *
 * Formats: tools/bench/replay/README.md. A call counts as a change by the name of its tool, as recordings do not say it.
 */
import { Conversation } from '../../src/conversation/tree/conversation.ts'
import { namesIn, wordsOf } from '../../src/conversation/names/names.ts'
import type { Step } from '../../src/conversation/tree/node.ts'
import { StepRecord, stepScore } from '../../packages/policies/src/stepScore.ts'
import type { LogRecord } from '../../src/index.ts'
import { noUsage, toolCallsOf, type Block } from '../../src/protocol/messages.ts'
import { isStep, type RecordedSession, type StepTurn } from './replay/recordedSession.ts'
import { readSession } from './replay/readers/readSession.ts'

/** The steps of the model that deciders leave alone. */
const keepSteps = 10
const changing = /edit|write|create|insert|replace|patch|delete/i
const bands = [0, 0.1, 0.3, 0.5, 0.7] as const

interface ScoredStep {
  readonly score: number
  readonly tokens: number
  readonly isMissed: boolean
}

/** Tells the conversation what was said, turn by turn. */
class Replayed {
  readonly conversation = new Conversation()
  #seq = 0
  #calls = 0

  user(content: readonly Block[]): void {
    this.#apply({ type: 'message.added', ...this.#place(), message: { role: 'user', content, source: 'prompt' } })
  }

  step({ content, results }: StepTurn): void {
    const blocks = content.map((block) =>
      block.type === 'toolCall' ? { ...block, callId: `c${(this.#calls += 1)}` } : block,
    )
    const calls = toolCallsOf(blocks)
    const stopReason = calls.length > 0 ? 'toolUse' : 'stop'
    const place = this.#place()
    const message = { role: 'assistant', content: blocks, stopReason, usage: noUsage, model: 'recorded' }
    this.#apply({ type: 'reply.end', ...place, costUsd: 0, estimatedTokens: 0, message })
    for (const [index, { callId, name }] of calls.entries()) {
      const { content: said, isError } = results[index]!
      const changed = changing.test(name) && !isError ? { changed: ['something'] } : {}
      const result = { role: 'toolResult', callId, toolName: name, content: said, isError, ...changed }
      const nodeId = place.nodeId + 1 + index
      this.#apply({ type: 'tool.end', nodeId, parentId: nodeId - 1, callId, key: callId, name, message: result })
    }
  }

  #place(): { nodeId: number; parentId: number | null } {
    return { nodeId: this.conversation.lastNodeId + 1, parentId: this.conversation.head }
  }

  #apply(body: object): void {
    this.#seq += 1
    const record = { v: 3, seq: this.#seq, time: 0, runId: 'a/r0', turnIndex: this.#seq, ...body }
    this.conversation.apply(record as LogRecord)
  }
}

function scoredSteps({ turns }: RecordedSession): ScoredStep[] {
  const replayed = new Replayed()
  const { conversation } = replayed
  const record = StepRecord.of(conversation)
  const scores: number[] = []
  for (const turn of turns) {
    if (!isStep(turn)) {
      replayed.user(turn.content)
      continue
    }
    replayed.step(turn)
    for (const _ of record.learn(conversation));
    const due = ownSteps(conversation).at(-1 - keepSteps)
    if (due !== undefined) scores.push(stepScore(record.meritsOf(due.id)!))
  }
  const missed = missedSteps(conversation)
  return ownSteps(conversation)
    .slice(0, scores.length)
    .map(({ id, nodes }, at) => ({
      score: scores[at]!,
      tokens: nodes.reduce((sum, node) => sum + node.tokens, 0),
      isMissed: missed.has(id),
    }))
}

const ownSteps = (conversation: Conversation): Step[] =>
  conversation.steps().filter(({ nodes }) => nodes[0]!.message.role === 'assistant')

/** Steps that hold the only copy of a name when the agent writes it, more than `keepSteps` steps later. */
function missedSteps(conversation: Conversation): ReadonlySet<number> {
  const missed = new Set<number>()
  /** Where a name stood first, and whether it has stood elsewhere since. */
  const sources = new Map<string, { readonly id: number; readonly place: number; isSole: boolean }>()
  for (const [place, { id, nodes }] of conversation.steps().entries()) {
    if (nodes[0]!.message.role === 'assistant')
      for (const name of namesIn(wordsOf(nodes[0]!))) {
        const source = sources.get(name)
        if (source?.isSole === true && place - source.place > keepSteps) missed.add(source.id)
      }
    for (const name of new Set(nodes.flatMap((node) => [...namesIn(wordsOf(node))]))) {
      const source = sources.get(name)
      if (source === undefined) sources.set(name, { id, place, isSole: true })
      else source.isSole = false
    }
  }
  return missed
}

const percent = (part: number, whole: number): string => (whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)} %`)
const sumOf = (steps: readonly ScoredStep[]): number => steps.reduce((sum, { tokens }) => sum + tokens, 0)

for (const path of process.argv.slice(2)) {
  const session = await readSession(path)
  const steps = scoredSteps(session)
  const all = sumOf(steps)
  process.stdout.write(
    `\n${session.name}: ${steps.length} steps\n| score | steps | tokens | missed later |\n|---|---|---|---|\n`,
  )
  for (const [index, from] of bands.entries()) {
    const to = bands[index + 1] ?? Infinity
    const within = steps.filter(({ score }) => score >= from && score < to)
    const label = to === Infinity ? `${from} and more` : `${from} to ${to}`
    const missed = within.filter(({ isMissed }) => isMissed).length
    process.stdout.write(
      `| ${label} | ${within.length} | ${percent(sumOf(within), all)} | ${percent(missed, within.length)} |\n`,
    )
  }
}
