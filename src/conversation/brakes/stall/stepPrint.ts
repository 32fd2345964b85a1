import { saidByTool, textOf, type PlainBlock, type ToolResultMessage } from '../../../protocol/messages.ts'
import type { NodeId } from '../../../protocol/ids.ts'
import { callsRun, type ConversationNode } from '../../tree/node.ts'
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
  /** The whole text of the failed calls, without line numbers, hashes and durations; missing if `error` is missing. */
  readonly failure?: string
  /** True if a call succeeded that reported a change or cannot be undone. */
  readonly changes: boolean
  /** True if a call polls for something, and declares it. */
  readonly polls: boolean
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
  const errors: string[] = []
  const failures = new TextHash()
  let changes = false
  for (const { message: result, isIrreversible, reversible } of results) {
    if (result.role !== 'toolResult') continue
    if (isCutShort(result)) return null
    said.add(String(result.isError))
    for (const block of saidByTool(result)) addBlock(said, block)
    if (result.isError) {
      errors.push(`${result.toolName}: ${errorOf(result)}`)
      failures.add(result.toolName).add(failureOf(result))
    } else changes ||= isIrreversible === true || reversible !== undefined || (result.changed?.length ?? 0) > 0
  }
  const polls = results.some(({ isPolling }) => isPolling === true)
  const error = errors.length === 0 ? {} : { error: errors.join('\n'), failure: failures.value }
  return { id: reply.id, calls: calls.value, results: said.value, ...error, changes, polls }
}

/** Reasons of results after an abort, a new message or a crash, which say nothing about the model. */
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

/** Number of characters at the end of a failed result that are examined. */
const longestFailure = 4_000

const telling = /error|exception|traceback|fail|not found|no such|invalid|cannot|denied|refused|unexpected|timed? ?out/i

const hash = /\b0x[\da-f]+\b|\b(?=[a-f]*\d)[\da-f]{7,}\b/gi

/** Patterns of line and column numbers, after a file name and in words. */
const place = /(?<=\.[a-z]{1,6})(?::\d{1,9}(?::\d{1,9})?|\(\d{1,9},\d{1,9}\))|\b(?:line|column) \d{1,9}/g

/** Counts are kept, because fewer failing tests are another failure. */
const failureOf = (result: ToolResultMessage): string =>
  textOf(saidByTool(result)).slice(-longestFailure).replace(times, '#').replace(hash, '#').replace(place, '')

/** Pattern of a temporary path, which may be new for each attempt. */
const temporary = /(?:\/tmp\/|\/var\/folders\/|\\temp\\)[^\s:'"`()]+/gi

/**
 * Returns the last line of a failed result that names the fault, else the last line, without numbers, hashes and temporary paths. Another file counts
 * as another error.
 */
function errorOf(result: ToolResultMessage): string {
  const lines = textOf(saidByTool(result))
    .slice(-longestFailure)
    .split('\n')
    .map((line) => line.slice(0, 400).trim())
    .filter((line) => line !== '')
  const line = lines.findLast((one) => telling.test(one)) ?? lines.at(-1) ?? ''
  return line.replace(hash, '#').replace(temporary, 'PATH').replace(/\d+/g, '#').replace(/\s+/g, ' ').slice(0, 160)
}
