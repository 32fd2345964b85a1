import type { AgentEvent } from '../../../../../../src/protocol/events.ts'
import type { NodeId } from '../../../../../../src/protocol/ids.ts'
import type { Block, UserSource } from '../../../../../../src/protocol/messages.ts'
import type { LogRecord } from '../../../../../../src/protocol/records.ts'
import { nodeOf } from '../events/eventNode.ts'
import { eventText } from '../events/eventWords.ts'
import type { SearchQuery } from './searchQuery.ts'
import { oneLine } from '../words/shortText.ts'

/** A match of a search. */
export interface Hit {
  readonly agentId: string
  /** `seq` of the record. */
  readonly seq: number
  /** True if the record is in the log that a fork shares with its source. */
  readonly isShared: boolean
  /** Node of the message that the record is about; `null` if it is about none. */
  readonly node: NodeId | null
  /** The words around the match, on one line. */
  readonly excerpt: string
  readonly kind: HitKind
  /** Source of the words: person, definition, tool, or kind of record, in a word. */
  readonly who: string
  readonly isError: boolean
  /** Time of the record, in epoch milliseconds. */
  readonly time: number
}

/** Kind of the matched words. `asked`: input of a call; `answered`: its result; `other`: told by the runtime. */
export type HitKind = 'said' | 'thought' | 'asked' | 'answered' | 'other'

/** A text that is searched. */
interface Words {
  readonly text: string
  readonly kind: HitKind
  readonly who: string
}

/** The searched parts of a record. */
interface Subject {
  readonly texts: readonly Words[]
  readonly tool?: string
  readonly isError: boolean
}

/** Number of characters shown before a match, and in all. */
const before = 40
const most = 160

/** Searches a growing log, a limited number of characters at a time. */
export class LogSearch {
  readonly hits: Hit[] = []
  readonly #query: SearchQuery
  readonly #agentId: string
  readonly #isShared: boolean
  /** Input of calls that have not ended, by call. */
  readonly #open = new Map<string, unknown>()
  #next = 0

  constructor(query: SearchQuery, { agentId, isShared = false }: { agentId: string; isShared?: boolean }) {
    this.#query = query
    this.#agentId = agentId
    this.#isShared = isShared
  }

