/** A tool call of a scripted reply. */
export interface Call {
  /** `turn.index`: the mock model reads from it which turn comes next. */
  readonly callId: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}

/** Reply of the mock model: a number of text deltas, then calls; a reply without calls ends the run. */
export interface Reply {
  readonly deltas: number
  readonly calls: readonly Call[]
  /** `model`: it never begins, and hears no signal. `streaming`: deltas until its signal is aborted, one a tick of the event loop. */
  readonly hang?: 'model' | 'streaming'
}

/** The reply of each turn of a run, 0 first. */
export type Script = (turn: number) => Reply

/** Work that was really done, counted by the model, the tools and the subscriber. */
export interface Seen {
  asked: number
  deltas: number
  tools: number
}

export interface ToolSpec {
  readonly name: string
  run(input: { readonly n: number }): string | Promise<string>
}

/** An agent, as each contender builds it by its own means. */
export interface AgentSpec {
  readonly name: string
  readonly seen: Seen
  readonly script: Script
  readonly tools: readonly ToolSpec[]
  /** Agents it may call as tools, by their `name`, with `{ task }`. */
  readonly agents?: readonly AgentSpec[]
}

export const newSeen = (): Seen => ({ asked: 0, deltas: 0, tools: 0 })

/** Each turn but the last with one call of `tool`. */
export const turnsOf =
  (count: number, deltas: number, tool = 'echo'): Script =>
  (turn) => ({
    deltas,
    calls: turn === count - 1 ? [] : [{ callId: `${turn}.0`, name: tool, input: { n: turn } }],
  })

/** Gives back its number. */
export const echoOf = (seen: Seen): ToolSpec => ({
  name: 'echo',
  run: ({ n }) => {
    seen.tools += 1
    return String(n)
  },
})

/**
 * Returns the reply of an agent's model. `lastCallId`: call id of the last message if that is a tool's result, so that a model needs no
 * memory and can serve any number of agents at once.
 */
export function answer(spec: AgentSpec, lastCallId: string | undefined): Reply {
  spec.seen.asked += 1
  return spec.script(lastCallId === undefined ? 0 : Number.parseInt(lastCallId, 10) + 1)
}

export const word = 'word '

const texts = new Map<number, string>()

/** The text that so many deltas make. */
export function textOf(deltas: number): string {
  const text = texts.get(deltas) ?? word.repeat(deltas)
  texts.set(deltas, text)
  return text
}

/** Deltas that come within one turn of the event loop, as those of one packet do. */
const burst = 100

/** Tells whether the event loop turns after this delta; the first is 0. */
export const endsBurst = (index: number): boolean => index % burst === burst - 1

/** Tells whether a reply that streams for ever has not been aborted. */
export const goesOn = ({ hang }: Reply, signal: AbortSignal | undefined): boolean =>
  hang === 'streaming' && signal?.aborted !== true

/** One turn of the event loop. */
export const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Never resolves, and holds nothing open. */
export const never = (): Promise<never> => new Promise(() => {})
