import { textOf, toolCallsOf, type PlainBlock, type ToolResultMessage } from '../protocol/messages.ts'
import type { NodeId } from '../protocol/ids.ts'
import type { ConversationNode } from './node.ts'
import { TextHash } from './textHash.ts'

/** What tells whether two steps of the model do the same. */
export interface StepPrint {
  /** Of the step's first node. */
  readonly id: NodeId
  /** Of the calls with their arguments; of their results, apart from how long they took. */
  readonly calls: string
  readonly results: string
  /** The errors, without what differs from one attempt to the next; missing when no call failed. */
  readonly error?: string
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

function takePrint({ id, message }: ConversationNode, results: readonly ConversationNode[]): StepPrint | null {
  const made = toolCallsOf(message.content)
  if (made.length === 0) return null
  const calls = new TextHash()
  for (const { name, input } of made) calls.add(name).addJson(input)
  const said = new TextHash()
  const errors: string[] = []
  let changes = false
  for (const { message: result, isIrreversible } of results) {
    if (result.role !== 'toolResult') continue
    if (isCutShort(result)) return null
    said.add(String(result.isError))
    for (const block of result.content) addBlock(said, block)
    if (result.isError) errors.push(`${result.toolName}: ${errorOf(result)}`)
    else changes ||= isIrreversible === true || (result.changed?.length ?? 0) > 0
  }
  const polls = results.some(({ isPolling }) => isPolling === true)
  const error = errors.length === 0 ? {} : { error: errors.join('\n') }
  return { id, calls: calls.value, results: said.value, ...error, changes, polls }
}

/** An abort, a new message or a crash answered the call: that says nothing of the model. */
const isCutShort = ({ synthetic }: ToolResultMessage): boolean =>
  synthetic === 'aborted' || synthetic === 'skipped' || synthetic === 'interrupted'

/** How long something took. Every quantifier has a limit, so that no text takes longer than its length. */
const duration =
  /(?<![\w.])\d{1,9}(?:\.\d{1,9})?[ \t]{0,3}(?:ms|s|secs?|seconds?|min|minutes?)\b|\bduration_ms[:= ]{1,3}[\d.]{1,20}/g

function addBlock(hash: TextHash, block: PlainBlock): void {
  if (block.type === 'text') hash.add(block.text.replace(duration, '#'))
  else hash.add(block.mimeType).add(block.data)
}

const telling = /error|exception|traceback|fail|not found|no such|invalid|cannot|denied|refused|unexpected|timed? ?out/i

/** The last line of a failed result that tells what went wrong, else its last; without numbers, hashes and paths. */
function errorOf({ content }: ToolResultMessage): string {
  const lines = textOf(content)
    .slice(-4_000)
    .split('\n')
    .map((line) => line.slice(0, 400).trim())
    .filter((line) => line !== '')
  const line = lines.findLast((one) => telling.test(one)) ?? lines.at(-1) ?? ''
  return line
    .replace(/\b0x[\da-f]+\b/gi, '#')
    .replace(/\b(?=[a-f]*\d)[\da-f]{7,}\b/gi, '#')
    .replace(/[^\s:'"`()]*[/\\][^\s:'"`()]+/g, 'PATH')
    .replace(/\d+/g, '#')
    .replace(/\s+/g, ' ')
    .slice(0, 160)
}
