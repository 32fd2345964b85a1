import { evidenceOf } from '../../conversation/evidence.ts'
import { cutEnd, oneLine } from '../../conversation/cutMiddle.ts'
import { factsOf } from '../../conversation/facts.ts'
import { digestLine } from '../../conversation/foldLine.ts'
import { brakeToolsWithRecall } from '../../conversation/revert.ts'
import { RuntimeError } from '../../protocol/errors.ts'
import { textOf } from '../../protocol/messages.ts'
import { recallHint, stepsOfPart } from './hiddenSteps.ts'
import type { Consultation, HiddenPart, Keeper } from './policy.ts'

/** Something that an agent learned, as a memory keeps it. */
export interface MemoryEntry {
  /** What is stored again under a key replaces what is there. */
  readonly key: string
  readonly agentId: string
  readonly text: string
  /** The steps that it comes from, such as `n12`. */
  readonly steps: readonly string[]
  /** When it was stored, in milliseconds since 1970. */
  readonly at: number
}

/** Where memories are kept: a database, a service, a file. */
export interface MemoryPort {
  /** Contract: once it resolves the entry is kept; storing the same key again replaces it. Rejects when it cannot be kept. */
  put(entry: MemoryEntry): Promise<void>
  /** What is known about a query, the most relevant first, at most `limit` entries. */
  search(query: string, limit: number): Promise<readonly MemoryEntry[]>
}

/** What is to be remembered of hidden steps. */
export interface Memory {
  readonly text: string
  /** Default: all of the hidden steps. */
  readonly steps?: readonly string[]
}

export interface MemoryOptions {
  /**
   * Chooses what is remembered; none: only a line stays. Default, without a model: files that changed, calls that cannot be undone or were
   * denied, the last error of each tool, and what the agent said last.
   */
  readonly extract?: (part: HiddenPart, at: Consultation) => readonly Memory[] | Promise<readonly Memory[]>
}

/** Of a list in an entry, and of the memo. */
const mostItems = 40
const saidChars = 1_000
const memoLineChars = 240
const mostMemoLines = 20

/**
 * Stores what is worth remembering of the hidden steps elsewhere, and leaves a memo that says what. Each entry has a key that is the same
 * when the process dies and the steps are hidden again. When the port or `extract` fails, nothing is hidden.
 *
 * @throws RuntimeError `INVALID_OPTION`.
 */
export function memory(port: MemoryPort, options: MemoryOptions = {}): Keeper {
  const { extract = extractFacts } = options
  if (typeof port?.put !== 'function' || typeof port.search !== 'function')
    throw new RuntimeError('INVALID_OPTION', 'keep.memory: give a port with the methods "put" and "search".')
  if (typeof extract !== 'function')
    throw new RuntimeError('INVALID_OPTION', 'keep.memory: extract: give a function, or leave it out.')
  return Object.freeze<Keeper>({
    name: 'memory()',
    async keep(part, at) {
      const memories = checked(await extract(part, at))
      const all = part.steps.map(({ id }) => id)
      for (const [index, { text, steps = all }] of memories.entries()) {
        at.signal.throwIfAborted()
        await port.put({ key: `${part.key}/${index}`, agentId: at.agentId, text, steps, at: at.clock.now() })
      }
      return { as: 'memo', memo: memoOf(memories, part, at) }
    },
  })
}

/** @throws RuntimeError `INVALID_OPTION` for what is no list of texts. */
function checked(memories: unknown): readonly Memory[] {
  const isMemory = (value: unknown): boolean => {
    const { text, steps } = (value ?? {}) as Partial<Memory>
    return typeof text === 'string' && text.trim() !== '' && (steps === undefined || isTexts(steps))
  }
  if (Array.isArray(memories) && memories.every(isMemory)) return memories as readonly Memory[]
  throw new RuntimeError(
    'INVALID_OPTION',
    'keep.memory: extract: it must give a list of { text, steps? }, with a text that is not empty and ids of steps.',
  )
}

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((item) => typeof item === 'string')

function memoOf(memories: readonly Memory[], part: HiddenPart, at: Consultation): string {
  const line = digestLine(stepsOfPart(part, at))
  if (memories.length === 0) return `${line}${recallHint(at)}`
  const shown = memories.slice(0, mostMemoLines).map(({ text }) => `- ${oneLine(text, memoLineChars)}`)
  const rest = memories.length - shown.length
  return [line, 'Put into memory:', ...shown, ...(rest === 0 ? [] : [`and ${rest} more`])].join('\n') + recallHint(at)
}

/** What can be told without a model. */
function extractFacts(part: HiddenPart, at: Consultation): Memory[] {
  const nodes = stepsOfPart(part, at).flatMap((step) => step.nodes)
  // What a person denied or an abort cut short is no error of the tool.
  const made = nodes.filter(({ message }) => message.role !== 'toolResult' || message.synthetic === undefined)
  const { changed, calls } = evidenceOf(made, brakeToolsWithRecall)
  const facts = factsOf(nodes)
  const of = (kind: 'denied' | 'irreversible', label: string): string[] =>
    facts
      .filter((fact) => fact.kind === kind)
      .map(({ tool, input, outcome }) => `${label}: ${tool} ${input}${outcome === '' ? '' : ` → ${outcome}`}`)
      .slice(-mostItems)
  const said = nodes.findLast(({ message }) => message.role === 'assistant' && textOf(message.content).trim() !== '')
  return [
    ...(changed.length === 0 ? [] : [`Files changed: ${listed(changed)}`]),
    ...of('irreversible', 'Cannot be undone'),
    ...of('denied', 'Denied by a person'),
    ...calls.flatMap(({ name, lastError }) => (lastError === undefined ? [] : [`Last error of ${name}: ${lastError}`])),
    ...(said === undefined ? [] : [`Said: ${cutEnd(textOf(said.message.content).trim(), saidChars)}`]),
  ].map((text) => ({ text }))
}

function listed(items: readonly string[]): string {
  const rest = items.length - mostItems
  return rest <= 0 ? items.join(', ') : `${items.slice(0, mostItems).join(', ')} and ${rest} more`
}
