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
  /** All that the failed calls said, apart from places, hashes and how long they took; missing as `error` is. */
  readonly failure?: string
  /** A call succeeded that reported a change or cannot be undone. */
  readonly changes: boolean
  /** A call waits for something by asking again and again, and says so. */
  readonly polls: boolean
}

const known = new WeakMap<ConversationNode, StepPrint | null>()

/** The fingerprint of a step that calls tools; `null` for one without calls, and for one that something outside cut short. */
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

/** An abort, a new message or a crash answered the call: this says nothing about the model. */
const isCutShort = ({ synthetic }: ToolResultMessage): boolean =>
  synthetic === 'aborted' || synthetic === 'skipped' || synthetic === 'interrupted'

/** Durations and times of day. Every quantifier has a limit, so that no text takes longer than its length. */
const times =
  /(?<![\w.])\d{1,9}(?:\.\d{1,9})?[ \t]{0,3}(?:ms|s|secs?|seconds?|min|minutes?)\b|\bduration_ms[:= ]{1,3}[\d.]{1,20}|\b(?:\d{4}-\d{2}-\d{2}[T ])?\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?:Z\b|[+-]\d{2}:?\d{2}\b)?/g

function addBlock(hash: TextHash, block: PlainBlock): void {
  if (block.type === 'text') hash.add(block.text.replace(times, '#'))
  else if ('url' in block) hash.add(block.url)
  else hash.add(block.mimeType).add(block.data)
}

/** Characters of a failed result that are looked at, from its end. */
const longestFailure = 4_000

const telling = /error|exception|traceback|fail|not found|no such|invalid|cannot|denied|refused|unexpected|timed? ?out/i

const hash = /\b0x[\da-f]+\b|\b(?=[a-f]*\d)[\da-f]{7,}\b/gi

/** Line and column: after the name of a file, and in words. */
const place = /(?<=\.[a-z]{1,6})(?::\d{1,9}(?::\d{1,9})?|\(\d{1,9},\d{1,9}\))|\b(?:line|column) \d{1,9}/g

/** Counts stay: fewer failing tests than before are another failure. */
const failureOf = (result: ToolResultMessage): string =>
  textOf(saidByTool(result)).slice(-longestFailure).replace(times, '#').replace(hash, '#').replace(place, '')

/** A path of which a new one may be made for each attempt. */
const temporary = /(?:\/tmp\/|\/var\/folders\/|\\temp\\)[^\s:'"`()]+/gi

/** The last line of a failed result that tells what went wrong, else its last; without numbers, hashes and temporary paths. Another file is another error. */
function errorOf(result: ToolResultMessage): string {
  const lines = textOf(saidByTool(result))
    .slice(-longestFailure)
    .split('\n')
    .map((line) => line.slice(0, 400).trim())
    .filter((line) => line !== '')
  const line = lines.findLast((one) => telling.test(one)) ?? lines.at(-1) ?? ''
  return line.replace(hash, '#').replace(temporary, 'PATH').replace(/\d+/g, '#').replace(/\s+/g, ' ').slice(0, 160)
}