  /**
   * Searches records until `mostChars` characters have been read; a record is always searched whole. Returns true once all `count` records
   * have been searched.
   */
  look(records: readonly LogRecord[], count: number, mostChars: number): boolean {
    let left = mostChars
    for (; this.#next < count && left > 0; this.#next++) left -= 64 + this.#lookAt(records[this.#next]!)
    return this.#next >= count
  }

  #lookAt(record: LogRecord): number {
    const subject = this.#subjectOf(record)
    if (subject === undefined) return 0
    const { errors, tools, text } = this.#query
    const cost = subject.texts.reduce((sum, { text: { length } }) => sum + length, 0)
    if (errors && !subject.isError) return cost
    if (tools.length > 0 && (subject.tool === undefined || !tools.includes(subject.tool.toLowerCase()))) return cost
    const found = foundIn(subject.texts, text)
    if (found === undefined) return cost
    const { seq, time } = record
    const node = nodeOf(record as AgentEvent)
    const { isError } = subject
    this.hits.push({ agentId: this.#agentId, seq, isShared: this.#isShared, node, isError, time, ...found })
    return cost
  }

  #subjectOf(record: LogRecord): Subject | undefined {
    switch (record.type) {
      case 'message.added':
        return { texts: textsIn(record.message.content, sourceWords[record.message.source]), isError: false }
      case 'reply.end': {
        const { content } = record.message
        for (const block of content) if (block.type === 'toolCall') this.#open.set(block.callId, block.input)
        return { texts: textsIn(content, 'model'), isError: false }
      }
      case 'tool.start':
        // Found where it was asked for; here only by its tool, while it has no end.
        return undefined
      case 'tool.end': {
        const { name, callId, message } = record
        const input = this.#open.get(callId)
        this.#open.delete(callId)
        // With a tool asked for, its call is one hit, with what it was given; otherwise the reply that made it has that.
        const given = this.#query.tools.length > 0 ? jsonTexts(input) : []
        const result = textsIn(message.content, name).map(({ text }) => text)
        const texts = [name, ...given, ...result].map((text) => ({ text, kind: 'answered' as const, who: name }))
        return { texts, tool: name, isError: message.isError }
      }
      case 'turn.start':
      case 'turn.end':
      case 'turn.captured':
        return undefined
      case 'compaction.end':
        return { texts: [told(record, record.overlay?.summary ?? record.reason)], isError: !record.applied }
      case 'revert.applied':
        return { texts: [told(record, record.tag?.text ?? record.reason)], isError: false }
      case 'prune.applied':
        return { texts: [told(record, record.memo ?? record.reason)], isError: false }
      default:
        // The outcome of a request says the same.
        if ('request' in record) return undefined
        return { texts: [told(record, eventText(record as AgentEvent))], isError: isFailure(record) }
    }
  }
}

function isFailure(record: LogRecord): boolean {
  switch (record.type) {
    case 'run.end':
      return record.stopReason === 'error' || record.error !== undefined
    case 'child.ended':
      return record.error !== undefined
    case 'reply.reset':
      return true
    default:
      return false
  }
}

/** Returns words of the runtime, with the record's type as their source. */
const told = ({ type }: LogRecord, text = ''): Words => ({ text, kind: 'other', who: type })

const sourceWords: Readonly<Record<UserSource, string>> = {
  prompt: 'prompt',
  steering: 'steering',
  followUp: 'follow-up',
}

function textsIn(content: readonly Block[], who: string): Words[] {
  return content.flatMap((block): Words[] => {
    if (block.type === 'text') return [{ text: block.text, kind: 'said', who }]
    if (block.type === 'thinking') return [{ text: block.text, kind: 'thought', who }]
    if (block.type !== 'toolCall') return []
    return [block.name, ...jsonTexts(block.input)].map((text) => ({ text, kind: 'asked', who: `calls ${block.name}` }))
  })
}

/** Returns the texts of a value as they are shown, without the punctuation of JSON. */
function jsonTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (value === undefined || value === null) return []
  if (typeof value !== 'object') return [JSON.stringify(value) ?? '']
  const texts: string[] = []
  // Inputs come from models: they may be deep.
  const stack: unknown[] = [value]
  while (stack.length > 0) {
    const one = stack.pop()
    if (typeof one === 'string') texts.push(one)
    else if (typeof one === 'number' || typeof one === 'boolean') texts.push(String(one))
    else if (typeof one === 'object' && one !== null)
      for (const inner of Object.values(one).toReversed()) stack.push(inner)
  }
  return texts
}

type Found = Pick<Hit, 'excerpt' | 'kind' | 'who'>

/** Returns the words around the first match, cut, with their source; `undefined` if there is none. */
function foundIn(texts: readonly Words[], wanted: string): Found | undefined {
  const [first] = texts
  if (wanted === '') {
    if (first === undefined) return undefined
    const whole = texts.map(({ text }) => text).join(' ')
    return { excerpt: oneLine(whole.slice(0, most), most), kind: first.kind, who: first.who }
  }
  for (const { text, kind, who } of texts) {
    const at = text.toLowerCase().indexOf(wanted)
    if (at < 0) continue
    const from = Math.max(0, at - before)
    return { excerpt: oneLine(`${from > 0 ? '…' : ''}${text.slice(from, from + most)}`, most), kind, who }
  }
  return undefined
}

/** Returns the id of the sub-agent that a record names; `undefined` for one that keeps no log. */
export function childIn(record: LogRecord): string | undefined {
  if (record.type === 'child.spawned') return record.incognito === true ? undefined : record.childId
  return record.type === 'tool.start' ? record.childId : undefined
}
