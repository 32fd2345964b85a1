import { saidByTool, textOf, type PlainBlock, type ToolResultMessage } from '../../../protocol/messages.ts'
import type { NodeId } from '../../../protocol/ids.ts'
import { callsRun, type ConversationNode } from '../../tree/node.ts'
import { amountsIn, type Amounts } from './growth.ts'
import { moves, patienceFor } from './patience.ts'
import { asksShell, waits } from './waiting.ts'
import { TextHash } from '../../../protocol/text/textHash.ts'

/** Fingerprint of a step of the model, equal for steps that do the same. */
export interface StepPrint {
  /** Id of the step's first node. */
  readonly id: NodeId
  /** Fingerprints of the calls with their arguments, and of their results apart from how long they took. */
  readonly calls: string
  readonly results: string
  /** The errors, without the parts that differ from one attempt to the next; missing when no call failed. */
  readonly error?: string
  /** Numbers in the results that may report progress. */
  readonly amounts?: Amounts
  /** True if a call succeeded that reported a change or cannot be undone. */
  readonly changes: boolean
  /** True if a call waits for something, as its tool declares or its arguments say. */
  readonly polls: boolean
  /** True if a call succeeded that moves to another place, as scrolling does. */
  readonly moves: boolean
  /** Number of extra times that the step may be made again before it counts as a loop. */
  readonly patience: number
}

const known = new WeakMap<ConversationNode, StepPrint | null>()

/** Returns the fingerprint of a step that calls tools; `null` for a step without calls, or one that was cut short from outside. */
export function printOf(reply: ConversationNode, results: () => readonly ConversationNode[]): StepPrint | null {
  const before = known.get(reply)
  if (before !== undefined) return before
  const print = takePrint(reply, results())
  known.set(reply, print)
  return print
}

function takePrint(reply: ConversationNode, results: readonly ConversationNode[]): StepPrint | null {
  const made = callsRun(reply, results)
  if (made.length === 0) return null
  const calls = new TextHash()
  for (const { name, input } of made) calls.add(name).addJson(input)
  const said = new TextHash()
  const ends: string[] = []
  const errors: string[] = []
  let changes = false
  for (const { message: result, isIrreversible, reversible } of results) {
    if (result.role !== 'toolResult') continue
    if (isCutShort(result)) return null
    said.add(String(result.isError))
    for (const block of saidByTool(result)) addBlock(said, block)
    const end = textOf(saidByTool(result)).slice(-longestEnd)
    ends.push(end)
    // A script that goes on after an error has met it all the same.
    for (const failure of result.failures ?? []) errors.push(`${result.toolName}: ${errorOf(failure)}`)
    if (result.isError) errors.push(`${result.toolName}: ${errorOf(end)}`)
    else changes ||= isIrreversible === true || reversible !== undefined || (result.changed?.length ?? 0) > 0
  }
  const polls = results.some(({ isPolling }) => isPolling === true) || made.some(waits)
  const error = errors.length === 0 ? {} : { error: errors.join('\n') }
  const amounts = amountsIn(ends.join('\n').replace(times, '#').replace(hash, '#').replace(place, ''))
  const hasFailed = errors.length > 0
  const hasMoved = !hasFailed && made.some(moves)
  const patience = patienceFor(ends, {
    acts: changes && !made.every(({ input }) => asksShell(input)),
    hasMoved,
    hasFailed,
  })
  return {
    id: reply.id,
    calls: calls.value,
    results: said.value,
    ...error,
    ...(amounts === undefined ? {} : { amounts }),
    changes,
    polls,
    moves: hasMoved,
    patience,
  }
}

/** Returns true for a result after an abort, a new message or a crash, which says nothing about the model. */
const isCutShort = ({ synthetic }: ToolResultMessage): boolean =>
  synthetic === 'aborted' || synthetic === 'skipped' || synthetic === 'interrupted'

/** Pattern of durations and times of day. Every quantifier has a limit, so that matching takes linear time. */
const times =
  /(?<![\w.])\d{1,9}(?:\.\d{1,9})?[ \t]{0,3}(?:ms|s|secs?|seconds?|min|minutes?)\b|\bduration_ms[:= ]{1,3}[\d.]{1,20}|\b(?:\d{4}-\d{2}-\d{2}[T ])?\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?:Z\b|[+-]\d{2}:?\d{2}\b)?/g

function addBlock(hash: TextHash, block: PlainBlock): void {
  if (block.type === 'text') hash.add(block.text.replace(times, '#'))
  else if ('url' in block) hash.add(block.url)
  else hash.add(block.mimeType).add(block.data)
}

/** Number of characters at the end of a result that are examined. */
const longestEnd = 4_000

const telling = /error|exception|traceback|fail|not found|no such|invalid|cannot|denied|refused|unexpected|timed? ?out/i

const hash = /\b0x[\da-f]+\b|\b(?=[a-f]*\d)[\da-f]{7,}\b/gi

/** Patterns of line and column numbers, after a file name and in words. */
const place = /(?<=\.[a-z]{1,6})(?::\d{1,9}(?::\d{1,9})?|\(\d{1,9},\d{1,9}\))|\b(?:line|column) \d{1,9}/g

/** Pattern of a temporary path, which may be new for each attempt. */
const temporary = /(?:\/tmp\/|\/var\/folders\/|\\temp\\)[^\s:'"`()]+/gi

/**
 * Returns the last line in the end of a failed result that names the fault, else the last line, without numbers, hashes
 * and temporary paths. Another file counts as another error.
 */
function errorOf(end: string): string {
  const lines = end
    .split('\n')
    .map((line) => line.slice(0, 400).trim())
    .filter((line) => line !== '')
  const line = lines.findLast((one) => telling.test(one)) ?? lines.at(-1) ?? ''
  return line
    .replace(hash, '#')
    .replace(temporary, 'PATH')
    .replace(/\p{Nd}+/gu, '#')
    .replace(/\s+/g, ' ')
    .slice(0, 160)
}
