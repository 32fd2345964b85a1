import type { Block, Model, ModelPart, ModelRequest, Usage } from '../../src/index.ts'

/** The work every contender does: `turns` turns of `deltas` text deltas, each but the last with one tool call. Free mocks, so what is measured is the loop. */
export interface Workload {
  readonly turns: number
  readonly deltas: number
}

const usage: Usage = { input: 100, output: 20, cacheRead: 0, cacheWrite: 0 }
const delta: ModelPart = { type: 'text.delta', text: 'word ' }

/** A model that answers at once; it reads nothing of the request but its length. */
export function benchModel(work: Workload): Model {
  return {
    id: 'bench:model',
    async *stream(_request: ModelRequest, options: { signal: AbortSignal; turnIndex?: number }) {
      const turn = options.turnIndex ?? 0
      for (let i = 0; i < work.deltas; i++) yield delta
      yield donePart(work, turn)
    },
  }
}

export function donePart(work: Workload, turn: number): ModelPart {
  const content: Block[] = [{ type: 'text', text: 'word '.repeat(work.deltas) }]
  const isLast = turn % work.turns === work.turns - 1
  if (!isLast) content.push({ type: 'toolCall', callId: `call_${turn}`, name: 'echo', input: { n: turn } })
  return { type: 'done', reply: { content, stopReason: isLast ? 'stop' : 'toolUse', usage } }
}

/** Throws unless a run has done all the work of the workload. */
export function verify(who: string, work: Workload, seen: { turns: number; deltas: number; tools: number }): void {
  const wrong = seen.turns !== work.turns || seen.deltas !== work.turns * work.deltas || seen.tools !== work.turns - 1
  if (wrong) throw new Error(`${who} did other work than asked: ${JSON.stringify({ work, seen })}`)
}
