import { indexOf, searchTools, type ToolIndex } from '../../../../packages/tools/src/finding/searchTools.ts'
import { declarationOf } from '../../../../packages/tools/src/finding/declaration.ts'
import type { Block, ToolSpec } from '../../../../src/index.ts'
import { callToolName } from '../../../../src/protocol/viaCallTool.ts'
import { tool } from '../generate/toolSpec.ts'
import { textTokens } from '../measure/tokens.ts'
import { isStep, type RecordedSession, type RecordedTurn, type StepTurn } from '../recordedSession.ts'

/** The frame keeps instructions of so many tokens, and so many of the tools that are called most. */
const keeps = { tokens: 10_000, tools: 4 }
/** Most tools that an answer of `find_tools` declares. */
const mostDeclared = 10
/** A part of the instructions that were left out is read in the first of so many runs, and its tokens. */
const parts = { runs: 5, tokens: 1_500 }
const charsPerToken = 4

const finder = 'find_tools'
const reader = tool('read_instructions', 'Reads the instructions on a topic.', 'topic')

/**
 * The session as it would be with the product's deferred tools, and with instructions that are read when they are needed. Before the first call
 * of a tool that no request lists, a request more asks `find_tools` for it. Instructions that were cut off are read now and then.
 */
export function frameOnDemand(session: RecordedSession): RecordedSession {
  const kept = mostCalled(session)
  const deferred = mayDefer(session) ? session.tools.filter(({ name }) => !kept.has(name)) : []
  const chars = keeps.tokens * charsPerToken
  const system = session.system.slice(0, chars)
  const left = session.system.slice(chars)
  const names = new Set(deferred.map(({ name }) => name))
  return {
    ...session,
    name: `${session.name}, frame on demand`,
    system,
    tools: [...session.tools.filter(({ name }) => !names.has(name)), ...(left === '' ? [] : [reader])],
    ...(deferred.length === 0 ? {} : { deferred }),
    turns: new Turns(deferred, left).of(session.turns),
  }
}

/** A session whose agent had such tools of its own keeps them. */
const mayDefer = ({ tools }: RecordedSession): boolean =>
  !tools.some(({ name }) => name === finder || name === callToolName)

function mostCalled({ tools, turns }: RecordedSession): ReadonlySet<string> {
  const calls = new Map(tools.map(({ name }) => [name, 0]))
  for (const { content } of turns)
    for (const block of content) if (block.type === 'toolCall') calls.set(block.name, (calls.get(block.name) ?? 0) + 1)
  const most = [...calls].filter(([, count]) => count > 0).toSorted(([, a], [, b]) => b - a)
  return new Set(most.slice(0, keeps.tools).map(([name]) => name))
}

class Turns {
  readonly #index: ToolIndex<ToolSpec>
  readonly #deferred: ReadonlySet<string>
  readonly #instructions: string
  readonly #known = new Set<string>()
  #runs = 0
  #made = 0

  constructor(deferred: readonly ToolSpec[], instructions: string) {
    this.#index = indexOf(deferred)
    this.#deferred = new Set(deferred.map(({ name }) => name))
    this.#instructions = instructions
  }

  of(turns: readonly RecordedTurn[]): RecordedTurn[] {
    return turns.flatMap((turn, at): RecordedTurn[] => {
      if (!isStep(turn)) return [turn]
      const before = turns[at - 1]
      const isFirst = before !== undefined && !isStep(before) && this.#runs++ % parts.runs === 0
      return [...(isFirst ? this.#reads(turn) : []), ...this.#finds(turn), this.#throughCallTool(turn)]
    })
  }

  #reads(turn: StepTurn): StepTurn[] {
    if (this.#instructions === '') return []
    const size = parts.tokens * charsPerToken
    const from = (this.#made * size) % this.#instructions.length
    return [this.#own(turn, 'read_instructions', { topic: 'this task' }, this.#instructions.slice(from, from + size))]
  }

  /** The answer is the product's: what stands here as one tells which names it has. */
  #finds(turn: StepTurn): StepTurn[] {
    return turn.content.flatMap((block) => {
      if (block.type !== 'toolCall' || !this.#deferred.has(block.name) || this.#known.has(block.name)) return []
      const declared = searchTools(this.#index, block.name).close.slice(0, mostDeclared)
      for (const { name } of declared) this.#known.add(name)
      const answer = declared.map((spec) => declarationOf(spec)).join('\n\n')
      return [this.#own(turn, finder, { query: block.name }, answer)]
    })
  }

  #own({ at }: StepTurn, name: string, input: object, answer: string): StepTurn {
    const callId = `on-demand-${(this.#made += 1)}`
    const results = [{ content: [{ type: 'text', text: answer } as const], isError: false }]
    return {
      type: 'step',
      content: [{ type: 'toolCall', callId, name, input }],
      results,
      ...(at === undefined ? {} : { at }),
    }
  }

  #throughCallTool(turn: StepTurn): StepTurn {
    const content = turn.content.map((block): Block => {
      if (block.type !== 'toolCall' || !this.#deferred.has(block.name)) return block
      return { ...block, name: callToolName, input: { name: block.name, input: block.input } }
    })
    return { ...turn, content }
  }
}

/** Tokens of a session's system prompt and tools. */
export const frameTokens = ({ system, tools }: Pick<RecordedSession, 'system' | 'tools'>): number =>
  textTokens(system + JSON.stringify(tools))
