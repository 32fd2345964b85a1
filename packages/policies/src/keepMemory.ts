import { z } from 'zod'
import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import { evidenceOf } from '../../../src/conversation/brakes/evidence.ts'
import { cutEnd, oneLine } from '../../../src/protocol/text/cutMiddle.ts'
import { factsOf } from '../../../src/conversation/tree/facts.ts'
import { digestLine } from '../../../src/conversation/brakes/fold/foldLine.ts'
import { brakeToolsWithRecall } from '../../../src/conversation/brakes/revert/planRevert.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { isMemory, isMemoryScope, type Memory, type MemoryScope } from '../../../src/protocol/ports/memory.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import { checkOptions } from './choice.ts'
import { recallHint, stepsOfPart } from './hiddenSteps.ts'
import type { Consultation, HiddenPart, Keeper } from '../../../src/actors/define/policy.ts'

/** A fact about hidden steps to remember. */
export interface MemoryItem {
  readonly text: string
  /** Ids of the steps that the fact comes from, which the memo names. */
  readonly steps?: readonly string[]
}

export interface KeepMemoryOptions {
  /** Scope of the remembered facts. Default: that of the definition's `memory`. Without a memory, `agent:<definition>`. */
  readonly scope?: MemoryScope
  /**
   * Chooses the facts to remember. If there are none, only a line stays. Default, without a model: files that changed,
   * calls that cannot be undone or were denied, the last error of each tool, and what the agent said last.
   */
  readonly extract?: (part: HiddenPart, at: Consultation) => readonly MemoryItem[] | Promise<readonly MemoryItem[]>
}

const optionsSchema = onlyFields({
  scope: z.custom<MemoryScope>(isMemoryScope, 'use agent:<name>, user:<id> or workspace:<name>').optional(),
  extract: z.custom((value) => typeof value === 'function', 'give a function').optional(),
})

/** Maximum number of items in a list within a text, and in the memo. */
const mostItems = 40
const saidChars = 1_000
const memoLineChars = 240
const mostMemoLines = 20

/**
 * Keeps what is worth remembering of the hidden steps in a memory, and leaves a memo that says what. The records are the same when the
 * process dies and the steps are hidden again. They are facts, tainted as soon as a tool has said something to the agent. An incognito
 * agent keeps nothing, nor does an agent whose scope is not known. When the memory or `extract` fails, nothing is hidden.
 *
 * @throws RuntimeError `INVALID_OPTION`.
 */
export function memory(store: Memory, options: KeepMemoryOptions = {}): Keeper {
  if (!isMemory(store))
    throw new RuntimeError('INVALID_OPTION', 'keep.memory: give a memory, such as markdownMemory(dir).')
  checkOptions('keep.memory', optionsSchema, options)
  const { extract = extractFacts, scope } = options
  return Object.freeze<Keeper>({
    name: 'memory()',
    async keep(part, at) {
      const items = checked(await extract(part, at))
      const kept: MemoryItem[] = []
      for (const [index, { text, steps }] of items.entries()) {
        at.signal.throwIfAborted()
        const record = await at.remember(store, { key: `${part.key}/${index}`, text, scope })
        if (record !== null) kept.push({ text: record.text, ...(steps === undefined ? {} : { steps }) })
      }
      return { as: 'memo', memo: memoOf(kept, part, at) }
    },
  })
}

/** @throws RuntimeError `INVALID_OPTION` for anything but a list of texts. */
function checked(items: unknown): readonly MemoryItem[] {
  const isItem = (value: unknown): boolean => {
    const { text, steps } = (value ?? {}) as Partial<MemoryItem>
    return typeof text === 'string' && text.trim() !== '' && (steps === undefined || isTexts(steps))
  }
  if (Array.isArray(items) && items.every(isItem)) return items as readonly MemoryItem[]
  throw new RuntimeError(
    'INVALID_OPTION',
    'keep.memory: extract: it must give a list of { text, steps? }, with a text that is not empty and ids of steps.',
  )
}

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((item) => typeof item === 'string')

function memoOf(items: readonly MemoryItem[], part: HiddenPart, at: Consultation): string {
  const line = digestLine(stepsOfPart(part, at))
  if (items.length === 0) return `${line}${recallHint(at)}`
  const shown = items.slice(0, mostMemoLines).map(memoLineOf)
  const rest = items.length - shown.length
  return [line, 'Put into memory:', ...shown, ...(rest === 0 ? [] : [`and ${rest} more`])].join('\n') + recallHint(at)
}

function memoLineOf({ text, steps = [] }: MemoryItem): string {
  const from = steps.length === 0 ? '' : ` (${oneLine(listed(steps), memoLineChars)})`
  return `- ${oneLine(text, memoLineChars)}${from}`
}

/** Returns the facts that can be extracted without a model. */
function extractFacts(part: HiddenPart, at: Consultation): MemoryItem[] {
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
