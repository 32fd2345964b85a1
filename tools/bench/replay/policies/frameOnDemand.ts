import type { Block, ToolSpec } from '../../../../src/index.ts'
import { tool } from '../generate/toolSpec.ts'
import { textTokens } from '../measure/tokens.ts'
import { isStep, type RecordedSession, type RecordedTurn, type StepTurn } from '../recordedSession.ts'

/** The frame keeps instructions of so many tokens, and so many of the tools that are called most. */
const keeps = { tokens: 10_000, tools: 4 }
/** Tools that an answer of `find_tools` describes, and the size of a description in parts of that of the tool's JSON. */
const found = { tools: 5, size: 0.75 }
/** A part of the instructions that were left out is read in the first of so many runs, and its tokens. */
const parts = { runs: 5, tokens: 1_500 }
const charsPerToken = 4

const finder: readonly ToolSpec[] = [
  tool('find_tools', 'Finds tools for what you want to do, and describes them. Call those with call_tool.', 'query'),
  tool('call_tool', 'Calls a tool that find_tools described.', 'name', 'input'),
]
const reader = tool('read_instructions', 'Reads the instructions on a topic.', 'topic')

/**
 * The session as it would be with deferred tools and instructions. Before the first call of a tool that it
 * does not keep, a request more asks `find_tools`, whose answer describes it and some others. So do instructions that it left out, now and then.
 */
export function frameOnDemand(session: RecordedSession): RecordedSession {
  const kept = mostCalled(session)
  const deferred = session.tools.filter(({ name }) => !kept.has(name))
  const chars = keeps.tokens * charsPerToken
  const system = session.system.slice(0, chars)
  const left = session.system.slice(chars)
  const tools = [
    ...session.tools.filter(({ name }) => kept.has(name)),
    ...(deferred.length === 0 ? [] : finder),
    ...(left === '' ? [] : [reader]),
  ]
  return {
    ...session,
    name: `${session.name}, frame on demand`,
    system,
    tools,
    turns: new Turns(deferred, left).of(session.turns),
  }
}

function mostCalled({ tools, turns }: RecordedSession): ReadonlySet<string> {
  const calls = new Map(tools.map(({ name }) => [name, 0]))
  for (const { content } of turns)
    for (const block of content) if (block.type === 'toolCall') calls.set(block.name, (calls.get(block.name) ?? 0) + 1)
  const most = [...calls].filter(([, count]) => count > 0).toSorted(([, a], [, b]) => b - a)
  return new Set(most.slice(0, keeps.tools).map(([name]) => name))
}

class Turns {
  readonly #deferred: readonly ToolSpec[]
  readonly #instructions: string
  readonly #known = new Set<string>()
  #runs = 0
  #made = 0

  constructor(deferred: readonly ToolSpec[], instructions: string) {
    this.#deferred = deferred
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

  #finds(turn: StepTurn): StepTurn[] {
    return turn.content.flatMap((block) => {
      const at = block.type === 'toolCall' ? this.#deferred.findIndex(({ name }) => name === block.name) : -1
      if (at < 0 || this.#known.has(this.#deferred[at]!.name)) return []
      const described = [...this.#deferred.slice(at), ...this.#deferred.slice(0, at)].slice(0, found.tools)
      for (const { name } of described) this.#known.add(name)
      return [this.#own(turn, 'find_tools', { query: described[0]!.name }, described.map(declarationOf).join('\n'))]
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
      if (block.type !== 'toolCall' || !this.#deferred.some(({ name }) => name === block.name)) return block
      return { ...block, name: 'call_tool', input: { name: block.name, input: block.input } }
    })
    return { ...turn, content }
  }
}

function declarationOf(spec: ToolSpec): string {
  const json = JSON.stringify(spec)
  return json.slice(0, Math.ceil(json.length * found.size))
}

/** Tokens of a session's system prompt and tools. */
export const frameTokens = ({ system, tools }: Pick<RecordedSession, 'system' | 'tools'>): number =>
  textTokens(system + JSON.stringify(tools))
