import { formatNodeId } from '../../../protocol/text/nodeIds.ts'
import type { ToolCallBlock, ToolResultMessage } from '../../../protocol/messages.ts'
import { saidByTool, textOf } from '../../../protocol/text/messageText.ts'
import { cutEnd, oneLine } from '../../../protocol/text/cutMiddle.ts'
import { callsRun, type Step } from '../../tree/node.ts'

/** Maximum number of characters for each part of a step's line. */
interface Room {
  readonly line: number
  readonly said: number
  readonly input: number
  readonly argument: number
  readonly outcome: number
}

const full: Room = { line: 240, said: 80, input: 120, argument: 40, outcome: 120 }
const short: Room = { line: 90, said: 30, input: 40, argument: 20, outcome: 40 }

/** Names of arguments that identify the subject of a call. */
const telling: ReadonlySet<string> = new Set(['path', 'file_path', 'filePath', 'command', 'pattern', 'query', 'url'])

/** Maximum number of irreversible calls that a line names, whatever its length. Further ones are only counted. */
const mostIrreversible = 20

/** Returns the beginning of a text on one line. Reads no more of a huge text than can be shown. */
const beginOf = (text: string, max: number): string => oneLine(cutEnd(text, 4 * max), max)

/**
 * Returns one line for a step of the model: its id, its text, its calls with their arguments, and the last line of an error. It has at most 240
 * characters, or 90 with `isShort`. A call that cannot be undone is always named. Pure.
 */
export function foldLine({ id, nodes: [reply, ...results] }: Step, isShort = false): string {
  const room = isShort ? short : full
  const { content } = reply!.message
  const outcomes = new Map<string, Outcome>()
  for (const { message, isIrreversible = false } of results)
    if (message.role === 'toolResult') outcomes.set(message.callId, { message, isIrreversible })
  const calls = callsRun(reply!, results).map((call) => {
    const outcome = outcomes.get(call.callId)
    return { text: describeCall(call, outcome?.message, room), isIrreversible: outcome?.isIrreversible === true }
  })
  const said = beginOf(textOf(content), room.said)
  const lineTo = (end: number): string => {
    const texts = calls.slice(0, end).map(({ text }) => text)
    return `${formatNodeId(id)} ${[said, texts.join('; ')].filter((part) => part !== '').join(' · ')}`
  }
  const line = lineTo(calls.length)
  if (line.length <= room.line) return line
  const last = calls.findLastIndex(({ isIrreversible }) => isIrreversible)
  if (last < 0 || lineTo(last + 1).length < room.line) return cutEnd(line, room.line)
  const bound = calls.filter(({ isIrreversible }) => isIrreversible).map(({ text }) => text)
  const named = bound.slice(-mostIrreversible)
  const unnamed = bound.length - named.length
  const others = calls.length - bound.length
  return [
    `${formatNodeId(id)} ${named.join('; ')}`,
    ...(unnamed === 0 ? [] : [`${unnamed} earlier that cannot be undone`]),
    ...(others === 0 ? [] : [`${others} other ${others === 1 ? 'call' : 'calls'}`]),
  ].join('; ')
}

interface Outcome {
  readonly message: ToolResultMessage
  readonly isIrreversible: boolean
}

const describeCall = ({ name, input }: ToolCallBlock, result: ToolResultMessage | undefined, room: Room): string =>
  [beginOf(name, 64), beginOf(result?.calls ?? describeInput(input, room), room.input)]
    .filter((part) => part !== '')
    .join(' ') + describeError(result, room)

/** Describes a call with its arguments and, if it failed, the last line of its error, in about 320 characters at most. */
export const callLine = (call: ToolCallBlock, result: ToolResultMessage | undefined): string =>
  describeCall(call, result, full)

/** Returns the argument that identifies the subject of the call, then the others by name, as far as there is room. */
function describeInput(input: unknown, room: Room): string {
  if (input === null || typeof input !== 'object') return typeof input === 'string' ? input : jsonOf(input)
  const entries = Object.entries(input)
  const main = entries.find(([key, value]) => telling.has(key) && typeof value === 'string')
  let said = main === undefined ? '' : String(main[1])
  for (const entry of entries) {
    if (said.length > 4 * room.input) break
    if (entry === main) continue
    const [key, value] = entry
    const text = `${key}=${beginOf(typeof value === 'string' ? value : jsonOf(value), room.argument)}`
    said = said === '' ? text : `${said} ${text}`
  }
  return said
}

const jsonOf = (value: unknown): string => JSON.stringify(value) ?? ''

function describeError(result: ToolResultMessage | undefined, { outcome }: Room): string {
  if (result?.isError !== true) return ''
  const said = textOf(saidByTool(result)).trimEnd()
  return ` → error: ${beginOf(said.slice(said.lastIndexOf('\n') + 1), outcome)}`
}

/** Maximum number of lines in a digest, for any number of steps. */
const mostDigestLines = 24
const digestLineChars = 240

/** Summarises many steps in a few lines. Each line covers a range of steps with their tools, the number of calls, and changed files. Pure. */
export function digestOf(steps: readonly Step[]): string {
  const perLine = Math.max(50, Math.ceil(steps.length / mostDigestLines))
  const lines: string[] = []
  for (let i = 0; i < steps.length; i += perLine) lines.push(digestLine(steps.slice(i, i + perLine)))
  return lines.join('\n')
}

/** Summarises some steps in one line of at most 240 characters: their number, their tools with the number of calls, and changed files. Pure. */
export function digestLine(steps: readonly Step[]): string {
  const calls = new Map<string, number>()
  const changed = new Set<string>()
  for (const { nodes } of steps) {
    for (const { message } of nodes) {
      if (message.role !== 'toolResult') continue
      calls.set(message.toolName, (calls.get(message.toolName) ?? 0) + 1)
      for (const file of message.changed ?? []) changed.add(file)
    }
  }
  const [first, last] = [steps[0]!.id, steps.at(-1)!.id].map(formatNodeId)
  const counts = [...calls].toSorted((a, b) => b[1] - a[1]).map(([name, count]) => `${beginOf(name, 64)} ×${count}`)
  const said = [
    `${steps.length} ${steps.length === 1 ? 'step' : 'steps'}`,
    ...(counts.length === 0 ? [] : [counts.join(', ')]),
    ...(changed.size === 0 ? [] : [`changed: ${[...changed].map((file) => beginOf(file, 80)).join(' ')}`]),
  ]
  return cutEnd(`${first}–${last} ${said.join('; ')}`, digestLineChars)
}
